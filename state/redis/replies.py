"""
What the scripts answer: replies become outcomes.

A reply is a flat list of bytes, integers and None; `Reply` reads it from the front. An inbound is
`<admitted> <id> <author> <held back until> <gather> <joins> <payload>`; several strings in one are
`<length>:<string>` each. What a turn recorded lies in fields of its hash: `S:` steps, `P:` pages,
`M:` their message ids, `T:` takes, each value after its place in the order of recording.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from state.listings import DeadLetter, Scheduled
from state.outcomes import Placed, Running, Settled, Started, Turnover
from state.values import (
    CatchUp,
    Claim,
    Conversation,
    Inbound,
    Lease,
    Outcome,
    Page,
    Signal,
    SignalKind,
    Step,
    Timer,
)


class Reply:
    """Read a flat reply from the front."""

    __slots__ = ("_at", "_items")

    def __init__(self, items: list[Any]) -> None:
        """Start at the first of *items*."""
        self._items = items
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._items)

    def next(self) -> Any:  # noqa: ANN401 (each place of a reply has a type of its own)
        """Return the next item."""
        self._at += 1
        return self._items[self._at - 1]

    def rest(self) -> list[Any]:
        """Return all that is left."""
        left, self._at = self._items[self._at :], len(self._items)
        return left

    def text(self) -> str:
        """Return the next item as text."""
        text: str = self.next().decode("utf-8", "surrogatepass")
        return text

    def optional_text(self) -> str | None:
        """Return the next item as text, or None."""
        item: bytes | None = self.next()
        return None if item is None else item.decode("utf-8", "surrogatepass")

    def number(self) -> int:
        """Return the next item as a whole number."""
        return int(self.next())

    def many(self) -> list[Any]:
        """Return as many items as the next one says."""
        count = self.number()
        self._at += count
        return self._items[self._at - count : self._at]

    def inbounds(self) -> tuple[Inbound, ...]:
        """Return as many inbounds as the next item says."""
        return tuple(inbound(raw) for raw in self.many())

    def turnover(self, conversation: Conversation) -> Turnover:
        """Return what a hand-over settled and started; it ends the reply."""
        settled = tuple(self._settled() for _ in range(self.number()))
        return Turnover(self._started(conversation) if self else None, settled)

    def _settled(self) -> Settled:
        outcome, kind = Outcome(self.text()), self.next()
        if kind == b"inbox":
            return Settled(outcome, self.inbounds())
        turn = Turn(self.many())
        return Settled(outcome, turn.all_inbounds, turn.id, turn.pages_as_recorded())

    def _started(self, conversation: Conversation) -> Started:
        token, expires, granted = self.text(), self.number(), self.number()
        state, version = self.next(), int(self.next() or 0)
        turn = Turn(self.many())
        return Started(
            Lease(conversation, turn.id, token, expires // 1000),
            turn.inbounds,
            steps=turn.steps(),
            pages=turn.pages(),
            attempts=turn.number(b"attempts"),
            followups=turn.number(b"followups"),
            carry=turn.fields.get(b"carry"),
            signal=turn.pending,
            state=state,
            state_version=version,
            waited=(granted - turn.admitted) / 1e6,
        )


def own_turn(
    reply: bytes | list[Any], conversation: Conversation, inbound: Inbound, op: str, claim: Claim
) -> Placed:
    """Return the new turn that *inbound* made at once."""
    told, state, version = reply, None, 0
    if isinstance(told, list):
        _, told, state, version = told
    number, granted = told.decode().split(" ")
    expires = int(granted) + int(claim.seconds * 1e6)
    lease = Lease(conversation, inbound.id, f"{number}-{op}", expires // 1000)
    if state is None:
        return Placed(0, Turnover(Started(lease, (inbound,))))
    started = Started(lease, (inbound,), state=state, state_version=int(version))
    return Placed(0, Turnover(started))


class Turn:
    """The fields of a stored turn."""

    __slots__ = ("admitted", "begun", "fields", "id", "lead")

    def __init__(self, flat: Sequence[bytes]) -> None:
        """Take fields and values in turn, as HGETALL gives them."""
        self.fields = dict(zip(flat[::2], flat[1::2], strict=True))
        turn, lead, admitted, begun, _ = self.fields[b"turn"].decode().split(" ", 4)
        self.id, self.lead, self.admitted, self.begun = turn, lead, int(admitted), int(begun)

    def number(self, field: bytes) -> int:
        """Return a count, 0 before it was first written."""
        return int(self.fields.get(field, 0))

    @property
    def inbounds(self) -> tuple[Inbound, ...]:
        """Those that the turn was made of."""
        return inbounds_in(self.fields[b"inbounds"])

    @property
    def all_inbounds(self) -> tuple[Inbound, ...]:
        """Those it was made of, then those it took."""
        taken = (inbounds_in(value) for _, value in self._recorded(b"T:"))
        return self.inbounds + tuple(inbound for took in taken for inbound in took)

    @property
    def pending(self) -> SignalKind | None:
        """The request that waits for the turn."""
        signal = self.fields.get(b"signal")
        return SignalKind(signal.partition(b" ")[0].decode()) if signal else None

    def steps(self) -> tuple[Step, ...]:
        """In the order in which they were recorded."""
        return tuple(Step(*step_named(field), value) for field, value in self._recorded(b"S:"))

    def pages_as_recorded(self) -> tuple[Page, ...]:
        """In the order in which they were recorded."""
        return tuple(self._page(field, intent) for field, intent in self._recorded(b"P:"))

    def pages(self) -> tuple[Page, ...]:
        """In the order in which they are read."""
        return tuple(sorted(self.pages_as_recorded(), key=lambda page: (page.number, page.issue)))

    def running(self, now: int, *, live: bool) -> Running:
        """Show the turn to others."""
        age, token = (now - self.begun) / 1e6, self.fields[b"token"].decode() if live else None
        return Running(self.id, self.lead, self.all_inbounds, age, live, self.pending, token)

    def _page(self, field: bytes, intent: bytes) -> Page:
        number, _, issue = field.partition(b":")
        message = self.fields.get(b"M:" + field)
        return Page(int(number), int(issue), intent, None if message is None else message.decode())

    def _recorded(self, kind: bytes) -> Iterator[tuple[bytes, bytes]]:
        placed = [
            (*value.split(b" ", 1), field[2:])
            for field, value in self.fields.items()
            if field[:2] == kind
        ]
        for _, value, field in sorted(placed, key=lambda item: int(item[0])):
            yield field, value


def without_place(recorded: bytes) -> bytes:
    """Return what was recorded, without its place."""
    return recorded.partition(b" ")[2]


def unframed(framed: bytes) -> list[bytes]:
    """Return the strings in one."""
    found: list[bytes] = []
    at = 0
    while at < len(framed):
        colon = framed.index(b":", at)
        at = colon + 1 + int(framed[at:colon])
        found.append(framed[colon + 1 : at])
    return found


def inbound(raw: bytes) -> Inbound:
    """Read one inbound."""
    _, name, author, _, _, _, payload = raw.split(b" ", 6)
    return Inbound(name.decode(), author.decode(), payload)


def inbounds_in(framed: bytes) -> tuple[Inbound, ...]:
    """Read framed inbounds."""
    return tuple(inbound(raw) for raw in unframed(framed))


def step_named(field: bytes) -> tuple[str, str]:
    """Read name and key of a step's field, without its kind."""
    length, _, rest = field.partition(b":")
    name, key = rest[: int(length)], rest[int(length) :]
    return name.decode("utf-8", "surrogatepass"), key.decode("utf-8", "surrogatepass")


def drift(items: Sequence[bytes]) -> tuple[tuple[str, str], ...]:
    """Name the steps of a drift, fields and values in turn, in the order of their recording."""
    placed = sorted(zip(items[::2], items[1::2], strict=True), key=lambda step: place_of(step[1]))
    return tuple(step_named(field[2:]) for field, _ in placed)


def place_of(recorded: bytes) -> int:
    """Return the place of what was recorded."""
    return int(recorded.partition(b" ")[0])


def signal_named(name: bytes) -> Signal:
    """Read a signal as the index and the hints name it."""
    owner, conversation, turn, kind, by = name.decode("utf-8", "surrogatepass").split(" ", 4)
    return Signal(Conversation(owner, conversation), turn, SignalKind(kind), by)


def scheduled(conversation: Conversation, timer: str, alarm: bytes, now: int) -> Scheduled:
    """Read an alarm as alarms.lua stores it."""
    generation, due, _, _, catch_up, delay, every, *given = alarm.split(b" ", 9)
    name, author, payload = given
    timer_given = Timer(
        timer,
        Inbound(name.decode(), author.decode(), payload),
        float(delay),
        None if every == b"*" else float(every),
        CatchUp(catch_up.decode()),
    )
    return Scheduled(conversation, timer_given, int(generation), (int(due) - now) / 1e6)


def dead_letter(conversation: Conversation, letter: str, stored: bytes, now: int) -> DeadLetter:
    """Read a dead letter as handover.lua stores it."""
    at, error, state, inbounds, *raw = unframed(stored)
    return DeadLetter(
        letter,
        conversation,
        inbounds_in(inbounds),
        error.decode("utf-8", "surrogatepass"),
        state[1:] if state[:1] == b"1" else None,
        raw[0] if raw else None,
        (now - int(at)) / 1e6,
    )
