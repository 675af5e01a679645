"""One scene a test."""

from collections.abc import AsyncIterator

import pytest
import structlog

from sandbox import Sandbox
from tests.scenarios.clock import Clock
from tests.scenarios.scene import Line, Room, Scene

#: Seconds between heartbeats, for which discord.py has a clock of its own: more than any scene.
HEARTBEAT = 86_400.0

#: Lines that only a bug of ours writes, whatever the scene.
BUGS = ("event failed", "turn broken off")


@pytest.fixture
async def scene(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    """Set a scene; when it is over, nobody may have spoken while another spoke."""
    clock = Clock(monkeypatch)
    with structlog.testing.capture_logs() as log:
        async with Sandbox(heartbeat=HEARTBEAT) as sandbox:
            scene = Scene(sandbox, monkeypatch, clock, Line(monkeypatch), log)
            yield scene
    assert scene.play.overlaps == []
    assert [line for line in log if line["event"] in BUGS] == []


@pytest.fixture
def room(scene: Scene) -> Room:
    """The channel in which most scenes play."""
    return scene.room()
