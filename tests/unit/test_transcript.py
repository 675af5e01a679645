"""What was said: the entries that a commit writes and a responder reads."""

import json

from bot.endings import Ending
from bot.transcript import VERSION, Said, exchange, read
from state.outcomes import Entry
from tests.unit.fakes import ADA, BO, message


def entries(*payloads: bytes) -> list[Entry]:
    """Number payloads as a store does."""
    return [Entry(number, payload) for number, payload in enumerate(payloads, start=1)]


def test_an_exchange_is_read_as_it_was_written() -> None:
    """People first, in order, each with their name; then us, with how it ended."""
    asked = [message("one", ADA), message("two 🦊", BO)]
    said = exchange(asked, "half an answ", Ending.STOPPED)
    assert read(entries(*(one.pack() for one in said))) == [
        Said("person", "one", ADA),
        Said("person", "two 🦊", BO),
        Said("bot", "half an answ", ending=Ending.STOPPED),
    ]


def test_a_turn_that_said_nothing_leaves_what_people_wrote() -> None:
    """An empty reply is no entry."""
    assert exchange([message("one")], "", Ending.FINISHED) == [Said("person", "one", ADA)]


def test_an_entry_that_cannot_be_read_is_left_out() -> None:
    """One damaged or newer entry does not take the history away."""
    good = Said("person", "one", ADA).pack()
    newer = json.dumps({**json.loads(good), "v": VERSION + 1}).encode()
    bad = [b"", b"\xff", b"[]", b"{}", newer, json.dumps({"v": VERSION, "author": 3}).encode()]
    assert read(entries(good, *bad, good)) == [Said("person", "one", ADA)] * 2


def test_half_a_surrogate_pair_in_a_reply_is_not_fatal() -> None:
    """A model may stop in the middle of an emoji; the commit must go through."""
    (said,) = read(entries(Said("bot", "torn \ud83e", ending=Ending.KILLED).pack()))
    assert said.text.startswith("torn ")
