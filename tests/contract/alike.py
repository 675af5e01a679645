"""Make the answers of two adapters comparable: equal but for what each may choose itself."""

import asyncio
from dataclasses import fields, is_dataclass

from state import State
from state.contract.scene import ALL
from state.outcomes import Entry, Placed, Signalled, Started, Superseding, Turnover, View
from state.partition import partition_of
from state.values import Conversation, Lease


def alike(value: object) -> object:
    """
    Return *value* as plain lists, without the numbers of tokens and entries.

    Those only have to grow. Seconds are told to the millisecond, since a float's last digits depend
    on the order of a division.
    """
    match value:
        case float():
            return round(value, 3)
        case tuple() | list() | frozenset():
            return [alike(each) for each in value]
        case Entry():
            return value.payload
        case _ if is_dataclass(value):
            named = [(field.name, getattr(value, field.name)) for field in fields(value)]
            plain = [without_number(v) if name == "token" else alike(v) for name, v in named]
            return [type(value).__name__, *plain]
        case _:
            return value


def without_number(token: str | None) -> str | None:
    """Return the part of a token that its caller chose."""
    return token.partition("-")[2] if token else token


def granted(answer: object) -> Lease | None:
    """Return the lease that an answer grants, if it starts a turn."""
    match answer:
        case Turnover(started=Started(lease=lease)) | (Lease() as lease):
            return lease
        case Placed() | Superseding() | Signalled():
            return granted(answer.turnover)
        case _:
            return None


async def visible(state: State, homes: tuple[Conversation, ...]) -> object:
    """Read all that can be read of *homes*, and check what must hold of it in any adapter."""
    views = dict(zip(homes, await asyncio.gather(*map(state.view, homes)), strict=True))
    histories = await asyncio.gather(*(state.history(home, limit=ALL) for home in homes))
    for history in histories:
        numbers = [entry.number for entry in history]
        assert numbers == sorted(set(numbers)), numbers
    found = []
    partitions = sorted({partition_of(home.owner, state.partitions) for home in homes})
    for due in await asyncio.gather(*(state.due(number, ALL) for number in partitions)):
        wakes = [wake_of(views[home]) for home in due.conversations]
        assert wakes == sorted(wakes), wakes
        found.append(sorted(map(repr, (*due.conversations, *due.signals))))
    owners = sorted({home.owner for home in homes})
    kept = [
        ((await state.dead_letters(owner)).letters, (await state.schedules(owner)).timers)
        for owner in owners
    ]
    return alike([list(views.values()), histories, found, kept])


def wake_of(view: View) -> float:
    """Return the wake of a conversation that is due, and so has one."""
    assert view.wake is not None
    assert view.wake <= 0
    return view.wake


async def followed(state: State) -> list[str]:
    """List what is followed, in small pages."""
    names: list[str] = []
    cursor = None
    while True:
        page = await state.subscriptions(cursor, 2)
        names += map(repr, page.conversations)
        cursor = page.cursor
        if cursor is None:
            return sorted(names)
