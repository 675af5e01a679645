"""From a gateway message to plain data: who says what to whom, and with which rights."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import discord
import pytest

from bot.access import Access
from bot.admission import Heard
from bot.hearing import Ears
from bot.inbound import Attached, Message, Person, Quoted

ME, ADA, BO, ROLE, OUR_ROLE = 1, 101, 102, 901, 902

Channel = discord.TextChannel | discord.Thread


def person(number: int, name: str, *, bot: bool = False, member: bool = True) -> Mock:
    """Make an author or somebody who is mentioned."""
    kind = discord.Member if member else discord.User
    made = Mock(spec=kind, id=number, display_name=name, bot=bot)
    made.roles = []
    return made


def channel(
    *,
    thread: bool = False,
    send: bool = True,
    manage: bool = False,
    manage_threads: bool = False,
    locked: bool = False,
) -> Mock:
    """Make a channel with what its rights say, whoever asks."""
    made = Mock(spec=discord.Thread if thread else discord.TextChannel, id=201)
    made.parent_id = 202 if thread else None
    if thread:
        made.parent.category_id = 203
    else:
        made.category_id = 203
    made.locked = locked
    made.permissions_for.return_value = discord.Permissions(
        send_messages=send and not thread,
        send_messages_in_threads=send and thread,
        manage_messages=manage,
        manage_threads=manage_threads,
    )
    return made


def message(
    content: str = "hello",
    *,
    author: Mock | None = None,
    where: Mock | None = None,
    direct: bool = False,
    mentions: tuple[Mock, ...] = (),
    roles: tuple[int, ...] = (),
    reply_to: object = None,
    kind: discord.MessageType = discord.MessageType.default,
    webhook: int | None = None,
    application: int | None = None,
) -> Any:  # noqa: ANN401 (stands in for a discord.Message)
    """Make a message as the gateway brings it."""
    made = Mock(spec=discord.Message, id=500, content=content, type=kind, webhook_id=webhook)
    made.application_id = application
    made.author = author or person(ADA, "Ada")
    made.channel = where or channel()
    guild = SimpleNamespace(id=301, me=person(ME, "us"), self_role=SimpleNamespace(id=OUR_ROLE))
    made.guild = None if direct else guild
    made.mentions = list(mentions)
    made.role_mentions = [SimpleNamespace(id=role) for role in roles]
    made.attachments = []
    made.reference = SimpleNamespace(resolved=reply_to) if reply_to is not None else None
    return made


def hear(
    heard: Any,  # noqa: ANN401 (as above)
    *,
    access: Access | None = None,
    follows: bool = False,
    caught_up: bool = True,
    is_stop: Callable[[str], bool] = lambda text: text == "stop",
) -> tuple[Message, Heard]:
    """Hear a message with ears of the test's own."""
    me = cast("discord.ClientUser", SimpleNamespace(id=ME))
    lists = access or Access()
    ears = Ears(
        me,
        lists.allows,
        lambda: lists.operators,
        lambda: lists.proxies,
        is_stop,
        lambda _: follows,
        lambda: caught_up,
    )
    return ears.hear(heard)


US = person(ME, "us")

# --------------------------------------------------------------------------------- what was written


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (f"<@{ME}> hello", "hello"),
        (f"<@!{ME}> hello", "hello"),
        (f"hello <@{ME}>", "hello"),
        (f"<@&{OUR_ROLE}> hello", "hello"),
        (f"<@{ME}>", ""),
        (f"tell <@{BO}> and <@!{BO}>", "tell @Bo and @Bo"),
        (f"ask <@&{ROLE}>", f"ask <@&{ROLE}>"),
        ("  hello\n", "hello"),
    ],
)
def test_the_text_is_without_our_mention_and_with_names_for_others(content: str, text: str) -> None:
    """What is left is what was said to us."""
    said, _ = hear(message(content, mentions=(US, person(BO, "Bo"))))
    assert said.text == text


def test_files_are_told_of_at_most_ten() -> None:
    """What a person can send at once is journaled; nothing is fetched."""
    said = message("")
    said.attachments = [
        SimpleNamespace(
            id=number, filename="a.png", content_type=None, size=7, url="u", description="a cat"
        )
        for number in range(12)
    ]
    quoting = message("look", reply_to=said)
    heard, quoted = hear(said)[0], hear(quoting)[0].reply_to
    assert len(heard.attachments) == 10
    assert heard.attachments[0] == Attached("0", "a.png", None, 7, "u", "a cat")
    assert quoted is not None
    assert quoted.attachments == heard.attachments


def test_a_stop_is_looked_for_in_what_was_said_to_us() -> None:
    """Our mention is no part of the phrase."""
    _, heard = hear(message(f"<@{ME}> stop", mentions=(US,)))
    assert heard.stop_phrase
    _, heard = hear(message("stop it"))
    assert not heard.stop_phrase


def test_ids_are_strings_and_names_are_those_that_are_shown() -> None:
    """Numbers of Discord's size are torn by many a store."""
    quoted = message("what?", author=person(BO, "Bo"))
    said, _ = hear(message(reply_to=quoted))
    assert (said.id, said.channel, said.guild) == ("500", "201", "301")
    assert said.author == Person("101", "Ada")
    assert said.reply_to == Quoted("500", Person("102", "Bo"), "what?")


# ------------------------------------------------------------------------------------ to whom it is


@pytest.mark.parametrize(
    ("said", "addressed", "elsewhere"),
    [
        (message(), False, False),
        (message(direct=True), True, False),
        (message(mentions=(US,)), True, False),
        (message(roles=(OUR_ROLE,)), True, False),
        (message(reply_to=message(author=US)), True, False),
        (message(mentions=(person(BO, "Bo"),)), False, True),
        (message(roles=(ROLE,)), False, True),
        (message(reply_to=message(author=person(BO, "Bo"))), False, True),
        (message(mentions=(US, person(BO, "Bo"))), True, False),
        (message("@everyone hello"), False, False),
    ],
)
def test_who_is_addressed(said: object, addressed: bool, elsewhere: bool) -> None:
    """By mention, by our own role, by a reply; everyone is nobody in particular."""
    _, heard = hear(said)
    assert (heard.addressed, heard.addressed_elsewhere) == (addressed, elsewhere)


@pytest.mark.parametrize(("thread", "parent"), [(False, None), (True, "202")])
def test_a_message_knows_its_thread_s_channel_and_its_category(
    thread: bool, parent: str | None
) -> None:
    """The settings of both hold for it."""
    heard, _ = hear(message(where=channel(thread=thread)))
    assert (heard.parent, heard.category) == (parent, "203")


def test_a_thread_of_a_channel_that_is_not_cached_has_no_category_for_us() -> None:
    """Discord sends the thread alone; the message must not be lost over it."""
    where = channel(thread=True)
    where.parent = None
    heard, _ = hear(message(where=where))
    assert (heard.parent, heard.category) == ("202", None)


def test_a_reply_to_a_message_that_is_gone_addresses_somebody() -> None:
    """Whose it was cannot be told any more, and it was not left to chance."""
    gone = Mock(spec=discord.DeletedReferencedMessage)
    said, heard = hear(message(reply_to=gone))
    assert (heard.addressed, heard.addressed_elsewhere) == (False, True)
    assert said.reply_to is None


@pytest.mark.parametrize("follows", [True, False])
def test_what_is_said_where_we_follow_is_known_to_be(follows: bool) -> None:
    """By the process' own list, without asking the store."""
    _, heard = hear(message(), follows=follows)
    assert heard.followed is follows


@pytest.mark.parametrize(
    ("direct", "follows", "caught_up", "noted"),
    [
        (True, False, True, True),
        (False, True, True, True),
        (False, False, True, False),
        (True, False, False, False),
        (False, True, False, False),
    ],
)
def test_an_answer_is_noted_where_we_follow_once_nothing_is_left_to_catch_up_with(
    direct: bool, follows: bool, caught_up: bool, noted: bool
) -> None:
    """Noted too early, it would hide what was written before it while nobody heard."""
    said, _ = hear(message(direct=direct), follows=follows, caught_up=caught_up)
    assert said.caught_up is noted


# ------------------------------------------------------------------------------------ by whom it is


@pytest.mark.parametrize(
    ("said", "machine"),
    [
        (message(author=person(BO, "X", bot=True)), True),
        (message(webhook=7), True),
        (message(), False),
    ],
)
def test_bots_and_webhooks_are_machines(said: object, machine: bool) -> None:
    """We are one of them: our own messages are heard too."""
    assert hear(said)[1].by_machine is machine


@pytest.mark.parametrize(("application", "listed"), [(81, True), (82, False), (None, False)])
def test_the_webhook_of_a_listed_proxy_speaks_for_a_person(
    application: int | None, listed: bool
) -> None:
    """Those that the operator lists are heard; every other webhook is a machine."""
    said = message(webhook=7, application=application)
    _, heard = hear(said, access=Access(proxies=frozenset({"81"})))
    assert (heard.proxied, heard.by_machine) == (listed, not listed)


def test_a_proxy_speaks_through_webhooks_alone() -> None:
    """What the proxy's own bot says, such as the answer to a command, is a machine's."""
    said = message(author=person(81, "Proxy", bot=True), application=81)
    _, heard = hear(said, access=Access(proxies=frozenset({"81"})))
    assert (heard.proxied, heard.by_machine) == (False, True)


@pytest.mark.parametrize("kind", list(discord.MessageType))
def test_only_what_people_type_is_no_system_message(kind: discord.MessageType) -> None:
    """Pins, joins, boosts, threads that open: nobody has said anything."""
    typed = kind in (discord.MessageType.default, discord.MessageType.reply)
    assert hear(message(kind=kind))[1].system is not typed


@pytest.mark.parametrize(
    ("said", "operators", "moderates"),
    [
        (message(), (), False),
        (message(where=channel(manage=True)), (), True),
        (message(), (str(ADA),), True),
        (message(direct=True, author=person(ADA, "Ada", member=False)), (), False),
        (message(direct=True, author=person(ADA, "Ada", member=False)), (str(ADA),), True),
    ],
)
def test_who_manages_messages_or_operates_us_moderates(
    said: object, operators: tuple[str, ...], moderates: bool
) -> None:
    """By the rights that come with the event."""
    access = Access(operators=frozenset(operators))
    assert hear(said, access=access)[1].moderator is moderates


# ----------------------------------------------------------------------------------- whether we may


@pytest.mark.parametrize(
    ("where", "allowed"),
    [
        (channel(), True),
        (channel(send=False), False),
        (channel(thread=True), True),
        (channel(thread=True, send=False), False),
        (channel(thread=True, locked=True), False),
        (channel(thread=True, locked=True, manage_threads=True), True),
        (Mock(spec=discord.PartialMessageable, id=201), True),
    ],
)
def test_where_we_may_not_write_nothing_is_worked_for(where: Mock, allowed: bool) -> None:
    """A model's answer that cannot be sent costs as much as any; what is not known may be tried."""
    author = person(ADA, "Ada", member=not isinstance(where, discord.PartialMessageable))
    if isinstance(where, discord.PartialMessageable):
        where.permissions_for.return_value = discord.Permissions.none()
    assert hear(message(where=where, author=author))[1].allowed is allowed


@pytest.mark.parametrize(
    ("access", "allowed"),
    [
        (Access(blocked=frozenset({"101"})), False),
        (Access(blocked=frozenset({"201"})), False),
        (Access(channels=frozenset({"201"})), True),
        (Access(channels=frozenset({"999"})), False),
        (Access(guilds=frozenset({"301"})), True),
        (Access(users=frozenset({"999"})), False),
    ],
)
def test_the_lists_of_access_are_asked_with_what_the_event_brings(
    access: Access, allowed: bool
) -> None:
    """Person, roles, channel and guild, all as strings."""
    assert hear(message(), access=access)[1].allowed is allowed


def test_a_thread_is_let_in_with_its_channel() -> None:
    """An operator lists channels, not each thread in them."""
    said = message(where=channel(thread=True))
    assert hear(said, access=Access(channels=frozenset({"202"})))[1].allowed
