"""What log lines look like, and which are written."""

import asyncio
import io
import json
import logging
from collections.abc import Callable

import pytest
import structlog

from bot import logs
from tests.unit.discord_stub import TOKEN

Opened = Callable[..., io.StringIO]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Claim to be one."""
        return True


def test_what_is_bound_is_on_every_line_of_the_block(logs_opened: Opened) -> None:
    """On lines of libraries and of tasks started inside as well, and on none after it."""
    stream = logs_opened(format="json")

    async def turn() -> None:
        with logs.bound(conversation="c", turn="t", token=1764450000000001, shard=0):
            structlog.get_logger("bot").info("ours")
            await asyncio.create_task(library())
        structlog.get_logger("bot").info("after")

    async def library() -> None:
        logging.getLogger("discord.http").warning("theirs")

    asyncio.run(turn())
    ours, theirs, after = map(json.loads, stream.getvalue().splitlines())
    ids = {"conversation": "c", "turn": "t", "token": 1764450000000001, "shard": 0}
    assert ids.items() <= ours.items()
    assert ids.items() <= theirs.items()
    assert not ids.keys() & after.keys()


def test_an_inner_block_adds_to_the_outer_one(logs_opened: Opened) -> None:
    """A turn knows its shard without being told again."""
    stream = logs_opened(format="json")
    with logs.bound(shard=3), logs.bound(conversation="c"):
        structlog.get_logger("bot").info("seen")
    line = json.loads(stream.getvalue())
    assert (line["shard"], line["conversation"]) == (3, "c")


def test_message_text_is_measured_and_not_written(logs_opened: Opened) -> None:
    """Logs are copied to places that the people who wrote do not know of."""
    stream = logs_opened(format="json")
    structlog.get_logger("bot").info("heard", text="hello", content=["a"], author="1")
    line = json.loads(stream.getvalue())
    assert (line["text"], line["content"], line["author"]) == (
        "(5 characters)",
        "(not logged)",
        "1",
    )


def test_message_text_is_written_when_the_operator_asks(logs_opened: Opened) -> None:
    """`log.message_text = true`; secrets stay out of it."""
    stream = logs_opened(format="json", message_text=True)
    structlog.get_logger("bot").info("heard", text=f"hello {TOKEN}")
    assert json.loads(stream.getvalue())["text"] == "hello ***"


@pytest.mark.parametrize(("message_text", "seen"), [(False, False), (True, True)])
def test_payloads_that_discord_py_logs_count_as_message_text(
    logs_opened: Opened, message_text: bool, seen: bool
) -> None:
    """Its debug lines hold whole events; ours are still written at that level."""
    stream = logs_opened(format="json", level="debug", message_text=message_text)
    logging.getLogger("discord.gateway").debug("WebSocket Event: %s", {"content": "hello"})
    structlog.get_logger("bot").debug("ours")
    assert ("WebSocket Event" in stream.getvalue()) is seen
    assert "ours" in stream.getvalue()


def test_lines_below_the_level_are_not_written(logs_opened: Opened) -> None:
    """For ours and for the libraries' alike."""
    stream = logs_opened(format="json", level="warning")
    structlog.get_logger("bot").info("ours")
    logging.getLogger("discord").info("theirs")
    structlog.get_logger("bot").warning("told")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["told"]


def test_warnings_that_mean_nothing_here_are_not_written(logs_opened: Opened) -> None:
    """A newcomer's first screen must not begin with complaints about voice."""
    stream = logs_opened(format="json")
    logging.getLogger("discord.client").warning(
        "PyNaCl is not installed, voice will NOT be supported"
    )
    logging.getLogger("discord.client").warning("told")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["told"]


@pytest.mark.parametrize(
    ("form", "stream", "is_json"),
    [
        ("auto", io.StringIO, True),
        ("auto", Terminal, False),
        ("json", Terminal, True),
        ("console", io.StringIO, False),
    ],
)
def test_a_terminal_gets_text_and_everything_else_json(
    logs_opened: Opened, form: str, stream: Callable[[], io.StringIO], is_json: bool
) -> None:
    """`auto` looks; the other two do as they are told."""
    out = logs_opened(stream(), format=form)
    structlog.get_logger("bot").info("seen")
    assert out.getvalue().startswith("{") is is_json


def test_colours_are_for_terminals_only(logs_opened: Opened) -> None:
    """A file full of escape sequences helps nobody."""
    plain, coloured = logs_opened(format="console"), Terminal()
    structlog.get_logger("bot").info("seen")
    logs_opened(coloured, format="console")
    structlog.get_logger("bot").info("seen")
    assert "\x1b[" not in plain.getvalue()
    assert "\x1b[" in coloured.getvalue()


def test_a_line_is_json_whatever_is_in_it(logs_opened: Opened) -> None:
    """Line breaks and quotes inside a value stay inside its line."""
    stream = logs_opened(format="json")
    structlog.get_logger("bot").info('a "quoted"\nline', value={"k": {1, 2}}, secret='x"y')
    [line] = stream.getvalue().splitlines()
    assert json.loads(line)["event"] == 'a "quoted"\nline'


def test_configuring_twice_writes_each_line_once(logs_opened: Opened) -> None:
    """The later call replaces the earlier, for a reload."""
    first, second = logs_opened(format="json"), logs_opened(format="json")
    structlog.get_logger("bot").info("seen")
    assert (first.getvalue(), len(second.getvalue().splitlines())) == ("", 1)
