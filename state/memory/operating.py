"""Dead letters, and forgetting."""

from dataclasses import replace

from state.keys import Author, Owner
from state.listings import DeadLetter, DeadLetters
from state.memory import handover
from state.memory.handle import Handle
from state.memory.records import Letter, Record, Waiting
from state.outcomes import (
    Forgetting,
)
from state.values import (
    Conversation,
    Inbound,
)


class Operating(Handle):
    """What operators do to a `Database`."""

    async def dead_letters(
        self, owner: str | None, cursor: str | None = None, limit: int = 200
    ) -> DeadLetters:
        """See `State.dead_letters`; the cursor is the last letter of the page, as it is sorted."""
        now = self._now()
        letters = sorted(
            (
                f"{conversation.owner} {conversation.id} {letter.at:020} {letter.id}",
                conversation,
                letter,
            )
            for record in self._all()
            for letter in record.dead
            if owner in (None, (conversation := record.conversation).owner)
        )
        rest = [entry for entry in letters if cursor is None or entry[0] > cursor]
        page = tuple(_shown(letter, where, now) for _, where, letter in rest[:limit])
        return DeadLetters(page, rest[len(page) - 1][0] if len(rest) > len(page) else None)

    async def requeue(self, conversation: Conversation, letter: str, *, op: str) -> bool:
        """See `State.requeue`."""
        now = self._now()
        first: bool | None = self._first_answer(conversation, op)
        if first is not None:
            return first
        record = self._record(conversation)
        found = next((one for one in record.dead if one.id == letter and one.inbounds), None)
        if found is not None:
            record.dead.remove(found)
            before: str | None = None
            for inbound in found.inbounds:
                record.inbox.append(Waiting(inbound, now, joins=before))
                before = inbound.id
            if record.turn is None and not record.held(now):
                handover.leave_wake(record, now)
        self._sweep(record)
        return self._answer(conversation, op, found is not None)

    async def discard(self, conversation: Conversation, letter: str) -> bool:
        """See `State.discard`."""
        self._now()
        record = self._record(conversation)
        before = len(record.dead)
        record.dead = type(record.dead)(one for one in record.dead if one.id != letter)
        discarded = len(record.dead) < before
        self._sweep(record)
        return discarded

    async def forget(
        self, target: Owner | Conversation | Author, *, limit: int = 200
    ) -> Forgetting:
        """See `State.forget`."""
        now = self._now()
        records = self._all()
        if isinstance(target, Author):
            return self._forget_author(
                target.id, [r for r in records if traces(r, target.id)], limit, now
            )
        mine = [r for r in records if target in (r.conversation, Owner(r.conversation.owner))]
        for record in mine:
            record.token = None
        for record in mine[:limit]:
            self._drop(record.conversation)
        done = len(mine) <= limit
        if done:
            self._drop_keys(target)
        self._mark(target, done=done)
        return Forgetting(done, min(len(mine), limit))

    def _forget_author(self, author: str, mine: list[Record], limit: int, now: int) -> Forgetting:
        for record in mine[:limit]:
            self._erase(record, author, now)
            self._sweep(record)
        done = len(mine) <= limit
        if done:
            self._db.keys = {k: v for k, v in self._db.keys.items() if k[0].person != author}
        self._mark(Author(author), done=done)
        return Forgetting(done, min(len(mine), limit))

    def _mark(self, target: Owner | Conversation | Author, *, done: bool) -> None:
        """Leave the tombstone until the last batch."""
        if done:
            self._db.tombstones.discard(target)
        else:
            self._db.tombstones.add(target)

    def _drop(self, conversation: Conversation) -> None:
        """Remove a conversation, what was seen in it and what was answered about it."""
        del self._db.records[conversation]
        self._db.seen = {k: v for k, v in self._db.seen.items() if k[0] != conversation}
        self._db.answers = {k: v for k, v in self._db.answers.items() if k[0] != conversation}

    def _drop_keys(self, target: Owner | Conversation) -> None:
        def belongs(owner: str, conversation: str | None) -> bool:
            if isinstance(target, Owner):
                return owner == target.id
            return owner == target.owner and conversation == target.id

        keys = self._db.keys
        self._db.keys = {
            k: v for k, v in keys.items() if not belongs(k[0].owner, k[0].conversation)
        }
        seen, answers = self._db.seen, self._db.answers
        self._db.seen = {k: v for k, v in seen.items() if not belongs(k[0].owner, k[0].id)}
        self._db.answers = {k: v for k, v in answers.items() if not belongs(k[0].owner, k[0].id)}

    def _erase(self, record: Record, author: str, now: int) -> None:
        """Remove one person's text from one conversation; end a turn that they take part in."""
        if record.turn is not None and record.turn.includes(author):
            others = tuple(i for i in record.turn.all_inbounds if i.author != author)
            handover.end_turn(record)
            record.inbox.extendleft(reversed([Waiting(inbound, now) for inbound in others]))
            record.wake = None
        record.withdraw(author)
        handover.relent(record)
        record.transcript = [line for line in record.transcript if line.author != author]
        record.dead = type(record.dead)(
            replace(letter, inbounds=kept)
            for letter in record.dead
            if (kept := _without(letter.inbounds, author)) or not names(letter, author)
        )
        record.alarms = {
            id_: alarm
            for id_, alarm in record.alarms.items()
            if alarm.timer.inbound.author != author
        }
        self._db.answers = {
            k: v for k, v in self._db.answers.items() if k[0] != record.conversation
        }
        handover.rewake(record, now)


def traces(record: Record, author: str) -> bool:
    """Whether anything of *author* is in that conversation."""
    return (
        (record.turn is not None and record.turn.includes(author))
        or any(waiting.inbound.author == author for waiting in record.inbox)
        or any(line.author == author for line in record.transcript)
        or any(names(letter, author) for letter in record.dead)
        or any(alarm.timer.inbound.author == author for alarm in record.alarms.values())
    )


def names(letter: Letter, author: str) -> bool:
    """Whether a dead letter has an inbound of *author*, or names them in what cannot be read."""
    if letter.raw is not None:
        return author.encode() in letter.raw
    return any(inbound.author == author for inbound in letter.inbounds)


def _without(inbounds: tuple[Inbound, ...], author: str) -> tuple[Inbound, ...]:
    return tuple(inbound for inbound in inbounds if inbound.author != author)


def _shown(letter: Letter, conversation: Conversation, now: int) -> DeadLetter:
    age = (now - letter.at) / 1e6
    kept = (letter.inbounds, letter.error, letter.state, letter.raw)
    return DeadLetter(letter.id, conversation, *kept, age)
