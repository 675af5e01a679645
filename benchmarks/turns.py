"""Our own turns, as the bot makes them, without Discord and a responder."""

import itertools
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from benchmarks.measure import Cycle
from state import DEFAULT_PARTITIONS, State, connect
from state.outcomes import Placed, Started, Turnover
from state.values import Changes, Claim, Conversation, Could, Inbound, Policy

#: As the bot's settings are without a file.
CLAIM = Claim(15.0, by="benchmark")

_TRIGGER = Could(trigger=True)
_ROOMY = Policy(inbox=1000, per_person=1000)
_NOTHING = Changes()
_ONE_STEP = Changes(asked=frozenset({("model", "0")}))

#: Bytes of a short message with its author and what it replies to, packed by the bot.
_PAYLOAD = b"m" * 250
#: Bytes of a model's short answer, recorded as a step, and of a page's intent.
_ANSWER = b"a" * 200

#: Discord's ids: milliseconds since 2015 in the upper bits, so that marks lie in today's buckets.
_ids = itertools.count((int(time.time() * 1000) - 1_420_070_400_000) << 22)


def conversation_of(number: int) -> Conversation:
    """Return the conversation of that number, each in a guild of its own."""
    return Conversation(f"guild/{10**17 + number}", str(10**18 + number))


#: As many as any measurement lets speak at once.
CONVERSATIONS = tuple(conversation_of(number) for number in range(200))


def new_id() -> str:
    """Return an id that no message had."""
    return str(next(_ids))


def new_op() -> str:
    """Return an operation id, made as the bot makes it."""
    return secrets.token_hex(16)


@asynccontextmanager
async def opened(
    url: str, *, prefix: str = "benchmark", partitions: int = DEFAULT_PARTITIONS
) -> AsyncIterator[State]:
    """Open a store as the bot does."""
    state = connect(url, prefix=prefix, partitions=partitions)
    await state.open()
    try:
        yield state
    finally:
        await state.close()


async def admitted(state: State, conversation: Conversation) -> Started | None:
    """Admit a message; answer the turn that it starts, None if it waits."""
    message = Inbound(new_id(), "30", _PAYLOAD)
    answer = await state.admit(conversation, message, _TRIGGER, _ROOMY, op=new_op(), claim=CLAIM)
    assert isinstance(answer, Placed), answer
    return answer.turnover.started


async def begun(state: State, conversation: Conversation) -> Started:
    """Admit a message that starts a turn."""
    started = await admitted(state, conversation)
    assert started is not None, f"{conversation} was not free"
    return started


async def ended(state: State, turn: Started, changes: Changes = _NOTHING) -> Started | None:
    """Commit a turn; answer the next one, which the commit has started."""
    answer = await state.commit(turn.lease, changes, op=new_op(), claim=CLAIM)
    assert isinstance(answer, Turnover), answer
    return answer.started


def short_cycle(state: State, speaking: Sequence[Conversation] = CONVERSATIONS) -> Cycle:
    """Admit and commit: what a lock with duplicates taken out would do for a message."""

    async def cycle(number: int) -> None:
        await ended(state, await begun(state, speaking[number]))

    return cycle


def full_cycle(state: State, speaking: Sequence[Conversation] = CONVERSATIONS) -> Cycle:
    """Admit, record a step, record a page before and after it is sent, commit."""

    async def cycle(number: int) -> None:
        turn = await begun(state, speaking[number])
        await state.record(turn.lease, "model", "0", _ANSWER)
        await state.page(turn.lease, 0, 0, _ANSWER)
        await state.posted(turn.lease, 0, 0, new_id())
        await ended(state, turn, _ONE_STEP)

    return cycle
