"""A message as the store keeps it: packed, read again, and refused when it cannot be read."""

import json
from dataclasses import replace

import pytest

from bot.errors import PayloadUnreadable
from bot.inbound import (
    VERSION,
    Attached,
    Deferred,
    Kind,
    Message,
    Quoted,
    Trigger,
    conversation_of,
    unpack,
)
from state.values import Conversation, Inbound
from tests.unit.fakes import ADA, BO, message


@pytest.mark.parametrize("reply_to", [None, Quoted("7", BO, "what I said")])
@pytest.mark.parametrize("guild", [None, "301"])
def test_what_was_packed_is_read_again(guild: str | None, reply_to: Quoted | None) -> None:
    """Nothing is lost on the way through the store."""
    asked = Message(
        "1", "2", guild, ADA, "héllo 🦊\n", addressed=False, responder="Echo", reply_to=reply_to
    )
    assert unpack(asked.inbound()) == asked


def test_where_it_was_said_and_what_asked_for_it_come_along() -> None:
    """A turn is led by the rules of its place, and knows what it answers, on every replay."""
    trigger = Trigger(Kind.BUTTON, "more", {"page": 2, "of": ["a", None]})
    asked = replace(message("hello"), parent="7", category="8", trigger=trigger)
    assert unpack(asked.inbound()) == asked


def test_files_come_along_with_what_is_told_of_them() -> None:
    """Those of the message that is replied to, too; the bytes stay on Discord."""
    file = Attached("9", "a.png", "image/png", 7, "https://cdn.discordapp.com/a.png", "a cat")
    quoted = Quoted("7", BO, "look", (file, replace(file, id="10", description=None)))
    asked = replace(message("hello"), attachments=(file,), reply_to=quoted)
    assert unpack(asked.inbound()) == asked


def test_what_was_packed_before_there_were_triggers_is_a_message() -> None:
    """An older build's inbox is read on."""
    body = json.loads(message("hello", id="17").inbound().payload)
    for field in ("parent", "category", "trigger", "attachments"):
        del body[field]
    assert unpack(Inbound("17", "101", json.dumps(body).encode())) == message("hello", id="17")


def test_an_inbound_is_known_by_its_message_and_author() -> None:
    """Both ids are the store's to see; the text is not."""
    asked = message("hello", BO, id="17")
    packed = asked.inbound()
    assert (packed.id, packed.author) == ("17", BO.id)


def test_a_message_with_half_a_surrogate_pair_is_not_lost() -> None:
    """What UTF-8 cannot carry is replaced; the rest of the message stays."""
    asked = unpack(message("before \ud83e after").inbound())
    assert asked.text.startswith("before ")
    assert asked.text.endswith(" after")


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"17",
        b"null",
        b"{}",
        json.dumps({"v": VERSION}).encode(),
        json.dumps({"v": VERSION, "author": None, "reply_to": None}).encode(),
    ],
)
def test_a_damaged_payload_is_named_and_refused(payload: bytes) -> None:
    """The error names the inbound, for the operator to find it."""
    with pytest.raises(PayloadUnreadable, match="inbound 17"):
        unpack(Inbound("17", "101", payload))


def test_a_payload_of_a_newer_build_is_refused_with_both_versions() -> None:
    """Guessing at fields of a newer version would answer something that nobody asked."""
    body = {**json.loads(message(id="17").inbound().payload), "v": VERSION + 1}
    newer = Inbound("17", "101", json.dumps(body).encode())
    with pytest.raises(
        PayloadUnreadable, match=f"version {VERSION + 1}, this build reads {VERSION}"
    ):
        unpack(newer)


def test_a_direct_message_belongs_to_its_person_and_others_to_their_guild() -> None:
    """The owner decides where the conversation is kept, and who may have it deleted."""
    assert conversation_of("5", None, "101") == Conversation("user/101", "5")
    assert conversation_of("5", "301", "101") == Conversation("guild/301", "5")
    assert message(guild=None, channel="5").conversation == Conversation(f"user/{ADA.id}", "5")


def test_a_command_comes_along_with_what_answers_it_and_tells_nobody() -> None:
    """Another process answers by the token, which no log may show."""
    asked = replace(message("hello"), deferred=Deferred("canary", speaks=False))
    assert unpack(asked.inbound()) == asked
    assert "canary" not in repr(asked)


def test_what_was_packed_before_commands_asked_is_read() -> None:
    """It has no response to answer in."""
    body = json.loads(message("hello", id="17").inbound().payload)
    del body["deferred"]
    assert unpack(Inbound("17", "101", json.dumps(body).encode())) == message("hello", id="17")
