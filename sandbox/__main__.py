"""Run the sandbox alone: `python -m sandbox --port 8123`."""

import argparse
import asyncio
import contextlib
import sys

from sandbox.server import Sandbox, serve


def main() -> int:
    """Serve until interrupted; say where, and how a bot connects."""
    parser = argparse.ArgumentParser(prog="python -m sandbox", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    port = parser.parse_args().port
    with contextlib.suppress(KeyboardInterrupt):
        try:
            asyncio.run(serve(port, announce=_announce))
        except OSError as error:
            sys.stderr.write(f"sandbox: port {port} cannot be used: {error.strerror}\n")
            return 2
    return 0


def _announce(sandbox: Sandbox) -> None:
    sys.stdout.write(
        f"page     {sandbox.page}\n"
        f"api      {sandbox.api}\n"
        f"gateway  {sandbox.gateway}\n"
        f"token    {sandbox.token}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
