"""What the README says is true: commands, settings, examples, words and links."""

import ast
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main

import sandbox.control
from bot.__main__ import app
from bot.config import Settings, load
from bot.config.sources import variable
from bot.endings import Ending
from tests.chat_turn import message, turn

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

PROMISE = (
    "an effect runs at least once and is visible once, within Discord's nonce window;"
    " the journal decides beyond it"
)


def blocks(language: str) -> list[str]:
    """List the blocks of code in one language."""
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert found
    return found


def section(title: str) -> str:
    """Answer what stands under a heading."""
    [text] = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)
    return str(text)


def rows(title: str) -> list[list[str]]:
    """List the cells of each row of the table under a heading, its head left out."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def prose() -> str:
    """Answer the text as it is read: lines joined, emphasis taken away."""
    return " ".join(README.replace("*", "").split())


def test_the_promise_stands_in_these_words() -> None:
    """Not rounded up to "exactly once", which nobody can keep."""
    assert PROMISE in prose()


def test_the_settings_table_names_real_keys_with_their_defaults() -> None:
    """Read as TOML, each default is the one in force."""
    table = rows("Settings")
    assert len(table) > 5
    text = "\n".join(f"{key.strip('`')} = {default.strip('`')}" for key, default, _ in table)
    assert Settings.model_validate(tomllib.loads(text)) == Settings()


@pytest.mark.parametrize("text", blocks("toml"))
def test_each_toml_block_loads(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a settings file of its own, with the folder that the text speaks of."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my").mkdir()
    (tmp_path / "interlock.toml").write_text(text, encoding="utf-8")
    loaded = load(None, {}, {})
    assert {origin for origin in loaded.origins.values() if origin != "default"} == {
        "interlock.toml"
    }


@pytest.mark.parametrize("text", blocks("python"))
def test_each_python_block_compiles(text: str) -> None:
    """A step is awaited, as inside a responder."""
    compile(text, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def options(command: Any) -> set[str]:  # noqa: ANN401 (click's, whose types typer hides)
    """List the flags of one command."""
    return {flag for parameter in command.params for flag in parameter.opts}


def test_the_commands_and_flags_exist() -> None:
    """Whoever types what stands here is not told "no such option"."""
    group = typer.main.get_command(app)
    known = getattr(group, "commands", {})
    commands = re.findall(
        r"interlock`? ?([a-z]+(?:-[a-z]+)*)(?=[` ])", " ".join(re.findall(r"`[^`]*`", README))
    )
    assert {"init", "run", "sandbox", "config", "check"} <= set(commands) <= set(known)
    flags = set(re.findall(r"(?<=[ `])--[a-z-]+", README)) - {"--pyargs"}  # pytest's
    assert flags
    assert flags <= {option for command in known.values() for option in options(command)}


def test_the_variable_of_a_setting_is_named_as_it_is_read() -> None:
    """One example stands for all."""
    assert set(re.findall(r"INTERLOCK_\w+", README)) == {variable("state.url")}


def test_what_a_turn_offers_is_told_in_full() -> None:
    """Every public name, neither more nor fewer, and a method as one."""
    [table] = re.findall(r"^### What a turn offers\n\n((?:\|.*\n)+)", README, re.MULTILINE)
    cells = [line.split("|")[1] for line in str(table).splitlines()[2:]]
    named = dict(re.findall(r"`(?:await )?(\w+)(\([^`]*\))?", " ".join(cells)))
    made = turn(message("hello"))
    public = {name for name in dir(made) if not name.startswith("_")}
    assert set(named) == public
    methods = {name for name in public if inspect.isroutine(getattr(made, name))}
    assert {name for name, arguments in named.items() if arguments} == methods


def test_the_control_api_is_described_as_it_is() -> None:
    """Each request that is named stands in the reference, which lies beside the routes."""
    reference = sandbox.control.__doc__ or ""
    named = re.findall(r"`(GET|POST|PATCH|DELETE|PUT) (/control/[\w/]+)", README)
    assert len(named) > 5
    for method, path in named:
        assert re.search(rf"^ +{method} +{path}\b", reference, re.MULTILINE), path
    for path, fields in re.findall(r"`POST (/control/\w+) \{(.*?)\}`", README):
        described = re.findall(rf"POST +{path}\b(.*?)(?=\n +[A-Z]{{3,}} |$)", reference, re.DOTALL)
        assert [one for one in fields.split(", ") if one not in " ".join(described)] == [], path


def test_the_glossarys_words_are_those_of_the_code() -> None:
    """One thing has one name, here and in the sources."""
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("bot", "state")
        for path in sorted((ROOT / folder).rglob("*.py"))
    )
    glossary = rows("Glossary")
    assert len(glossary) > 8
    for word, _ in glossary:
        name = word.replace(" ", "_?")
        assert re.search(rf"(?i)^ *(class|def|async def) \w*{name}", sources, re.MULTILINE), word
    [endings] = [meaning for word, meaning in glossary if word == "ending"]
    assert [ending for ending in Ending if ending.value not in endings] == []


def test_links_and_pictures_are_there() -> None:
    """Every relative target is a file of the repository."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).is_file()] == []
