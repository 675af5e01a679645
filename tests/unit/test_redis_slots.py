"""Which server of a cluster holds which keys, as servers tell it."""

import pytest
from redis.crc import key_slot

from state.redis.resp import command
from state.redis.slots import Address, redirected, slot_map, slot_of, tag_in

ASKED = Address("10.0.0.1", 6379)


@pytest.mark.parametrize("tag", [b"interlock", b"interlock:0", b"interlock:15", b"x"])
def test_a_slot_is_the_one_that_the_servers_count(tag: bytes) -> None:
    """Of what stands between the braces, whatever surrounds them."""
    assert slot_of(tag) == key_slot(b"{%b}:turn:guild/1 10" % tag)


def test_the_tag_is_that_of_the_first_key() -> None:
    """Braces in later arguments are somebody's text; a command without a key has no tag."""
    asked = command("EVALSHA", "0" * 40, 1, "{bot:3}:wake", "{not}:this")
    assert tag_in(asked) == b"bot:3"
    assert tag_in(command("HGET", "{bot}:meta", "schema")) == b"bot"
    assert tag_in(command("PING")) == b""


def test_each_slot_has_the_primary_of_its_range() -> None:
    """Whatever the order of ranges; what lies between them has none, and replicas are named too."""
    told = [
        [8000, 16383, [b"10.0.0.2", 6379, b"id", []], [b"10.0.0.3", 6379, b"id", []]],
        [0, 4000, [b"10.0.0.1", 6379, b"id"]],
    ]
    drawn = slot_map(told, ASKED)
    ends = [drawn.primary_of(slot) for slot in (0, 4000, 4001, 7999, 8000, 16383)]
    two = Address("10.0.0.2", 6379)
    assert ends == [ASKED, ASKED, None, None, two, two]
    assert drawn.servers == (ASKED, two, Address("10.0.0.3", 6379))


@pytest.mark.parametrize("host", [None, b"", b"?"])
def test_a_host_that_is_not_told_is_that_of_whom_was_asked(host: bytes | None) -> None:
    """Behind a load balancer servers do not know by which name they are reached."""
    drawn = slot_map([[0, 16383, [host, 7001, b"id"]]], ASKED)
    assert drawn.primary_of(1) == Address("10.0.0.1", 7001)


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("MOVED 12182 10.0.0.2:6380", Address("10.0.0.2", 6380)),
        ("ASK 1 node.example:6379", Address("node.example", 6379)),
        ("MOVED 1 fd00::2:6379", Address("fd00::2", 6379)),
        ("MOVED 1 :7001", Address("10.0.0.1", 7001)),
    ],
)
def test_a_redirection_names_the_next_server(text: str, to: Address) -> None:
    """By address or name, or by its port alone."""
    assert redirected(text, ASKED) == to
