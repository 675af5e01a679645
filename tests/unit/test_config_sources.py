"""Where settings come from, which place wins, and what is remembered about it."""

from pathlib import Path

import pytest

from bot.config import Loaded, Settings, load
from bot.errors import ConfigInvalid

pytestmark = pytest.mark.usefixtures("empty_folder")


def loaded(
    toml: str = "", environ: dict[str, str] | None = None, flags: dict[str, object] | None = None
) -> Loaded:
    """Load from text, in place of the default file."""
    Path("interlock.toml").write_text(toml, encoding="utf-8")
    return load(None, flags or {}, environ or {}, dotenv=Path(".env"))


def test_without_any_source_every_setting_has_its_default() -> None:
    """An empty folder and an empty environment are enough to start."""
    found = load(None, {}, {})
    assert found.settings == Settings()
    assert found.file is None
    assert set(found.origins.values()) == {"default"}


def test_settings_built_directly_do_not_read_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A test that writes `Settings()` gets the defaults on every machine."""
    monkeypatch.setenv("INTERLOCK_CONVERSATION__INBOX", "7")
    assert Settings().conversation.inbox == 20


def test_the_file_lies_under_dotenv_under_the_environment_under_flags() -> None:
    """Each place overrides those before it, key by key, and is remembered as the origin."""
    Path(".env").write_text(
        "INTERLOCK_LOG__LEVEL=warning\nINTERLOCK_STATE__URL=memory:\nOTHER=1\n", encoding="utf-8"
    )
    found = loaded(
        '[state]\nurl = "sqlite:a.db"\nlease = "20s"\nprefix = "a"\n[log]\nlevel = "debug"\n',
        {"INTERLOCK_STATE__URL": "sqlite:b.db", "INTERLOCK_STATE__PREFIX": "b"},
        {"state.url": "redis://c/0", "log.level": None},
    )
    state = found.settings.state
    assert state.url.get_secret_value() == "redis://c/0"
    assert (state.prefix, state.lease, found.settings.log.level) == ("b", 20.0, "warning")
    assert found.origins["state.url"] == "flag --state-url"
    assert found.origins["state.prefix"] == "environment INTERLOCK_STATE__PREFIX"
    assert found.origins["log.level"] == ".env INTERLOCK_LOG__LEVEL"
    assert found.origins["state.lease"] == "interlock.toml"
    assert found.origins["state.partitions"] == "default"


def test_a_file_that_is_named_must_exist() -> None:
    """`--config` with a typing error must not start a bot with the defaults."""
    with pytest.raises(ConfigInvalid) as caught:
        load(Path("other.toml"), {}, {})
    assert str(caught.value).startswith("other.toml: no such file")


@pytest.mark.parametrize("name", ["INTERLOCK_TOKEN", "INTERLOCK_DISCORD__TOKEN"])
def test_the_token_comes_from_the_environment_under_two_names(name: str) -> None:
    """The short name is for people, the long one follows the rule of all other keys."""
    found = loaded(environ={name: "a-token"})
    assert found.settings.discord.token is not None
    assert found.settings.discord.token.get_secret_value() == "a-token"
    assert found.origins["discord.token"] == f"environment {name}"


def test_the_long_name_of_the_token_wins_over_the_short_one() -> None:
    """So that whoever starts the bot with a token of its own need not look for the other."""
    environ = {"INTERLOCK_TOKEN": "short", "INTERLOCK_DISCORD__TOKEN": "long"}
    token = loaded(environ=environ).settings.discord.token
    assert token is not None
    assert token.get_secret_value() == "long"


def test_an_empty_variable_counts_as_not_set() -> None:
    """Compose files pass on what is missing as empty text."""
    empty = loaded(environ={"INTERLOCK_TOKEN": "", "INTERLOCK_LOG__LEVEL": ""})
    assert (empty.settings, empty.origins) == (loaded().settings, loaded().origins)


def test_the_variables_of_a_kubernetes_service_are_not_taken_for_settings() -> None:
    """A service called "interlock" puts these into every pod of its namespace."""
    environ = {
        "INTERLOCK_SERVICE_HOST": "10.0.0.1",
        "INTERLOCK_SERVICE_PORT": "80",
        "INTERLOCK_PORT": "tcp://10.0.0.1:80",
        "INTERLOCK_PORT_80_TCP_ADDR": "10.0.0.1",
    }
    assert loaded(environ=environ).settings == Settings()


@pytest.mark.parametrize("written", ["en,de", " en , de ,", '["en", "de"]'])
def test_a_list_in_the_environment_is_written_with_commas_or_as_json(written: str) -> None:
    """Commas are what people try first; JSON is what pydantic-settings documents."""
    found = loaded(environ={"INTERLOCK_STOP__LANGUAGES": written})
    assert found.settings.stop.languages == ("en", "de")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("15s", 15.0), ("1m", 60.0), ("1.5m", 90.0), ("0.002h", 7.2), ("20000ms", 20.0)],
)
def test_a_duration_is_a_number_and_a_unit(written: str, seconds: float) -> None:
    """Inside the program every duration is seconds."""
    found = loaded(f'[state]\nlease = "{written}"')
    assert found.settings.state.lease == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["[80351110224678912]", '["80351110224678912"]'])
def test_ids_are_text_or_numbers_and_kept_as_text(written: str) -> None:
    """TOML keeps 64 bits, JSON does not: so they are text from here on."""
    found = loaded(f"[access]\noperators = {written}")
    assert found.settings.access.operators == ("80351110224678912",)


@pytest.mark.parametrize(
    ("written", "shards"),
    [
        ('"0-3"', (0, 1, 2, 3)),
        ('"0,2,5"', (0, 2, 5)),
        ('"5, 0 - 1, 1"', (0, 1, 5)),
        ("[3, 1]", (1, 3)),
        ("2", (2,)),
        ('["0-1", 7]', (0, 1, 7)),
    ],
)
def test_shards_are_a_range_or_a_list_and_come_out_sorted_once_each(
    written: str, shards: tuple[int, ...]
) -> None:
    """Several notations, one meaning."""
    found = loaded(f"[discord]\nshard_count = 8\nshards = {written}")
    assert found.settings.discord.shards == shards


def test_shards_and_their_count_may_come_from_different_places() -> None:
    """The usual case: the count in the file, the range of this process as a flag."""
    found = loaded("[discord]\nshard_count = 16", flags={"discord.shards": "4-7"})
    assert found.settings.discord.shards == (4, 5, 6, 7)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:interlock.db",
        "sqlite::memory:",
        "memory:",
        "redis://localhost:6379/0",
        "rediss://:pw@host/1",
        "redis+cluster://user:pw@host:7000",
        "rediss+cluster://host?ssl_ca_certs=ca.crt",
        "unix:///run/redis.sock?db=2",
    ],
)
def test_every_kind_of_store_has_an_address(url: str) -> None:
    """The three adapters, Redis in the notations of its own client."""
    found = loaded(environ={"INTERLOCK_STATE__URL": url})
    assert found.settings.state.url.get_secret_value() == url


def test_settings_cannot_be_changed_once_they_are_loaded() -> None:
    """Running turns rely on what they were started with."""
    with pytest.raises(ValueError, match="frozen"):
        loaded().settings.log.level = "debug"  # type: ignore[misc]


def test_nothing_that_shows_the_settings_shows_a_secret() -> None:
    """Settings end up in tracebacks and debuggers; the token and passwords must not."""
    settings = loaded(
        environ={
            "INTERLOCK_TOKEN": "canary-token",
            "INTERLOCK_STATE__URL": "redis://user:canary-password@host:6379/0?password=canary-query",
        }
    ).settings
    shown = f"{settings!r} {settings} {settings.discord!r} {settings.state.url} {settings.state!r}"
    assert "canary" not in shown
    assert "redis://user:***@host:6379/0?password=***" in shown
