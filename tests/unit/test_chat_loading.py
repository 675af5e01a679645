"""What the chat cog says when its settings cannot work, at load and in one line."""

import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import discord
import pytest
from discord.ext import commands

from bot.config import Settings
from bot.errors import ConfigInvalid, StartupFailed
from cogs import chat
from cogs.chat_models import ChatSettings

if TYPE_CHECKING:
    from bot.client import Interlock

ROOT = Path(__file__).parents[2]


class Unconnected(commands.Bot):
    """A bot that loads cogs and goes nowhere."""

    def __init__(self) -> None:
        super().__init__(command_prefix=(), intents=discord.Intents.none())
        self.settings = Settings()


@pytest.fixture
async def bot() -> AsyncIterator[Unconnected]:
    """Give a bot with the default settings, and unload its cogs afterwards."""
    bot = Unconnected()
    yield bot
    await bot.close()


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "OLLAMA"):
        monkeypatch.delenv(f"{provider}_API_KEY", raising=False)
        monkeypatch.delenv(f"{provider}_BASE_URL", raising=False)


async def load(bot: Unconnected, **keys: object) -> None:
    """Set up the cog with these keys in its table."""
    bot.settings = Settings.model_validate({"cogs": {"chat": keys}})
    await chat.setup(cast("Interlock", bot))


async def complaint(bot: Unconnected, **keys: object) -> str:
    """Answer the one line that loading with these keys ends in."""
    with pytest.raises(StartupFailed) as raised:
        await load(bot, **keys)
    (line,) = raised.value.lines
    assert "\n" not in line
    assert bot.get_cog("Chat") is None
    return line


async def test_a_model_makes_the_cog(bot: Unconnected) -> None:
    """With a model that can be had, the cog is there, and nothing has been connected yet."""
    await load(bot, model="openai:x", base_url="http://127.0.0.1:9/v1")
    assert bot.get_cog("Chat") is not None


async def test_the_extension_loads_by_its_name(bot: Unconnected) -> None:
    """discord.py loads and unloads it as it does any extension."""
    bot.settings = Settings.model_validate(
        {"cogs": {"chat": {"model": "openai:x", "base_url": "http://127.0.0.1:9/v1"}}}
    )
    await bot.load_extension("cogs.chat")
    assert bot.get_cog("Chat") is not None
    await bot.unload_extension("cogs.chat")
    assert bot.get_cog("Chat") is None


async def test_without_a_model_the_cog_waits_for_one(
    bot: Unconnected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the extra `ai` installed or not: one may be set while the bot runs."""
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.delitem(sys.modules, "cogs.chat_model", raising=False)
    await load(bot)
    assert bot.get_cog("Chat") is not None


def test_importing_the_extension_imports_no_pydantic_ai() -> None:
    """Whoever sets no model neither needs pydantic-ai nor waits for it."""
    probe = "import sys, cogs.chat; sys.exit('pydantic_ai' in sys.modules)"
    subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True)


async def test_the_missing_extra_is_named(
    bot: Unconnected, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a model but without pydantic-ai, the line says what to install."""
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.delitem(sys.modules, "cogs.chat_model", raising=False)
    line = await complaint(bot, model="openai:x")
    assert line == ('cogs.chat.model: "openai:x" needs the extra "ai"; run: pip install -e ".[ai]"')


async def test_chat_as_the_responder_needs_a_model(bot: Unconnected) -> None:
    """Naming the cog without naming a model is caught at load, not at the first message."""
    bot.settings = Settings.model_validate({"conversation": {"responder": "Chat"}})
    with pytest.raises(StartupFailed, match=r"^cogs\.chat\.model: is empty; write one such as"):
        await chat.setup(cast("Interlock", bot))


async def test_each_model_that_cannot_be_had_is_told_with_its_place(bot: Unconnected) -> None:
    """All at once; a place that names Chat needs a model there, and may have one of its own."""
    own = {"cogs": {"chat": {"model": "openai:x", "base_url": "http://127.0.0.1:9/v1"}}}
    bot.settings = Settings.model_validate(
        {
            "guilds": {"1": {"cogs": {"chat": {"model": "opnai:x"}}}},
            "categories": {"2": {"responder": "Chat", **own}},
            "channels": {"3": {"responder": "Chat"}, "4": {"responder": "Echo"}},
        }
    )
    with pytest.raises(ConfigInvalid) as raised:
        await chat.setup(cast("Interlock", bot))
    assert list(raised.value.lines) == [
        (
            'guilds.1.cogs.chat.model: "opnai:x": there is no provider "opnai";'
            ' did you mean "openai"?'
        ),
        'channels.3.cogs.chat.model: is empty; write one such as "openai:gpt-5.2"',
    ]


@pytest.mark.parametrize("model", ["gpt-5.2", "openai:", ":gpt-5.2", "openai gpt", "openai: x"])
async def test_a_name_without_provider_or_model_is_refused(bot: Unconnected, model: str) -> None:
    """The line repeats what was written and shows what a name looks like."""
    line = await complaint(bot, model=model)
    assert "cogs.chat.model" in line
    assert f'"{model}" names no model; write provider:name, such as "openai:gpt-5.2"' in line


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        ("opnai:gpt-5.2", 'there is no provider "opnai"; did you mean "openai"?'),
        ("olama:llama3.3", 'there is no provider "olama"; did you mean "ollama"?'),
        ("qqq:x", 'there is no provider "qqq"; write one such as "openai" or "anthropic"'),
        ("openai:gpt-5.2", "set OPENAI_API_KEY in the environment"),
        ("anthropic:claude", "set ANTHROPIC_API_KEY in the environment"),
        ("ollama:llama3.3", "set cogs.chat.base_url, or OLLAMA_BASE_URL in the environment"),
    ],
)
async def test_a_model_that_cannot_be_had_is_told_at_load(
    bot: Unconnected, model: str, advice: str
) -> None:
    """The line names the setting, its value and what to do."""
    assert await complaint(bot, model=model) == f'cogs.chat.model: "{model}": {advice}'


async def test_a_providers_missing_library_is_named(bot: Unconnected) -> None:
    """A provider that the extra does not bring says which library it needs."""
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("groq")
    line = await complaint(bot, model="groq:x")
    assert line.startswith('cogs.chat.model: "groq:x": Please install the `groq` package')


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "ollama"])
async def test_a_server_of_ones_own_needs_no_key(bot: Unconnected, provider: str) -> None:
    """With `base_url` set, a missing key is no reason to refuse."""
    await load(bot, model=f"{provider}:x", base_url="http://127.0.0.1:9/v1")
    assert bot.get_cog("Chat") is not None


async def test_a_provider_with_one_address_refuses_another(bot: Unconnected) -> None:
    """A `base_url` that would be ignored is refused instead."""
    line = await complaint(bot, model="deepseek:x", base_url="http://127.0.0.1:9/v1")
    assert line == (
        'cogs.chat.model: "deepseek:x": '
        "this provider has one address only; leave cogs.chat.base_url empty"
    )


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://there", "http://", "http://[", "/v1"])
async def test_a_base_url_that_is_none_is_refused(bot: Unconnected, address: str) -> None:
    """The line shows the address and how one begins."""
    line = await complaint(bot, model="openai:x", base_url=address)
    assert "cogs.chat.base_url" in line


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"max_history": -1}, "cogs.chat.max_history"),
        ({"max_history": "many"}, "cogs.chat.max_history"),
        ({"modell": "openai:x"}, "cogs.chat.model"),
        ({"instructions": 3}, "cogs.chat.instructions"),
    ],
)
async def test_a_wrong_key_is_named(bot: Unconnected, keys: dict[str, object], key: str) -> None:
    """Types, bounds and spelling are checked like those of the bot's own settings."""
    with pytest.raises(ConfigInvalid, match=re.escape(key)):
        await load(bot, **keys)


def test_the_example_names_the_cogs_keys_with_their_defaults() -> None:
    """`config.example.toml` shows the table as it is."""
    text = (ROOT / "config.example.toml").read_text(encoding="utf-8")
    shown = tomllib.loads(re.sub(r"^#(?=[a-z_]+ = )", "", text, flags=re.MULTILINE))
    assert shown["cogs"]["chat"] == ChatSettings().model_dump()
