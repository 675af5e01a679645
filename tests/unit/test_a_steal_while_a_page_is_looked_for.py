"""The lease is stolen between the store's word and a page's create: the create is not sent."""

import pytest

from bot.speaking import Rejected
from state.errors import LeaseLost
from state.values import Page
from tests.unit.fake_store import Trouble
from tests.unit.fake_turn import HeldTurn
from tests.unit.fakes import Fault


def steal(turn: HeldTurn, error: Exception | None = None) -> Fault:
    """Give the lease to another holder while a request of ours is on its way."""
    turn.store.plan = lambda _number, _name: Trouble.LEASE_LOST
    return Fault(error)


async def test_a_steal_while_a_page_is_looked_for_is_noticed_before_it_is_sent() -> None:
    """Reading a channel takes time, so the store is asked after it, right before the create."""
    turn = await HeldTurn(Page(0, 0, b"hello")).begin()
    turn.discord.plan = lambda _number, _method: steal(turn)
    with pytest.raises(LeaseLost):
        await turn.create(0)
    assert [request.method for request in turn.discord.requests] == ["recent"]


async def test_a_steal_while_a_page_is_refused_is_noticed_before_its_plainer_form_is_sent() -> None:
    """Each create asks anew, whatever the one before it has come to."""
    turn = await HeldTurn().begin()
    turn.discord.plan = lambda _number, _method: steal(turn, Rejected(403, 160002))
    with pytest.raises(LeaseLost):
        await turn.create(0)
    assert [request.method for request in turn.discord.requests] == ["create"]
