"""What guilds, categories, channels and threads set differently, and which of them decides."""

from pathlib import Path

import pytest
from pydantic import BaseModel, model_validator

from bot.config import Loaded, Override, Place, Settings, load
from bot.errors import ConfigInvalid

pytestmark = pytest.mark.usefixtures("empty_folder")

#: A thread, in a channel, in a category, in a guild.
THREAD = Place(channel="4", parent="3", category="2", guild="1")


def loaded(toml: str, environ: dict[str, str] | None = None) -> Loaded:
    """Load from text, in place of the default file."""
    Path("interlock.toml").write_text(toml, encoding="utf-8")
    return load(None, {}, environ or {})


def problems(toml: str, environ: dict[str, str] | None = None) -> list[str]:
    """Load what must not load, and answer the lines."""
    with pytest.raises(ConfigInvalid) as caught:
        loaded(toml, environ)
    return list(caught.value.lines)


# -------------------------------------------------------------------------------------- precedence

LADDER = [
    "[conversation]\nmode = 'collect'",
    "[guilds.1]\nmode = 'drop'",
    "[categories.2]\nmode = 'interrupt'",
    "[channels.3]\nmode = 'debounce'",
    "[channels.4]\nmode = 'queue'",
]


@pytest.mark.parametrize(
    ("steps", "mode"),
    [(1, "collect"), (2, "drop"), (3, "interrupt"), (4, "debounce"), (5, "queue")],
)
def test_the_narrowest_place_that_names_a_key_decides(steps: int, mode: str) -> None:
    """Thread, parent channel, category, guild, all: whatever the order in the file."""
    for lines in (LADDER[:steps], LADDER[:steps][::-1]):
        assert loaded("\n".join(lines)).settings.at(THREAD).mode == mode


@pytest.mark.parametrize(
    ("place", "inbox"),
    [
        (Place(channel="3", category="2", guild="1"), 3),
        (Place(channel="4", parent="3", category="2", guild="1"), 3),
        (Place(channel="9", category="2", guild="1"), 2),
        (Place(channel="9", guild="1"), 1),
        (Place(channel="9", guild="8"), 20),
        (Place(channel="9"), 20),
        (Place(channel="1", parent="2", category="3", guild="4"), 20),
    ],
)
def test_an_id_counts_only_as_what_it_is_listed_for(place: Place, inbox: int) -> None:
    """A guild's id among the channels, or a channel's as a category, is somebody else's."""
    toml = "[guilds.1]\ninbox = 1\n[categories.2]\ninbox = 2\n[channels.3]\ninbox = 3"
    assert loaded(toml).settings.at(place).inbox == inbox


def test_keys_that_a_place_does_not_name_are_decided_by_the_next_wider_one() -> None:
    """Also when it names a key with the value that is the default everywhere else."""
    settings = loaded(
        "[conversation]\ninbox = 7\nmode = 'drop'\n"
        "[guilds.1]\nmax_pages = 2\n[channels.4]\nmode = 'queue'"
    ).settings
    found = settings.at(THREAD)
    assert (found.inbox, found.max_pages, found.mode) == (7, 2, "queue")
    assert settings.at(Place(channel="5")) == settings.conversation


def test_what_admins_chose_lies_between_the_guild_and_the_category() -> None:
    """It beats the operator's default for the guild, not an operator's word on one channel."""
    settings = loaded("[guilds.1]\ninbox = 1\nmax_pages = 1\n[categories.2]\ninbox = 2").settings
    found = settings.at(THREAD, Override(inbox=5, max_pages=5))
    assert (found.inbox, found.max_pages) == (2, 5)


def test_the_environment_may_name_a_place_too() -> None:
    """As any key: over the file, and remembered as the origin."""
    found = loaded(
        "[channels.4]\ninbox = 4\nreactions = false", {"INTERLOCK_CHANNELS__4__INBOX": "9"}
    )
    assert found.settings.at(THREAD).inbox == 9
    assert found.settings.at(THREAD).reactions is False
    assert found.origins["channels.4.inbox"] == "environment INTERLOCK_CHANNELS__4__INBOX"
    assert found.origins["channels.4.reactions"] == "interlock.toml"


def test_a_place_with_settings_of_its_own_does_not_shut_out_the_others() -> None:
    """An override says how a place is answered, never whether."""
    assert loaded("[guilds.1]\ninbox = 1\n[channels.3]\ninbox = 1").settings.access == (
        Settings().access
    )


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("toml", "line"),
    [
        (
            "[channels.3]\nmoed = 1",
            "channels.3.moed: no such setting; did you mean channels.3.mode?",
        ),
        ("[guilds.1]\nlease = 1", "guilds.1.lease: no such setting; did you mean state.lease?"),
        ("[channels.3]\ninbox = 0", "channels.3.inbox: 0 is too small; the least is 1"),
        (
            "[categories.2]\ndebounce = 3",
            'categories.2.debounce: 3 has no unit; write 100ms to 1m, such as "3s"',
        ),
        (
            "[channels.general]\ninbox = 3",
            'channels.general: "general" is no Discord id; an id has digits only',
        ),
        (
            "[channels]\n3 = 3",
            ("channels.3: 3 is no table; write its keys below a line in brackets, such as [state]"),
        ),
        (
            "guilds = 3",
            "guilds: 3 is no table; write its keys below a line in brackets, such as [state]",
        ),
        (
            "[channels.3.cogs]\nchat = 3",
            (
                "channels.3.cogs: 3 is no table; write its keys below a line in brackets,"
                " such as [state]"
            ),
        ),
        (
            "[channels.3.cogs.chta]\nmodel = ''",
            (
                "channels.3.cogs.chta: no extension is called chta;"
                " did you mean channels.3.cogs.chat?"
            ),
        ),
    ],
)
def test_a_wrong_line_for_a_place_is_named_like_any_other(toml: str, line: str) -> None:
    """Where it stands, what is wrong, what would be right."""
    assert problems(toml) == [f"interlock.toml: {line}"]


def test_every_override_is_checked_and_all_problems_told_at_once() -> None:
    """One edit mends them."""
    toml = "[guilds.1]\ninbox = 0\n[channels.3]\nmode = 'all'\n[categories.2]\nxyzzy = 1"
    assert [line.split(": ")[1] for line in problems(toml)] == [
        "guilds.1.inbox",
        "categories.2.xyzzy",
        "channels.3.mode",
    ]


def test_a_variable_that_sets_all_of_a_table_is_refused() -> None:
    """As it is for the tables that have no ids."""
    [line] = problems("", {"INTERLOCK_CHANNELS": "{}"})
    assert line.endswith("set its keys one by one, such as INTERLOCK_CHANNELS__1234__MODE")


# -------------------------------------------------------------------------------------------- cogs


class Weather(BaseModel):
    """Settings of a cog."""

    class Units(BaseModel):
        """A table in a table."""

        wind: str = "kmh"
        heat: str = "C"

    town: str = ""
    days: int = 1
    most: int = 9
    units: Units = Units()

    @model_validator(mode="after")
    def _days_lie_within_the_most(self) -> "Weather":
        if self.days > self.most:
            raise ValueError(f"days {self.days} are more than most {self.most}; write fewer")
        return self


WEATHER = "extensions = ['my.weather']\n[cogs.weather]\ntown = 'Ulm'\n"


def test_a_cogs_table_is_laid_over_key_by_key() -> None:
    """What a place does not name stays, inside a table in the table as well."""
    settings = loaded(
        f"{WEATHER}[cogs.weather.units]\nwind = 'kn'\n"
        "[guilds.1.cogs.weather]\ndays = 3\n[channels.4.cogs.weather.units]\nheat = 'F'"
    ).settings
    assert settings.cog("weather", Weather).units == Weather.Units(wind="kn")
    there = settings.cog_at("weather", Weather, THREAD)
    assert (there.town, there.days, there.units) == ("Ulm", 3, Weather.Units(wind="kn", heat="F"))
    assert settings.cog_at("weather", Weather, Place("9")) == settings.cog("weather", Weather)


def test_a_cogs_table_is_checked_for_every_place_when_it_is_first_read() -> None:
    """At load, each problem where it was written, so that no turn finds it later."""
    settings = loaded(
        f"{WEATHER}most = 'x'\n[guilds.1.cogs.weather]\ndays = 'many'\n"
        "[channels.4.cogs.weather]\nhue = 1\n[channels.5.cogs.weather]\ntown = 'Bonn'"
    ).settings
    with pytest.raises(ConfigInvalid) as caught:
        settings.cog("weather", Weather)
    assert list(caught.value.lines) == [
        'interlock.toml: cogs.weather.most: "x" is no whole number; write digits only',
        (
            'interlock.toml: guilds.1.cogs.weather.days: "many" is no whole number;'
            " write digits only"
        ),
        (
            "interlock.toml: channels.4.cogs.weather.hue: no such setting; known here: days, most,"
            " town, units"
        ),
    ]


def test_what_does_not_go_together_is_found_where_it_was_laid_together() -> None:
    """Each alone is right; only a place in both shows that they are not."""
    settings = loaded(
        f"{WEATHER}[guilds.1.cogs.weather]\ndays = 8\n[channels.4.cogs.weather]\nmost = 3"
    ).settings
    settings.cog("weather", Weather)
    with pytest.raises(ConfigInvalid, match=r"cogs\.weather: days 8 are more than most 3"):
        settings.cog_at("weather", Weather, THREAD)
    assert settings.cog_at("weather", Weather, Place("9", guild="1")).days == 8


def test_the_models_that_were_asked_for_are_kept() -> None:
    """So that later settings can be checked by them before they are taken."""
    settings = loaded(WEATHER).settings
    assert settings.models == {}
    settings.cog("weather", Weather)
    assert settings.models == {"weather": Weather}


def test_a_table_that_no_cog_asks_for_is_told() -> None:
    """What is in it has no effect, and looks as if it had."""
    settings = loaded(
        "extensions = ['my.weather', 'my.clock']\n[cogs.weather]\ntown = 'Ulm'\n"
        "[cogs.clock]\nhands = 3\n[channels.4.cogs.clock]\nhands = 2"
    ).settings
    settings.cog("weather", Weather)
    assert settings.unread(["my.weather", "my.clock"]) == [
        "interlock.toml: cogs.clock: the extension has no settings; take the table away",
        (
            "interlock.toml: channels.4.cogs.clock: the extension has no settings;"
            " take the table away"
        ),
    ]
    assert settings.unread(["my.weather"]) == []
