"""What a person reads whose settings are wrong: for each problem one line, all at once."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.config import load
from bot.errors import ConfigInvalid

TOKEN = "MTAyMzQ1Njc4OTAxMjM0NTY3.GabcDe.abcdefghijklmnopqrstuvwxyz0123456789AB"


pytestmark = pytest.mark.usefixtures("empty_folder")


def problems(
    toml: str = "", environ: dict[str, str] | None = None, flags: dict[str, object] | None = None
) -> list[str]:
    """Load what must not load, and answer the lines."""
    Path("interlock.toml").write_text(toml, encoding="utf-8")
    with pytest.raises(ConfigInvalid) as caught:
        load(None, flags or {}, environ or {})
    return list(caught.value.lines)


@pytest.mark.parametrize(
    ("toml", "line"),
    [
        ('[state]\nleaze = "9s"', "state.leaze: no such setting; did you mean state.lease?"),
        ("[conversatoin]\ninbox = 3", "conversatoin: no such setting; did you mean conversation?"),
        ("inbox = 3", "inbox: no such setting; did you mean conversation.inbox?"),
        (
            "[history]\nxyzzy = 1",
            (
                "history.xyzzy: no such setting; known here: backfill_dm, backfill_guild,"
                " context_messages, keep"
            ),
        ),
        (
            '[cogs.chta]\nmodel = ""',
            "cogs.chta: no extension is called chta; did you mean cogs.chat?",
        ),
        (
            '[conversation]\ninbox = "many"',
            'conversation.inbox: "many" is no whole number; write digits only',
        ),
        (
            "[conversation]\ninbox = 2.5",
            "conversation.inbox: 2.5 is no whole number; write digits only",
        ),
        ("[conversation]\ninbox = 0", "conversation.inbox: 0 is too small; the least is 1"),
        (
            "[conversation]\nmax_pages = 51",
            "conversation.max_pages: 51 is too large; the most is 50",
        ),
        (
            "[conversation]\nreactions = 3",
            "conversation.reactions: 3 is neither; write true or false",
        ),
        (
            '[conversation]\noverflow = "drop"',
            "conversation.overflow: \"drop\" is not one of them; write 'refuse' or 'drop_oldest'",
        ),
        (
            "[conversation]\nresponder = 1",
            "conversation.responder: 1 is no text; write it in quotes",
        ),
        (
            "extensions = 1",
            'extensions: 1 is no list; write one, such as ["a", "b"]',
        ),
        (
            "state = 3",
            "state: 3 is no table; write its keys below a line in brackets, such as [state]",
        ),
        (
            "[state]\nlease = 15",
            'state.lease: 15 has no unit; write 3s to 120s, such as "15s"',
        ),
        (
            "[limits]\nturn = 0.001",
            'limits.turn: 0.001 has no unit; write 100ms to 24h, such as "100ms"',
        ),
        (
            '[state]\nlease = "soon"',
            (
                'state.lease: "soon" is no duration; write a number and ms, s, m, h or d,'
                ' such as "15s"'
            ),
        ),
        ('[state]\nlease = "1s"', 'state.lease: "1s" is out of bounds; give 3s to 120s'),
        (
            '[state]\nprefix = "a b"',
            'state.prefix: "a b" does not match ^[A-Za-z0-9_-]{1,32}$',
        ),
        (
            '[state]\nurl = "mysql://host"',
            (
                'state.url: "mysql://host" is no address of a store; write "sqlite:FILE",'
                ' "memory:", "redis://…", "rediss://…", "redis+cluster://…",'
                ' "rediss+cluster://…" or "unix://…"'
            ),
        ),
        (
            '[access]\noperators = ["ada"]',
            'access.operators: "ada" is no Discord id; an id has digits only',
        ),
        (
            '[stop]\nlanguages = ["en", "xx"]',
            "stop.languages: no stop phrases for 'xx'; there are de, en, es, ja",
        ),
        (
            '[stop]\nextra = ["!"]',
            "stop.extra: '!' is no stop phrase: without punctuation and emoji it is empty",
        ),
        (
            '[discord]\nshards = "0-3"',
            (
                "discord.shards: says nothing without a count; set discord.shard_count"
                " (--shard-count) as well"
            ),
        ),
        (
            '[discord]\nshards = "0-4"\nshard_count = 4',
            "discord.shards: shard 4 is outside shard_count 4; use ids from 0 to 3",
        ),
        (
            '[discord]\nshards = "3-1"\nshard_count = 4',
            'discord.shards: "3-1" ends before it begins; write "0-3", "0,2,5" or a list of ids',
        ),
        (
            '[discord]\nshards = "all"\nshard_count = 4',
            'discord.shards: "all" is no shard id or range; write "0-3", "0,2,5" or a list of ids',
        ),
        (
            "[discord]\nshards = []\nshard_count = 4",
            'discord.shards: names no shard; write "0-3", "0,2,5" or a list of ids',
        ),
        (
            '[discord]\ngateway = "http://x"',
            'discord.gateway: "http://x" is no address; it begins with ws:// or wss://',
        ),
    ],
)
def test_a_wrong_line_of_the_file_is_named_with_what_would_be_right(toml: str, line: str) -> None:
    """Place, key, what is wrong, what would be right."""
    assert problems(toml) == [f"interlock.toml: {line}"]


@pytest.mark.parametrize(
    ("toml", "line"),
    [
        ("[state\nurl = 1", "line 1, column 7: Expected ']' at the end of a table declaration"),
        ("[state]\nurl = x", "line 2, column 7: Invalid value"),
        ("a = 1\na = 2\n", "line 2, column 6: Cannot overwrite a value"),
        ("a = ", "end of document: Invalid value"),
    ],
)
def test_a_file_that_is_no_toml_is_named_with_line_and_column(toml: str, line: str) -> None:
    """The place to look at, in the words of Python's own reader."""
    assert problems(toml) == [f"interlock.toml: {line}"]


def test_a_file_that_is_not_text_is_one_line() -> None:
    """A file in another encoding names the byte at which it stops being UTF-8."""
    Path("interlock.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(ConfigInvalid) as caught:
        load(None, {}, {})
    assert caught.value.lines == ("interlock.toml: is not UTF-8 at byte 5",)


def test_a_folder_in_place_of_a_file_is_one_line() -> None:
    """What the operating system says, behind the name."""
    with pytest.raises(ConfigInvalid) as caught:
        load(Path(), {}, {})
    assert caught.value.lines == (".: cannot be read: Is a directory",)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        (
            "INTERLOCK_CONVERSATOIN__INBOX",
            "3",
            "conversatoin: no such setting; did you mean conversation?",
        ),
        (
            "INTERLOCK_CONVERSATION__INBOXX",
            "3",
            "conversation.inboxx: no such setting; did you mean conversation.inbox?",
        ),
        (
            "INTERLOCK_TOKN",
            TOKEN,
            (
                "tokn: no such setting; known here: access, categories, channels, cogs,"
                " conversation, discord, extension_paths, extension_reload, extensions, guilds,"
                " history, limits, log, process, sandbox, state, stop, texts"
            ),
        ),
        (
            "INTERLOCK_STATE",
            "{}",
            "state: is a table; set its keys one by one, such as INTERLOCK_STATE__URL",
        ),
        (
            "INTERLOCK_COGS__CHAT",
            "x",
            'cogs: "x" is no table; write its keys below a line in brackets, such as [state]',
        ),
        (
            "INTERLOCK_STATE__LEASE__X",
            "1s",
            "state.lease: {'x': '1s'} has no unit; write 3s to 120s, such as \"3s\"",
        ),
        (
            "INTERLOCK_STOP__LANGUAGES",
            '["en"',
            (
                'stop.languages: ["en" is no list; write names with commas in between, or JSON:'
                ' ["a", "b"]'
            ),
        ),
    ],
)
def test_a_wrong_variable_is_named_as_it_was_written(name: str, value: str, line: str) -> None:
    """One place for the key, one for the variable: both are what a person searches for."""
    assert problems(environ={name: value}) == [f"environment {name}: {line}"]


def test_a_wrong_flag_is_named_as_it_was_written() -> None:
    """Flags are checked by the same rules, in the same words."""
    assert problems(flags={"sandbox.port": "high"}) == [
        'flag --port: sandbox.port: "high" is no whole number; write digits only'
    ]


def test_all_problems_of_all_places_are_told_at_once() -> None:
    """One edit mends them; nobody starts five times to read five lines."""
    lines = problems(
        "[state]\nlease = 15\n[conversation]\ninbox = 0",
        {"INTERLOCK_LOG__LEVEL": "loud"},
        {"sandbox.port": "high"},
    )
    assert [line.split(": ")[1] for line in lines] == [
        "state.lease",
        "conversation.inbox",
        "log.level",
        "sandbox.port",
    ]


def test_a_token_in_the_file_is_refused_though_the_environment_has_one() -> None:
    """The file is shared and committed; that a token overrides it does not make it less public."""
    [line] = problems(f'[discord]\ntoken = "{TOKEN}"', {"INTERLOCK_TOKEN": "other"})
    assert line.startswith("interlock.toml: discord.token: a token does not belong into a file")
    assert TOKEN not in line


@pytest.mark.parametrize(
    "place", ["discord.api", "conversation.overflow", "state.url", "log.level"]
)
def test_a_token_in_the_wrong_place_is_not_repeated(place: str) -> None:
    """A line about a value shows the value, unless it looks like a secret."""
    table, key = place.split(".")
    assert TOKEN not in "\n".join(problems(f'[{table}]\n{key} = "{TOKEN}"'))


class Weather(BaseModel):
    """A cog's own settings, as its author would write them: nothing about unknown keys."""

    town: str
    days: int = 3


def test_a_cog_reads_its_own_table_by_its_own_model() -> None:
    """The table is named after the extension's module; text from the environment is converted."""
    Path("interlock.toml").write_text(
        'extensions = ["my.weather"]\n[cogs.weather]\ntown = "Ulm"', encoding="utf-8"
    )
    settings = load(None, {}, {"INTERLOCK_COGS__WEATHER__DAYS": "7"}).settings
    assert settings.cog("weather", Weather) == Weather(town="Ulm", days=7)


def test_a_cogs_wrong_keys_are_told_like_all_others() -> None:
    """Unknown keys are refused there too, whatever the model says, with place and nearest name."""
    Path("interlock.toml").write_text(
        'extensions = ["my.weather"]\n[cogs.weather]\ntwon = "Ulm"\ndays = "x"', encoding="utf-8"
    )
    with pytest.raises(ConfigInvalid) as caught:
        load(None, {}, {}).settings.cog("weather", Weather)
    assert sorted(caught.value.lines) == [
        'interlock.toml: cogs.weather.days: "x" is no whole number; write digits only',
        "interlock.toml: cogs.weather.town: is missing; the cog needs it",
        "interlock.toml: cogs.weather.twon: no such setting; did you mean cogs.weather.town?",
    ]


def test_a_cog_without_a_table_gets_its_models_defaults() -> None:
    """Most cogs have nothing to set."""

    class Quiet(BaseModel):
        loud: bool = False

    assert load(None, {}, {}).settings.cog("echo", Quiet) == Quiet()
