"""A cog as its author hands it to a test: a class, an instance, or the extension that adds it."""

import importlib
import inspect
from types import ModuleType
from typing import cast

from discord.ext import commands

from bot import extensions
from bot.client import Interlock
from bot.errors import ResponderInvalid
from bot.responders import Responder

#: What `Conversation` takes for a cog. A name is that of a module, found in the settings'
#: `extension_paths` too.
Cog = commands.Cog | type[commands.Cog] | ModuleType | str


async def add(bot: Interlock, cog: Cog) -> str:
    """Add *cog* to *bot*, its `cog_load` included; answer the name of the responder in it."""
    extensions.add_paths(bot.settings.extension_paths)
    if isinstance(cog, str):
        cog = importlib.import_module(cog)
    if isinstance(cog, ModuleType):
        await cog.setup(bot)
    else:
        await bot.add_cog(_made(cog, bot) if isinstance(cog, type) else cog)
    return _responder(bot)


def _made(cog: type[commands.Cog], bot: Interlock) -> commands.Cog:
    """Make one, which may want the bot, as extensions hand it over."""
    wanted = inspect.signature(cog).parameters
    return cast("type[object]", cog)(bot) if wanted else cog()  # type: ignore[call-arg, return-value]


def _responder(bot: Interlock) -> str:
    """The configured responder, else the only one there is."""
    if name := bot.settings.conversation.responder:
        bot.responder(name)
        return name
    able = [name for name, cog in bot.cogs.items() if isinstance(cog, Responder)]
    if len(able) != 1:
        found = ", ".join(able) or ", ".join(bot.cogs)
        raise ResponderInvalid(
            f"a conversation needs one cog with respond(turn), found: {found or 'no cog'};"
            " of several, name one by conversation.responder in settings"
        )
    bot.responder(able[0])
    return able[0]
