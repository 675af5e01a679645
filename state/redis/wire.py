"""
What travels to the scripts: steps become arguments.

Each function says which script reads what it returns. Times are whole microseconds, flags 1 or 0,
and what is absent is empty or, where a space ends it, `*`.
"""

from state.errors import Unacceptable
from state.ids import checked_id
from state.redis.keys import Keys, whose_key
from state.redis.resp import Argument
from state.values import Changes, Claim, Could, Lease, Overflow, Policy, Timer


def microseconds(seconds: float) -> int:
    """Return *seconds* as the scripts count time."""
    return int(seconds * 1e6)


def life(ttl: float | None) -> str | int:
    """Return a time to live in microseconds, empty for ever."""
    return "" if ttl is None else int(ttl * 1e6)


def text(value: str) -> bytes:
    """Encode what people wrote, lone surrogates included."""
    return value.encode("utf-8", "surrogatepass")


def claim_terms(claim: Claim | None) -> str:
    """Lease and patience, both empty when nothing is to be started."""
    if claim is None:
        return " "
    return f"{int(claim.seconds * 1e6)} {int(claim.expire_after * 1e6)}"


def could_be(could: Could) -> str:
    """What admit.lua reads of a Could."""
    follow_up, trigger = " 1" if could.follow_up else " 0", " 1 " if could.trigger else " 0 "
    return could.stop + follow_up + trigger + (could.joins or "*")


def bounds(policy: Policy) -> str:
    """What admit.lua reads of a policy."""
    drop_oldest = policy.overflow is Overflow.DROP_OLDEST
    return (
        f"{policy.inbox} {policy.per_person} {drop_oldest:d} {policy.max_followups}"
        f" {policy.early_only:d} {policy.interrupt:d} {policy.drop:d} {policy.gather:d}"
        f" {microseconds(policy.not_before)} {microseconds(policy.quiet)}"
        f" {microseconds(policy.quiet_most)}"
    )


def starts_at_once(could: Could, policy: Policy, claim: Claim | None) -> bool:
    """Whether an inbound would start a turn in a conversation where nothing is pending."""
    return (
        claim is not None
        and could.trigger
        and policy.inbox > 0
        and policy.per_person > 0
        and not policy.not_before
        and not policy.quiet
    )


def step_field(name: str, key: str) -> bytes:
    """Name the field of a step; the name's length keeps (ab, c) and (a, bc) apart."""
    encoded = text(name)
    return b"S:%d:%b%b" % (len(encoded), encoded, text(key))


def page_field(number: int, issue: int) -> str:
    """Name a page within the fields of pages and message ids."""
    return f"{number}:{issue}"


def timer(given: Timer) -> list[Argument]:
    """What alarms.lua sets: `<id> <delay>`, and the rest of the alarm."""
    every = "*" if given.every is None else microseconds(given.every)
    shown = f"{given.delay!r} {'*' if given.every is None else repr(given.every)}"
    inbound = given.inbound
    head = f"{every} {given.catch_up.value} {shown} {inbound.id} {inbound.author} "
    return [f"{given.id} {microseconds(given.delay)}", head.encode() + inbound.payload]


def ending(
    lease: Lease,
    op: str,
    claim: Claim | None,
    changes: Changes | None,
    *own: Argument,
    commit: bool,
) -> list[Argument]:
    """
    What changes.lua reads of an ending, with what is the step's *own* in its place.

    Only a *commit* writes state and key-values.
    """
    terms = f"{op} {lease.token} {claim_terms(claim)}"
    if changes is None:
        return [f"{terms}   0", b"", *own]
    kept = commit and changes.state is not None
    version = changes.state_version if kept else ""
    terms += f" {version} {changes.keep} {len(changes.transcript)}"
    state = (changes.state or b"") if kept else b""
    entries = _entries(changes) if changes.transcript else []
    if not writes_more(changes, commit=commit):
        return [terms, state, *entries, *own]
    counts, more = _more(changes, commit=commit)
    return [terms + counts, state, *entries, *own, *more]


def writes_more(changes: Changes, *, commit: bool) -> bool:
    """Whether more.lua has anything to write."""
    beside = changes.answer is not None or changes.timers or changes.unschedule
    return bool(beside or changes.usage or (commit and changes.puts))


def more_keys(keys: Keys, owner: str, changes: Changes | None, *, commit: bool) -> list[str]:
    """Name what more.lua touches; raise `Unacceptable` for keys that are not *owner*'s."""
    if changes is None or not writes_more(changes, commit=commit):
        return []
    for put in changes.puts:
        if put.scope.owner != owner:
            raise Unacceptable(f"a commit of {owner} cannot write a key of {put.scope.owner}")
    named = [f"{keys.tag_of(owner)}:beside", keys.usage(owner)]
    return [*named, *(keys.scoped(put.scope, put.key)[0] for put in changes.puts if commit)]


def _entries(changes: Changes) -> list[Argument]:
    ours = ("",) * (len(changes.transcript) - len(changes.authors))
    authors = (*changes.authors, *ours)
    return [
        (checked_id(author, "author") if author else "*").encode() + b" " + payload
        for payload, author in zip(changes.transcript, authors, strict=False)
    ]


def _more(changes: Changes, *, commit: bool) -> tuple[str, list[Argument]]:
    puts = changes.puts if commit else ()
    counts = (
        f" {changes.answer is not None:d} {len(changes.unschedule)} {len(changes.timers)}"
        f" {len(puts)} {len(changes.usage)}"
    )
    more: list[Argument] = []
    for used, amount in changes.usage.items():
        more += [text(used), amount]
    if changes.answer is not None:
        more.append(changes.answer)
    more += changes.unschedule
    for given in changes.timers:
        more += timer(given)
    for put in puts:
        lasts = "*" if put.ttl is None else microseconds(put.ttl)
        name = f"k {whose_key(put.scope)} {put.key}"
        more += [f"{lasts} {put.value is not None:d} {name}", put.value or b""]
    return counts, more
