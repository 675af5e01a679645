"""Fixtures for the tests of settings, logs and command line."""

import io
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog

from bot import logs
from bot.config.model import LogSettings
from tests.unit.discord_stub import DiscordStub, discord_stub


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.upper().startswith("INTERLOCK_")]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def logs_opened() -> Iterator[Callable[..., io.StringIO]]:
    """
    Configure logs into a stream of the test's own; undo all of it afterwards.

    `logs_opened(stream, secrets=[...], **settings)` answers the stream.
    """
    root, discord = logging.getLogger(), logging.getLogger("discord")
    handlers, levels = list(root.handlers), (root.level, discord.level)

    def configure(
        stream: io.StringIO | None = None, *, secrets: tuple[str, ...] = (), **settings: object
    ) -> io.StringIO:
        # pytest's own handlers format lines too, and some lines here are not meant to be formatted.
        root.handlers.clear()
        stream = stream or io.StringIO()
        logs.configure(LogSettings.model_validate(settings), secrets=secrets, stream=stream)
        return stream

    yield configure
    root.handlers[:] = [one for one in root.handlers if one in handlers]
    root.setLevel(levels[0])
    discord.setLevel(levels[1])
    structlog.reset_defaults()


@pytest.fixture
def discord() -> Iterator[DiscordStub]:
    """Serve a stand-in for what the command line asks of Discord's REST API."""
    with discord_stub() as stub:
        yield stub
