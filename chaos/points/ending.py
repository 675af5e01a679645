"""All that is left of a scenario, in the store and outside, so that two runs can be compared."""

import datetime as dt
from dataclasses import dataclass

from chaos.points.rehearsal import Rehearsal, named
from state import State
from state.keys import Owner, Scope
from state.outcomes import Placed, Started
from state.values import Changes, Claim, Could, Inbound, Policy

#: An inbound that is answered last, to see what state its turn is given.
PROBE = Inbound("probe", "eve", b"")

#: More entries and letters than any scenario has.
ALL = 1000


@dataclass(frozen=True, slots=True)
class Ending:
    """The end state."""

    state: bytes | None
    state_version: int
    transcript: tuple[bytes, ...]
    answers: tuple[bytes | None, ...]
    #: (ids, error, state) of each dead letter.
    dead: tuple[tuple[tuple[str, ...], str, bytes | None], ...]
    newest: bytes | None
    turns: int
    #: (turn, page) of each visible message, in order.
    shown: tuple[tuple[bytes, int], ...]
    #: Keys of the effects that ran.
    effects: frozenset[str]
    pending: bool


def ending_of(rehearsal: Rehearsal, state: State) -> Ending:
    """Read what a rehearsal has left in *state* and outside, and clear the store of it."""
    read: Ending = rehearsal.ground.drive(_ending(rehearsal, state))
    return read


async def _ending(rehearsal: Rehearsal, state: State) -> Ending:
    where = rehearsal.scenario.conversation
    view, due = await state.view(where), await state.due(0, ALL)
    pending = view.turn is not None or view.wake is not None or where in due.conversations
    history = await state.history(where, limit=ALL)
    letters = (await state.dead_letters(where.owner)).letters
    answers = [await state.answer(where, one) for one in rehearsal.scenario.messages]
    newest = await state.get(Scope(where.owner), "newest")
    # A scenario may go on past midnight.
    days = {dt.datetime.fromtimestamp(at, dt.UTC) for at in (rehearsal.epoch, rehearsal.now)}
    dates = {day.date().isoformat() for day in days}
    usage = [await state.usage(where.owner, date) for date in dates]
    given = await _probed(rehearsal, state)
    # What is left would only slow the runs down that follow.
    while not (await state.forget(Owner(where.owner))).done:
        pass
    shown = ((named(posted.turn.encode()), posted.number) for posted in rehearsal.discord.posted)
    return Ending(
        given.state,
        given.state_version,
        tuple(entry.payload for entry in history),
        tuple(answers),
        tuple((tuple(i.id for i in one.inbounds), one.error, one.state) for one in letters),
        newest,
        sum(day.get("turns", 0) for day in usage),
        tuple(shown),
        frozenset(rehearsal.discord.effects),
        pending,
    )


async def _probed(rehearsal: Rehearsal, state: State) -> Started:
    """Start one more turn and end it; what it was given tells the stored state."""
    where = rehearsal.scenario.conversation
    claim, trigger = Claim(5.0), Could(trigger=True)
    placed = await state.admit(where, PROBE, trigger, Policy(), op=rehearsal.op(), claim=claim)
    started = placed.turnover.started if isinstance(placed, Placed) else None
    if started is None:
        raise AssertionError(f"{rehearsal.scenario.name}: the probe was answered {placed}")
    await state.commit(started.lease, Changes(), op=rehearsal.op(), claim=None)
    return started
