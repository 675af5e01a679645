"""Which settings differ, and which of those a running process cannot follow."""

import pytest

from bot.config import Settings
from bot.config.changes import changed, followed, is_fixed


def made(**tables: object) -> Settings:
    """Make settings that differ from the defaults in *tables*."""
    return Settings.model_validate(tables)


@pytest.mark.parametrize(
    ("before", "after", "keys"),
    [
        ({}, {}, []),
        ({}, {"conversation": {"mode": "drop"}}, ["conversation.mode"]),
        ({}, {"conversation": {"mode": "queue"}}, []),
        (
            {"access": {"operators": [1]}, "log": {"level": "debug"}},
            {"access": {"operators": ["1", "2"]}},
            ["access.operators", "log.level"],
        ),
        ({}, {"channels": {"1": {"mode": "queue"}}}, ["channels.1.mode"]),
        ({"guilds": {"1": {"inbox": 2}}}, {"guilds": {"1": {"inbox": 3}}}, ["guilds.1.inbox"]),
        (
            {"cogs": {"chat": {"model": "a:b", "units": {"wind": 1}}}},
            {"cogs": {"chat": {"units": {"wind": 2}}}},
            ["cogs.chat.model", "cogs.chat.units.wind"],
        ),
        ({"discord": {"token": "a"}}, {"discord": {"token": "b"}}, ["discord.token"]),
        ({}, {"state": {"url": "memory:"}}, ["state.url"]),
    ],
)
def test_the_keys_that_differ_are_listed(
    before: dict[str, object], after: dict[str, object], keys: list[str]
) -> None:
    """By their values: a default that is written down is no change, for a place it is."""
    assert changed(made(**before), made(**after)) == keys


@pytest.mark.parametrize(
    ("key", "fixed"),
    [
        ("state.url", True),
        ("discord.shards", True),
        ("sandbox.port", True),
        ("extensions", True),
        ("extension_paths", True),
        ("log.format", True),
        ("log.message_text", True),
        ("log.level", False),
        ("conversation.mode", False),
        ("access.operators", False),
        ("channels.1.mode", False),
        ("cogs.chat.model", False),
        ("process.drain", False),
    ],
)
def test_what_is_looked_at_once_waits_for_a_restart(key: str, fixed: bool) -> None:
    """Everything else is asked for anew each time."""
    assert is_fixed(key) is fixed


def test_what_is_fixed_stays_as_the_process_began_with_it() -> None:
    """So that settings never say of a running process what is not so."""
    before = made(state={"lease": "5s"}, log={"level": "debug", "format": "json"})
    after = made(state={"lease": "9s"}, conversation={"inbox": 2}, extensions=["cogs.echo"])
    found = followed(before, after)
    assert found.state == before.state
    assert found.extensions == before.extensions
    assert (found.log.level, found.log.format) == ("info", "json")
    assert found.conversation.inbox == 2
