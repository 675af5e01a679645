"""What a message could be: each row of the table that admission is, and the order of the rows."""

from dataclasses import replace

import pytest

from bot.admission import Heard, judge
from state.values import Could, StopRight

#: Somebody whom we may answer says something ordinary, to nobody, where nothing is followed.
SAID = Heard(
    by_machine=False,
    system=False,
    addressed=False,
    addressed_elsewhere=False,
    followed=False,
    allowed=True,
    stop_phrase=False,
    moderator=False,
)

FOLLOWUPS = ("addressed", "early", "any", "off")


def heard(*facts: str) -> Heard:
    """Make what was heard of the facts that are true."""
    return replace(SAID, **dict.fromkeys(facts, True))


@pytest.mark.parametrize("source", ["by_machine", "system"])
@pytest.mark.parametrize(
    "facts", [(), ("addressed",), ("followed",), ("addressed", "stop_phrase", "moderator")]
)
def test_what_no_person_typed_is_nothing(source: str, facts: tuple[str, ...]) -> None:
    """Rows 1 and 2: a bot, a webhook, a pin or a join is nothing, whatever else is true of it."""
    assert judge(heard(source, *facts), "any", author_is_live=True) is None


@pytest.mark.parametrize(
    ("facts", "right"),
    [
        ((), StopRight.OWN),
        (("addressed",), StopRight.OWN),
        (("followed",), StopRight.OWN),
        (("moderator",), StopRight.OWN),
        (("moderator", "followed"), StopRight.OWN),
        (("moderator", "addressed"), StopRight.ANY),
    ],
)
def test_a_stop_phrase_has_the_right_of_who_says_it(
    facts: tuple[str, ...], right: StopRight
) -> None:
    """Row 3: a bare stop ends one's own turn; anybody's only when a moderator addresses us."""
    could = judge(heard("stop_phrase", *facts), "addressed", author_is_live=False)
    assert could is not None
    assert could.stop is right


@pytest.mark.parametrize("followups", FOLLOWUPS)
@pytest.mark.parametrize("live", [True, False])
def test_a_stop_phrase_is_never_a_follow_up(followups: str, live: bool) -> None:
    """Row 3: fed to the responder as a follow-up, a stop would prolong what it should end."""
    for facts in (("addressed",), ("followed",), ()):
        could = judge(heard("stop_phrase", *facts), followups, author_is_live=live)
        assert could is not None
        assert not could.follow_up


@pytest.mark.parametrize(
    ("facts", "trigger"),
    [((), False), (("addressed",), True), (("followed",), True), (("addressed_elsewhere",), False)],
)
def test_a_stop_phrase_with_nothing_to_stop_is_an_ordinary_message(
    facts: tuple[str, ...], trigger: bool
) -> None:
    """Row 3: it still triggers where an ordinary message would, which the store then decides."""
    could = judge(heard("stop_phrase", *facts), "addressed", author_is_live=False)
    assert could is not None
    assert could.trigger is trigger


@pytest.mark.parametrize("facts", [(), ("addressed",), ("followed",)])
@pytest.mark.parametrize("followups", FOLLOWUPS)
def test_who_or_where_is_not_allowed_is_nothing(facts: tuple[str, ...], followups: str) -> None:
    """Row 4: the lists of `[access]` keep a message from the store, whoever it addresses."""
    barred = replace(heard(*facts), allowed=False)
    assert judge(barred, followups, author_is_live=True) is None


def test_a_stop_phrase_is_heard_from_anybody() -> None:
    """Row 3 comes before row 4: who was barred while their turn runs may still end it."""
    barred = replace(heard("stop_phrase", "addressed"), allowed=False)
    could = judge(barred, "addressed", author_is_live=True)
    assert could == Could(stop=StopRight.OWN)


@pytest.mark.parametrize(
    ("followups", "follow_up"),
    [("addressed", True), ("early", True), ("any", True), ("off", False)],
)
@pytest.mark.parametrize("live", [True, False])
def test_what_addresses_us_is_a_trigger_or_a_follow_up(
    followups: str, follow_up: bool, live: bool
) -> None:
    """Row 5: it may follow up unless follow-ups are off; which of the two, the store decides."""
    could = judge(heard("addressed"), followups, author_is_live=live)
    assert could == Could(trigger=True, follow_up=follow_up)


def test_what_is_said_in_a_followed_conversation_is_a_trigger_or_a_follow_up() -> None:
    """Row 6: nobody has to address us where we were asked to follow."""
    could = judge(heard("followed"), "addressed", author_is_live=False)
    assert could == Could(trigger=True, follow_up=True)


def test_what_addresses_somebody_else_in_a_followed_conversation_is_nothing() -> None:
    """Row 6: a message to another person is not for us, although we listen."""
    facts = ("followed", "addressed_elsewhere")
    assert judge(heard(*facts), "addressed", author_is_live=True) is None


def test_what_addresses_us_and_somebody_else_is_for_us() -> None:
    """Row 5 comes before row 6: a message that names us among others is a trigger."""
    could = judge(heard("followed", "addressed"), "addressed", author_is_live=False)
    assert could == Could(trigger=True, follow_up=True)


@pytest.mark.parametrize("followups", FOLLOWUPS)
@pytest.mark.parametrize("live", [True, False])
def test_anything_else_is_nothing_unless_any_message_follows_up(followups: str, live: bool) -> None:
    """Row 7: the store is not asked, save for the author of a turn that runs here under "any"."""
    expected = Could(follow_up=True) if followups == "any" and live else None
    assert judge(heard(), followups, author_is_live=live) == expected
    assert judge(heard("addressed_elsewhere"), followups, author_is_live=live) == expected


def test_a_moderator_without_a_stop_phrase_is_a_person_like_any_other() -> None:
    """Rights matter for stops alone."""
    assert judge(heard("moderator"), "addressed", author_is_live=False) is None
    could = judge(heard("moderator", "addressed"), "addressed", author_is_live=False)
    assert could == Could(trigger=True, follow_up=True)
