"""One of several processes on a store: `python -m benchmarks.neighbour URL FIRST SECONDS`."""

import asyncio
import sys
import time

from benchmarks.turns import CONVERSATIONS, opened, short_cycle

#: Conversations of one process.
WIDTH = 50

#: The line that says that it may be told to go.
READY = b"ready\n"


async def run(url: str, first: int, seconds: float) -> int:
    """Wait for a line, run cycles for so long, and answer how many were done by then."""
    async with opened(url) as state:
        cycle = short_cycle(state, CONVERSATIONS[first : first + WIDTH])
        await asyncio.gather(*(cycle(number) for number in range(WIDTH)))
        sys.stdout.buffer.write(READY)
        sys.stdout.flush()
        sys.stdin.readline()
        end = time.perf_counter() + seconds
        done = 0

        async def conversation(number: int) -> None:
            nonlocal done
            while True:
                await cycle(number)
                if time.perf_counter() > end:
                    return
                done += 1

        await asyncio.gather(*(conversation(number) for number in range(WIDTH)))
        return done


if __name__ == "__main__":
    url, first, seconds = sys.argv[1:]
    sys.stdout.write(str(asyncio.run(run(url, int(first), float(seconds)))))
