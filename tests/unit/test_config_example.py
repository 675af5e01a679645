"""`config.example.toml` is complete and tells the truth."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.config import Settings, load
from bot.config.problems import leaves
from bot.config.settings import NAMING_TABLES
from cogs.chat_models import ChatSettings

EXAMPLE = Path(__file__).parents[2] / "config.example.toml"


def uncommented() -> str:
    """Take the # away in front of each key; prose has a space behind it."""
    return re.sub(r"^#(?=[a-z_]+ = )", "", EXAMPLE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def keys(tree: Mapping[str, object], place: str = "") -> Iterator[str]:
    """List the dotted keys of a TOML document."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from keys(value, f"{place}{name}.")
        else:
            yield place + name


def test_the_example_as_it_is_changes_nothing() -> None:
    """Copied to `interlock.toml`, it leaves every default in force, today's and tomorrow's."""
    found = load(EXAMPLE, {}, {})
    assert found.settings == Settings()
    assert set(found.origins.values()) == {"default"}


def test_the_example_names_every_setting_once() -> None:
    """No key is missing, none has outlived its setting; the token alone has no place in a file."""
    named = [key for key in keys(tomllib.loads(uncommented())) if not key.startswith("cogs.")]
    assert sorted(named) == sorted(
        key
        for key in map(".".join, leaves(Settings))
        if key not in {"discord.token", *NAMING_TABLES}
    )


def test_the_example_shows_each_settings_default(tmp_path: Path) -> None:
    """Uncommented, it loads to the defaults, but for keys that are marked to have none."""
    without_default = re.compile(r"^#[a-z_]+ = .*# default: none$\n", re.MULTILINE)
    text = EXAMPLE.read_text(encoding="utf-8")
    assert {line.split(" ")[0] for line in without_default.findall(text)} == {
        "#token_file",
        "#shard_count",
        "#shards",
        "#api",
        "#gateway",
    }
    shown = tmp_path / "shown.toml"
    shown.write_text(
        re.sub(r"^#(?=[a-z_]+ = )", "", without_default.sub("", text), flags=re.MULTILINE),
        encoding="utf-8",
    )
    settings = load(shown, {}, {}).settings
    assert settings.model_dump(exclude={"cogs"}) == Settings().model_dump(exclude={"cogs"})


def test_what_the_example_shows_for_keys_without_a_default_is_accepted(tmp_path: Path) -> None:
    """Whoever takes the # away gets what the line promises."""
    shown = tmp_path / "shown.toml"
    shown.write_text(re.sub(r"^token_file.*$", "", uncommented(), flags=re.MULTILINE))
    discord = load(shown, {}, {}).settings.discord
    assert (discord.shard_count, discord.shards) == (16, (0, 1, 2, 3))


def test_the_example_shows_the_chat_cogs_settings_too() -> None:
    """Its table belongs to the cog, and is checked against the cog's own model."""
    shown = tomllib.loads(uncommented())["cogs"]
    assert shown == {"chat": ChatSettings().model_dump()}


def test_each_key_of_the_example_has_a_word_of_why_before_it() -> None:
    """A comment stands before each key or each group of keys that belong together."""
    blocks = re.split(r"\n\s*\n", EXAMPLE.read_text(encoding="utf-8"))
    for block in blocks:
        lines = [line for line in block.splitlines() if not line.startswith("[")]
        if any(re.match(r"#[a-z_]+ = ", line) for line in lines):
            assert lines[0].startswith("# "), block
