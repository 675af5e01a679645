"""How much one person may ask a minute, and one owner a day."""

import datetime as dt
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from bot.insist import insist
from state.ports import State

#: The usage of an owner that counts its turns; every commit adds one.
TURNS = "turns"

#: Seconds over which a person's turns are counted, and within which they are told only once.
MINUTE = 60.0

#: Seconds for which an owner's usage is believed before it is read again. Relation: far below a
#: day, of which the cap may be exceeded by what one process hears in that time.
BELIEVED = 30.0

#: People, and owners, remembered at once; the ones heard longest ago are forgotten first.
REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Quota:
    """How many turns are allowed."""

    person_per_minute: int
    owner_per_day: int


class Over(Enum):
    """Which limit a message exceeds."""

    PERSON = auto()
    OWNER = auto()


@dataclass(slots=True)
class _Person:
    turns: deque[float]
    told: float = -MINUTE


@dataclass(slots=True)
class _Owner:
    turns: int
    read: float
    told: float = -MINUTE


class Rates:
    """The counts of this process; an owner's day is counted by the store, over all processes."""

    def __init__(self, state: State, quota: Callable[[], Quota]) -> None:
        """Allow as many turns as *quota* says when one is asked for."""
        self._state = state
        self._quota = quota
        self._people: dict[str, _Person] = {}
        self._owners: dict[str, _Owner] = {}

    async def over(self, author: str, owner: str) -> Over | None:
        """Count one more turn; or say which limit it exceeds, and count nothing."""
        quota, person = self._quota(), self._person(author)
        if len(person.turns) >= quota.person_per_minute:
            return Over.PERSON
        day = await self._owner(owner)
        if day.turns >= quota.owner_per_day:
            return Over.OWNER
        person.turns.append(time.monotonic())
        day.turns += 1
        return None

    def tell(self, author: str, owner: str, over: Over) -> bool:
        """Whether to say so now: once a minute, not for each message."""
        counted = self._person(author) if over is Over.PERSON else self._owners[owner]
        now = time.monotonic()
        if now - counted.told < MINUTE:
            return False
        counted.told = now
        return True

    def _person(self, author: str) -> _Person:
        """The turns of one person within the last minute."""
        person = self._people.pop(author, None) or _Person(deque())
        self._people[author] = person
        while len(self._people) > REMEMBERED:
            del self._people[next(iter(self._people))]
        while person.turns and person.turns[0] < time.monotonic() - MINUTE:
            person.turns.popleft()
        return person

    async def _owner(self, owner: str) -> _Owner:
        now = time.monotonic()
        known = self._owners.pop(owner, None)
        if known is None or now - known.read > BELIEVED:
            today = dt.datetime.now(dt.UTC).date().isoformat()
            usage = await insist(lambda: self._state.usage(owner, today))
            told = known.told if known else -MINUTE
            known = _Owner(usage.get(TURNS, 0), now, told)
        self._owners[owner] = known
        while len(self._owners) > REMEMBERED:
            del self._owners[next(iter(self._owners))]
        return known
