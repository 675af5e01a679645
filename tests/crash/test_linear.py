"""The judge of recorded calls: what it lets pass, and what it must not."""

from dataclasses import replace

import pytest

from chaos.kills.histories import Asked, History, sound, with_a_token_twice
from chaos.linear import Call, linearizable

#: A register's calls: "w" writes the value, "r" answers it.
Access = tuple[str, int]


def register(state: int, call: Call[Access]) -> list[int]:
    """Where a call on a register may lead."""
    kind, value = call.operation
    return [value] if kind == "w" or value == state else []


@pytest.mark.parametrize(
    ("calls", "fits"),
    [
        ([(0, 1, "w", 1), (2, 3, "r", 1)], True),
        ([(0, 1, "w", 1), (2, 3, "r", 0)], False),
        ([(0, 5, "w", 1), (2, 3, "r", 0)], True),
        ([(0, 5, "w", 1), (1, 2, "r", 1), (3, 4, "r", 0)], False),
        ([(0, 9, "w", 1), (0, 9, "w", 2), (1, 2, "r", 2), (3, 4, "r", 1)], True),
        ([(0, 9, "w", 1), (0, 9, "w", 2), (1, 2, "r", 1), (3, 4, "r", 2), (5, 6, "r", 1)], False),
    ],
)
def test_calls_that_overlap_may_happen_in_any_order_and_others_not(
    calls: list[tuple[float, float, str, int]], *, fits: bool
) -> None:
    """A write that is under way may be seen or not, but nobody sees it and then what was before."""
    made = [Call(begun, done, (kind, value)) for begun, done, kind, value in calls]
    assert linearizable(made, 0, register) == fits


def asked(step: str, token: str | None = None, *, op: str | None = None, **how: object) -> Asked:
    """Make one call about a lock."""
    seconds = 5.0 if step in ("claim", "commit") else 0.0
    return replace(Asked(step, token, op, seconds, "done"), **how)  # type: ignore[arg-type]


def history(*calls: tuple[float, float, Asked]) -> History:
    """Make a history of one conversation."""
    return [Call(*call) for call in calls]


SOUND = (
    (0.0, 0.1, asked("claim", op="a", granted="1-a")),
    (0.2, 0.3, asked("page", "1-a")),
    (0.4, 0.5, asked("commit", "1-a", op="b", granted="2-b")),
    (0.6, 0.7, asked("page", "2-b")),
    (0.8, 0.9, asked("page", "1-a", how="refused")),
)


def test_a_lock_that_is_handed_over_is_sound() -> None:
    """The new token writes, and the old one is refused."""
    assert sound(history(*SOUND))


def test_a_token_that_is_granted_twice_is_noticed() -> None:
    """A number that comes again is no lock's, even under another random part."""
    forged = with_a_token_twice(history(*SOUND))
    assert forged
    assert not sound(forged)


def test_a_token_can_be_granted_twice_only_where_two_were_granted() -> None:
    """A history of one grant has none to spare, and a repeat's number is nobody's."""
    first, *_ = SOUND
    lost = (1.0, 1.2, asked("commit", "1-a", op="d", how="unknown", repeated=True))
    again = (1.3, 1.4, asked("commit", "1-a", op="d", granted="3-d", repeated=True))
    assert with_a_token_twice(history(first)) is None
    assert with_a_token_twice(history(first, lost, again)) is None


@pytest.mark.parametrize(
    "wrong",
    [
        (1.0, 1.1, asked("page", "1-a")),
        (1.0, 1.1, asked("page", "2-b", how="refused")),
        (1.0, 1.1, asked("claim", op="c", granted="3-c")),
        (6.0, 6.1, asked("renew", "2-b")),
    ],
    ids=["a stale write", "a refused holder", "a second holder", "a renewal of what has ended"],
)
def test_what_no_lock_does_is_noticed(wrong: tuple[float, float, Asked]) -> None:
    """One call that cannot have happened spoils the whole history."""
    assert not sound(history(*SOUND, wrong))


def test_a_call_without_an_answer_may_have_happened_or_not() -> None:
    """Whoever died in a commit has given the lease back, or holds it until it ends."""
    dies = (1.0, 2.0, asked("commit", "2-b", op="d", how="unknown"))
    at_once = (1.5, 1.6, asked("claim", op="e", granted="4-e"))
    later = (6.0, 6.1, asked("claim", op="e", granted="4-e"))
    assert sound(history(*SOUND, dies, at_once))
    assert sound(history(*SOUND, dies, later))
    assert not sound(history(*SOUND, at_once))


def test_a_repeat_gets_the_first_answer() -> None:
    """The same operation sent again grants no second lease, though the first has ended since."""
    lost = (1.0, 1.2, asked("commit", "2-b", op="d", how="unknown", repeated=True))
    again = (1.3, 1.4, asked("commit", "2-b", op="d", granted="3-d", repeated=True))
    once_more = (2.0, 2.1, asked("commit", "2-b", op="d", granted="3-d", repeated=True))
    ended = (1.5, 1.6, asked("commit", "3-d", op="e"))
    assert sound(history(*SOUND, lost, again, ended, once_more))
