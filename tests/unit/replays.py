"""A turn whose process dies at the last moment, and the replay of it by another."""

from bot.inbound import Message
from tests.unit.fake_process import Process, Respond, Script, running
from tests.unit.fake_store import Store, Trouble
from tests.unit.fakes import Discord, message


async def ask(bot: Process, text: str = "a", **facts: object) -> Message:
    """Ask something and wait until nothing runs any more."""
    await bot.hears(asked := message(text, **facts))  # type: ignore[arg-type]
    await bot.settles()
    return asked


async def replayed(
    first: Respond,
    second: Respond,
    *,
    discord: Discord | None = None,
    asked: Message | None = None,
) -> tuple[Store, Discord]:
    """Let a process die at the commit of its turn, and another one replay it."""
    store, discord = Store(), discord or Discord()
    store.plan = lambda _number, name: Trouble.LEASE_LOST if name == "commit" else None
    async with running(Script(first), store=store, discord=discord) as bot:
        await bot.hears(asked or message("a"))
        await bot.settles()
    store.clock.now += 16
    async with running(Script(second), store=store.another(), discord=discord) as bot:
        await bot.wakes.sweep()
        await bot.settles()
    return store, discord
