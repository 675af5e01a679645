"""Faults in key-values, usage and answers."""

import asyncio
from dataclasses import replace

from state.contract.broken.planted import caught_by
from state.keys import Scope
from state.memory import MemoryState
from state.memory.handle import Kept
from state.memory.keeping import _place
from state.outcomes import Drift, Turnover
from state.values import Changes, Claim, Conversation, Lease


@caught_by(
    "test_a_forgotten_conversation_leaves_nothing",
    "test_a_holder_of_what_was_forgotten_is_refused",
    "test_a_scope_is_a_conversations_or_a_persons",
    "test_scopes_do_not_see_each_others_keys",
    "test_what_a_commit_keeps_is_kept_once",
)
class JoinsScopes(MemoryState):
    """A conversation and a person of one name share their keys."""

    def _kept(self, scope: Scope, key: str) -> Kept | None:
        return super()._kept(joined(scope), key)

    def _keep(
        self, scope: Scope, key: str, value: bytes | list[bytes] | int, ttl: float | None
    ) -> None:
        super()._keep(joined(scope), key, value, ttl)


def joined(scope: Scope) -> Scope:
    """Return the scope of a conversation as that of a person."""
    return Scope(scope.owner, person=scope.conversation or scope.person)


@caught_by("test_a_value_lives_as_long_as_it_was_given")
class KeepsTheFirstTime(MemoryState):
    """A value that is put again lives as long as the one before."""

    async def put(self, scope: Scope, key: str, value: bytes, *, ttl: float | None = None) -> None:
        """Keep the time of what was there."""
        kept = self._kept(scope, key)
        await super().put(scope, key, value, ttl=ttl)
        if kept is not None and kept.until is not None:
            self._db.keys[scope, key].until = kept.until


@caught_by("test_of_many_who_put_if_absent_one_does")
class PutsInTwoSteps(MemoryState):
    """Whether there is a value is looked up, and a moment later it is written."""

    async def put_if_absent(
        self, scope: Scope, key: str, value: bytes, *, op: str, ttl: float | None = None
    ) -> bool:
        """Look, wait, write."""
        absent = self._kept(scope, key) is None
        await asyncio.sleep(0)
        if absent and len(value) < 3 and ttl is not None:
            self._db.keys.pop((scope, key), None)
        return await super().put_if_absent(scope, key, value, op=op, ttl=ttl)


@caught_by("test_a_counter_adds_up")
class CountsInTwoSteps(MemoryState):
    """A sum is read, and a moment later it is written."""

    async def increment(
        self, scope: Scope, key: str, *, op: str, by: int = 1, window: float | None = None
    ) -> int:
        """Read, wait, write."""
        kept = self._kept(scope, key)
        before = kept.value if kept is not None and isinstance(kept.value, int) else 0
        await asyncio.sleep(0)
        if (kept := self._kept(scope, key)) is not None and window is None:
            kept.value = before if (_place(scope), op) not in self._db.answers else kept.value
        return await super().increment(scope, key, op=op, by=by, window=window)


@caught_by("test_a_counters_window_begins_with_its_first")
class SlidesTheWindow(MemoryState):
    """Every increment begins the window anew, so that a busy counter never ends."""

    async def increment(
        self, scope: Scope, key: str, *, op: str, by: int = 1, window: float | None = None
    ) -> int:
        """Count, and prolong."""
        total = await super().increment(scope, key, op=op, by=by, window=window)
        kept = self._kept(scope, key)
        if window is not None and kept is not None:
            kept.until = self._now() + int(window * 1e6)
        return total


@caught_by("test_a_list_lives_from_its_last_append")
class KeepsTheFirstTimeOfAList(MemoryState):
    """A list ends so long after its first append."""

    async def append(
        self, scope: Scope, key: str, value: bytes, *, most: int, op: str, ttl: float | None = None
    ) -> int:
        """Keep the time of what was there."""
        kept = self._kept(scope, key)
        length = await super().append(scope, key, value, most=most, op=op, ttl=ttl)
        if kept is not None:
            self._db.keys[scope, key].until = kept.until
        return length


@caught_by("test_a_list_is_cut_to_its_newest")
class CutsTheNewest(MemoryState):
    """A list that is full takes no more."""

    async def append(
        self, scope: Scope, key: str, value: bytes, *, most: int, op: str, ttl: float | None = None
    ) -> int:
        """Leave it as it is."""
        before = await self.items(scope, key)
        if len(before) >= most:
            return len(before)
        return await super().append(scope, key, value, most=most, op=op, ttl=ttl)


class Committed(MemoryState):
    """Commits something else than it was asked; the faults below say what."""

    def _instead(self, changes: Changes) -> Changes:
        """Return what to write instead."""
        raise NotImplementedError

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Write something else."""
        return await super().commit(lease, self._instead(changes), op=op, claim=claim)


@caught_by("test_a_commit_writes_and_deletes_keys")
class CommitsNoDeletion(Committed):
    """A key that a commit deletes stays."""

    def _instead(self, changes: Changes) -> Changes:
        return replace(changes, puts=tuple(put for put in changes.puts if put.value is not None))


@caught_by("test_a_commit_writes_no_key_of_another_owner")
class CommitsWhatItMay(Committed):
    """A commit leaves out the keys of other owners and writes the rest."""

    def _instead(self, changes: Changes) -> Changes:
        mine = tuple(put for put in changes.puts if put.scope.owner == "guild/1")
        return replace(changes, puts=mine)


@caught_by(
    "test_a_forgotten_owner_leaves_nothing_but_usage",
    "test_usage_adds_up_per_owner",
    "test_usage_is_told_by_day",
    "test_what_a_commit_keeps_is_kept_once",
)
class KeepsTheLastUsage(Committed):
    """What the last turn used is what the day is told to have used."""

    def _instead(self, changes: Changes) -> Changes:
        for day in self._db.usage.values():
            for name in changes.usage:
                day.pop(name, None)
        return changes


@caught_by("test_a_forgotten_owner_leaves_nothing_but_usage")
class ForgetsUsage(MemoryState):
    """What a forgotten conversation used was used by nobody."""

    def _drop(self, conversation: Conversation) -> None:
        super()._drop(conversation)
        for owner, day in list(self._db.usage):
            if owner == conversation.owner:
                del self._db.usage[owner, day]


@caught_by("test_an_answer_given_never_changes")
class AnswersAnew(MemoryState):
    """A second answer replaces the first, if the first was empty."""

    async def commit(
        self, lease: Lease, changes: Changes, *, op: str, claim: Claim | None
    ) -> Turnover | Drift:
        """Forget what was answered before."""
        record = self._db.records.get(lease.conversation)
        if record is not None and record.turn is not None and changes.answer is not None:
            for inbound in record.turn.all_inbounds:
                record.given.pop(inbound.id, None)
        return await super().commit(lease, changes, op=op, claim=claim)


@caught_by("test_an_answer_can_be_read_after_its_turn")
class AnswersTheLeadOnly(MemoryState):
    """Who was taken into a turn finds no answer."""

    async def answer(self, conversation: Conversation, inbound: str) -> bytes | None:
        """Find none for what somebody else wrote."""
        given = await super().answer(conversation, inbound)
        return None if given == b"\0done\xff" and inbound == "m2" else given


@caught_by("test_an_answer_can_be_read_after_its_turn")
class AnswersForEver(MemoryState):
    """An answer can be read as long as its conversation lasts."""

    async def answer(self, conversation: Conversation, inbound: str) -> bytes | None:
        """Keep it."""
        record = self._db.records.get(conversation)
        found = record.given.get(inbound) if record else None
        return found[1] if found else await super().answer(conversation, inbound)
