"""Every promise of the port, over a real Redis."""

import pytest

from state.contract import checks
from state.contract.factory import Clock, PrefixFactory
from state.contract.scene import ELSEWHERE, HERE, THERE, begin, due, everything, message, op
from state.contract.test_forgetting import SECRET, all_forgotten, filled
from state.keys import Owner
from state.outcomes import Due
from tests.leftovers import Keyspace

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


def values_in(keyspace: Keyspace) -> dict[str, bytes]:
    """Return all values of a test's part of the server, as the server keeps them, by their keys."""
    client = keyspace._client
    client.config_set("rdbcompression", "no")  # else a dump hides its words
    names = keyspace.keys()
    return {name: client.dump(name) or b"" for name in names}


async def test_forgetting_an_owner_leaves_nothing_of_it_on_the_server(
    redis_url: str, redis_prefix: str, redis_keys: Keyspace
) -> None:
    """
    No value holds a word of it, and nothing names it but its usage.

    And that it was forgotten, so that what was seen before is new again. Contract 70, 72.
    """
    state = PrefixFactory(redis_url, redis_prefix).make(Clock())
    await state.open()
    for home in (HERE, THERE, ELSEWHERE):
        await filled(state, home)
    assert SECRET in b"".join(values_in(redis_keys).values())
    for owner in (HERE.owner, ELSEWHERE.owner):
        await all_forgotten(state, Owner(owner), 1)
        naming = {
            key.partition("}:")[2]
            for key, value in values_in(redis_keys).items()
            if owner in key or owner.encode() in value
        }
        assert naming == {f"usage:{owner}", "gone"}
    assert SECRET not in b"".join(values_in(redis_keys).values())
    await state.close()
