"""`interlock config --channel ID`: what holds in one place, and where it was written."""

from pathlib import Path

import pytest

from tests.unit.command_line import interlock
from tests.unit.discord_stub import TOKEN, DiscordStub

pytestmark = pytest.mark.usefixtures("empty_folder")

TOML = """
[conversation]
inbox = 7
max_pages = 2
[guilds.1]
inbox = 1
mode = "drop"
[categories.2]
mode = "collect"
[channels.3]
reactions = false
[channels.3.cogs.chat]
instructions = "loud"
[channels.4]
mode = "interrupt"
"""


def rows(*words: str) -> tuple[str, dict[str, list[str]]]:
    """Run the command; answer its first line, and the words of each row by its key."""
    first, *others = interlock("config", *words).stdout.splitlines()
    found: dict[str, list[str]] = {}
    key = ""
    for line in others:
        words_of_it = line.split()
        if not line.startswith(" "):  # else a long cell goes on
            key = words_of_it.pop(0)
        found.setdefault(key, []).extend(words_of_it)
    return first, found


@pytest.fixture(autouse=True)
def _file(empty_folder: Path) -> None:
    (empty_folder / "interlock.toml").write_text(TOML, encoding="utf-8")


def test_each_value_is_that_of_the_place_with_the_table_that_decided_it() -> None:
    """The tables of other places are left out; what no place sets is shown as ever."""
    known, found = rows("--channel", "4", "--parent", "3", "--category", "2", "--guild", "1")
    assert known == (
        "Channel 4, in channel 3, category 2, guild 1, as the flags say; Discord was not asked."
    )
    assert found["conversation.mode"] == ["interrupt", "interlock.toml", "[channels.4]"]
    assert found["conversation.inbox"] == ["1", "interlock.toml", "[guilds.1]"]
    assert found["conversation.reactions"] == ["false", "interlock.toml", "[channels.3]"]
    assert found["conversation.max_pages"] == ["2", "interlock.toml"]
    assert found["conversation.buttons"] == ["true", "default"]
    assert found["cogs.chat.instructions"] == ["loud", "interlock.toml", "[channels.3]"]
    assert not [key for key in found if key.startswith(("guilds.", "categories.", "channels."))]


def test_without_a_place_every_table_is_shown_as_it_was_written() -> None:
    """Whoever looks for a typing error sees all of the file."""
    _, found = rows()
    assert found["conversation.inbox"] == ["7", "interlock.toml"]
    assert found["guilds.1.inbox"] == ["1", "interlock.toml"]
    assert found["channels.3.cogs.chat.instructions"] == ["loud", "interlock.toml"]


def test_discord_is_asked_where_a_thread_is(
    discord: DiscordStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its channel, the category of that, and the guild: what no operator knows by heart."""
    monkeypatch.setenv("INTERLOCK_TOKEN", TOKEN)
    monkeypatch.setenv("INTERLOCK_DISCORD__API", discord.api)
    discord.channels = {
        "4": {"id": "4", "type": 11, "parent_id": "3", "guild_id": "1"},
        "3": {"id": "3", "type": 0, "parent_id": "2", "guild_id": "1"},
    }
    known, found = rows("--channel", "4")
    assert known == "Channel 4, in channel 3, category 2, guild 1, as Discord says."
    assert found["conversation.mode"][0] == "interrupt"
    known, found = rows("--channel", "3")
    assert known == "Channel 3, category 2, guild 1, as Discord says."
    assert found["conversation.mode"][0] == "collect"


@pytest.mark.parametrize("token", [None, TOKEN])
def test_it_is_said_what_is_assumed_where_discord_does_not_say(
    discord: DiscordStub, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    """Without a token, or about a channel that the bot does not see."""
    monkeypatch.setenv("INTERLOCK_DISCORD__API", discord.api)
    monkeypatch.setenv("INTERLOCK_TOKEN", token or "")
    known, found = rows("--channel", "3")
    why = f"{discord.api}/channels/3 answers 404; try again later"
    assert known == (
        "Channel 3, taken to be in no thread, category or guild:"
        f" {why if token else 'there is no token to ask Discord with'};"
        " --parent, --category and --guild say more."
    )
    assert found["conversation.reactions"][0] == "false"
    assert found["conversation.inbox"][0] == "7"


def test_what_is_no_id_is_one_line() -> None:
    """A name in place of an id is what people try first."""
    result = interlock("config", "--channel", "general", "--guild", "1")
    assert result.exit_code == 2
    assert result.stderr == ('flag --channel: "general" is no Discord id; an id has digits only\n')
