"""What a store holds that somebody may have to look at: turns, what waits, what was given up."""

import asyncio
from dataclasses import dataclass

from bot.inbound import Person
from bot.notices import readable
from state.listings import DeadLetter
from state.ports import State
from state.values import Conversation

#: Conversations looked at per partition, the earliest wake first.
MOST = 200

#: Seconds ahead within which every wake comes, that of a timer for next year too.
EVER = 1e9


@dataclass(frozen=True, slots=True)
class Busy:
    """One conversation with something to do."""

    conversation: Conversation
    #: Who is being answered; empty when no turn has begun.
    answering: tuple[Person, ...]
    #: Seconds since the turn began.
    age: float
    #: Whether a process holds the turn; else it is due to be taken up, or retried.
    held: bool
    waiting: int
    #: Seconds until somebody looks again: the lease's end while it is held.
    wake: float | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A store at one moment, the longest turn first."""

    busy: tuple[Busy, ...]
    dead_letters: int

    @property
    def held(self) -> int:
        """Turns that a process is at work on."""
        return sum(one.held for one in self.busy)

    @property
    def left(self) -> int:
        """Turns that wait for somebody to take them up, or for their next attempt."""
        return sum(bool(one.answering) and not one.held for one in self.busy)

    @property
    def waiting(self) -> int:
        """Messages that wait."""
        return sum(one.waiting for one in self.busy)

    @property
    def timers(self) -> int:
        """Conversations that nothing but a timer will wake."""
        return sum(not one.answering and not one.waiting for one in self.busy)


async def look(state: State) -> Overview:
    """Look at all of *state*, at most `MOST` conversations of each partition."""
    dues = await asyncio.gather(
        *(state.due(partition, MOST, ahead=EVER) for partition in range(state.partitions))
    )
    found = [conversation for due in dues for conversation in due.conversations]
    busy = [await _busy(state, conversation) for conversation in found]
    busy.sort(key=lambda one: (-one.age, one.conversation.id))
    return Overview(tuple(busy), len(await letters(state)))


async def _busy(state: State, conversation: Conversation) -> Busy:
    view = await state.view(conversation)
    turn = view.turn
    people = {message.author for message in readable(turn.inbounds)} if turn else set[Person]()
    return Busy(
        conversation,
        tuple(sorted(people, key=lambda person: person.name)),
        turn.age if turn else 0.0,
        bool(turn and turn.live),
        len(view.waiting),
        view.wake,
    )


async def letters(state: State, owner: str | None = None) -> list[DeadLetter]:
    """List the dead letters of *owner*, or of all."""
    found: list[DeadLetter] = []
    cursor: str | None = None
    while True:
        page = await state.dead_letters(owner, cursor)
        found += page.letters
        if (cursor := page.cursor) is None:
            return found
