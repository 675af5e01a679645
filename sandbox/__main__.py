"""Run the sandbox alone: `python -m sandbox --port 8123`."""

import argparse
import asyncio
import contextlib
import sys

from sandbox.server import Sandbox, serve


def main() -> int:
    """Serve until interrupted; print where, and how a bot connects."""
    parser = argparse.ArgumentParser(prog="python -m sandbox", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    port = parser.parse_args().port
    with contextlib.suppress(KeyboardInterrupt):
        try:
            asyncio.run(serve(port, announce=_announce))
        except OSError:
            return 2
    return 0


def _announce(sandbox: Sandbox) -> None:
    pass


if __name__ == "__main__":
    sys.exit(main())
