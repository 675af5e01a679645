"""Every promise of the port, over a real Redis."""

import pytest

from state.contract import checks
from state.contract.factory import Clock, PrefixFactory
from state.contract.scene import HERE, begin, due, everything, message, op
from state.outcomes import Due

globals().update(checks())


@pytest.fixture
def state_contract(redis_url: str, redis_prefix: str) -> PrefixFactory:
    """Give a prefix whose keys go with the test."""
    return PrefixFactory(redis_url, redis_prefix)


async def test_two_bots_on_one_server_do_not_meet(redis_url: str, redis_prefix: str) -> None:
    """Each under its prefix, also when one prefix begins with the other. Contract 65."""
    clock = Clock()
    bots = [PrefixFactory(redis_url, f"{redis_prefix}{end}").make(clock) for end in ("", "1", "-1")]
    for bot in bots:
        await bot.open()
    first, *others = bots
    for bot in others:
        assert (await begin(bot, message("m1"))).lease.turn == "m1"
    untouched = [await everything(bot) for bot in others]
    await begin(first, message("m1"))
    await first.subscribe(HERE)
    await first.kill(HERE, by="eve", op=op())
    assert [await everything(bot) for bot in others] == untouched
    assert await due(others[0]) == Due((), ())
    for bot in bots:
        await bot.close()
