"""
The reply to somebody who used a command: in the place of "thinking…", later as messages.

Discord takes our answer by the token of the interaction, for a quarter of an hour. The first page
of the reply is an edit of the response, which may be repeated; all others are messages of the
channel under nonces. What the token cannot do any more, the channel does: there the response is a
message of ours like any other. Only where we may not speak in the channel is the token all there
is, and its further messages, which have no nonce, may come twice after a crash.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

import structlog

from bot import texts
from bot.inbound import Deferred, Message
from bot.pages import MAX_ISSUES, nonce
from bot.refusals import FORBIDDEN, MISSING_PERMISSIONS, TOKEN_OVER, UNAUTHORIZED, UNKNOWN_MESSAGE
from bot.snowflake import made_at
from bot.speaking import ORIGINAL, Outgoing, OwnMessage, Rejected, Sight, Webhook, Wire
from bot.stream import units
from state.outcomes import Started
from state.values import Page

#: Seconds from the interaction during which its token is used. Relation: a minute below the quarter
#: of an hour that Discord lets it live, for requests on their way and clocks that differ.
TOKEN_LIFE = 840.0


log = structlog.get_logger(__name__)


def answerable(message: Message) -> bool:
    """Whether *message* is an interaction whose token lives."""
    return message.deferred is not None and time.time() - made_at(message.id) < TOKEN_LIFE


def mute(message: Message, *, silenced: bool) -> bool:
    """Whether nothing may be said to *message*; *silenced*: Discord refused us there lately."""
    if message.deferred is None or answerable(message):
        return silenced and message.deferred is None
    return silenced or not message.deferred.speaks


def named(message: Message) -> str:
    """Who asked, for what Discord does not show as the response to their command."""
    return _naming(message.author.id, int(made_at(message.id)))


def _naming(person: str, at: int) -> str:
    return f"{texts.here().asked_by.format(person=f'<@{person}>', at=f'<t:{at}:t>')}\n"


def name_room() -> int:
    """UTF-16 units that naming who asked takes at most, kept free on the pages of such a reply."""
    return units(_naming("9" * 20, 99_999_999_999))


def response_wire(wire: Wire, asked_by: Message, started: Started) -> "ResponseWire | None":
    """Lead the reply to *asked_by* into the response to its command, if it is one."""
    if asked_by.deferred is None:
        return None
    return ResponseWire(wire, asked_by, asked_by.deferred, started.lease.turn, started.pages)


class ResponseWire:
    """The `Wire` of one turn that answers an interaction."""

    def __init__(
        self, wire: Wire, asked_by: Message, deferred: Deferred, turn: str, pages: Sequence[Page]
    ) -> None:
        """*pages* are what a forerunner of this run has journaled."""
        self._wire = wire
        self._asked_by = asked_by
        self._token, self._speaks = deferred.token, deferred.speaks
        self._firsts = [nonce(turn, 0, issue, asked_by.channel) for issue in range(MAX_ISSUES + 1)]
        #: Whether Discord has refused the token.
        self._over = False
        #: Whether the reply has taken the place of "thinking…", as far as this run knows.
        self._taken = False
        #: The messages that the token may edit, and those that begin with who asked.
        self._editable: set[str] = set()
        self._named: set[str] = set()
        for page in pages:
            self._adopt(page)

    def _adopt(self, page: Page) -> None:
        if page.message_id is None:
            return
        late = made_at(page.message_id) - made_at(self._asked_by.id) > TOKEN_LIFE
        if page.number == 0 and late:
            self._named.add(page.message_id)
        elif page.number == 0 or not self._speaks:
            self._editable.add(page.message_id)

    @property
    def webhook(self) -> Webhook:
        """As of the wire below."""
        return self._wire.webhook

    @property
    def sight(self) -> Sight:
        """As of the wire below."""
        return self._wire.sight

    def answers(self, message: Message) -> bool:
        """Whether the response to *message* is a page of this reply."""
        return self._taken and message.id == self._asked_by.id

    def file_limit(self, guild: str | None) -> int:
        """As of the wire below."""
        return self._wire.file_limit(guild)

    # --- pages -----------------------------------------------------------------------------------

    async def create(
        self, channel: str, content: Outgoing, *, nonce: str, reply_to: str | None, ping: bool
    ) -> OwnMessage:
        """Put the first page in the place of "thinking…", if that may be, all others below."""
        response, first = nonce == self._firsts[0], nonce in self._firsts
        if response or not self._speaks:
            sent = await self._by_the_token(
                lambda: (
                    self.webhook.edit(self._token, ORIGINAL, content)
                    if response
                    else self.webhook.send(self._token, content)
                )
            )
            if sent is not None:
                self._taken |= response
                self._editable.add(sent.id)
                return sent
        self._require_channel()
        worded = self._with_name(content) if first else content
        sent = await self._wire.create(channel, worded, nonce=nonce, reply_to=None, ping=False)
        return self._as_page(sent)

    async def edit(self, channel: str, message: str, content: Outgoing) -> None:
        """Edit by the token what it may edit; it has limits of its own."""
        if message in self._editable:
            token = self._token
            if await self._by_the_token(lambda: self.webhook.edit(token, message, content)):
                return
            self._editable.discard(message)
        self._require_channel()
        worded = self._with_name(content) if message in self._named else content
        await self._wire.edit(channel, message, worded)

    async def delete(self, channel: str, message: str) -> None:
        """Delete a page."""
        if self._speaks:
            await self._wire.delete(channel, message)
        else:
            await self.webhook.delete(self._token, message)

    async def recent(self, channel: str, after: str) -> Sequence[OwnMessage]:
        """Read back our own messages; the first page, whichever way it came, replies to *after*."""
        if not self._speaks:
            return []
        return [self._as_page(sent) for sent in await self._wire.recent(channel, after)]

    async def _by_the_token(self, call: Callable[[], Awaitable[OwnMessage]]) -> OwnMessage | None:
        """Make a call by the token; None when the channel has to do instead."""
        if self._over or not answerable(self._asked_by):
            return None
        try:
            return await call()
        except Rejected as error:
            if token_is_over(error):
                log.info("token is over", reason=str(error))
                self._over = True
                return None
            # Deleted, or a message of the channel that the token does not know.
            if error.code == UNKNOWN_MESSAGE and self._speaks:
                return None
            raise

    def _require_channel(self) -> None:
        """Ask nothing of a channel that is not ours: it would seem gone, and others ask there."""
        if not self._speaks:
            raise Rejected(FORBIDDEN, MISSING_PERMISSIONS, "only the token could speak there")

    def _with_name(self, content: Outgoing) -> Outgoing:
        return replace(content, text=named(self._asked_by) + content.text)

    def _as_page(self, sent: OwnMessage) -> OwnMessage:
        name = named(self._asked_by).rstrip()  # as Discord does with what is nothing else
        if sent.content.startswith(name):
            self._named.add(sent.id)
            content = sent.content.removeprefix(name).lstrip("\n")
            return replace(sent, content=content, reply_to=self._asked_by.id)
        if sent.answers == self._asked_by.id:
            self._editable.add(sent.id)
            return replace(sent, reply_to=sent.answers)
        return sent

    # --- the rest --------------------------------------------------------------------------------

    async def open_thread(self, channel: str, message: str, name: str, person: str) -> None:
        """As of the wire below."""
        await self._wire.open_thread(channel, message, name, person)

    async def type(self, channel: str) -> None:
        """Show the indicator, beside "thinking…"."""
        if self._speaks:
            await self._wire.type(channel)

    async def react(self, channel: str, message: str, emoji: str) -> None:
        """React; an interaction cannot be reacted to, so its response says it instead."""
        if message == self._asked_by.id:
            self._taken = await say_instead(self._wire, self._asked_by, emoji)
        elif self._speaks:
            await self._wire.react(channel, message, emoji)

    async def unreact(self, channel: str, message: str, emoji: str) -> None:
        """Take a reaction back."""
        if self._speaks:
            await self._wire.unreact(channel, message, emoji)


def token_is_over(error: Rejected) -> bool:
    """Whether a refusal says that the token will not do, now or ever."""
    return error.status == UNAUTHORIZED or error.code in TOKEN_OVER


async def say_instead(wire: Wire, message: Message, text: str | None) -> bool:
    """
    Let the response to *message* say *text*, or be gone, if it says "thinking…" still.

    Whether it does now. Nobody is told when the token is over: Discord has told them by then.
    """
    if message.deferred is None or not answerable(message):
        return False
    token = message.deferred.token
    try:
        if not await wire.webhook.thinks(token):
            return False
        if text is None:
            await wire.webhook.delete(token, ORIGINAL)
        else:
            await wire.webhook.edit(token, ORIGINAL, Outgoing(text))
    except Rejected as error:
        if error.code != UNKNOWN_MESSAGE and not token_is_over(error):
            raise
        return False
    return True


async def tell(wire: Wire, message: Message, text: str) -> None:
    """Say *text* to who used a command: in its response, or below when that is taken or over."""
    if message.deferred is None or await say_instead(wire, message, text):
        return
    if message.deferred.speaks:
        seed = nonce(f"notice {message.id} {text}", 0, 0, message.channel)
        content = Outgoing(named(message) + text)
        await wire.create(message.channel, content, nonce=seed, reply_to=None, ping=False)
    elif answerable(message):
        await wire.webhook.send(message.deferred.token, Outgoing(text))


async def tell_for_a_while(wire: Wire, message: Message, text: str, seconds: float) -> None:
    """Say *text* to who used a command, and take it back after *seconds*."""
    if message.deferred is not None and await say_instead(wire, message, text):
        await asyncio.sleep(seconds)
        await wire.webhook.delete(message.deferred.token, ORIGINAL)


async def settle(
    wire: Wire, messages: Iterable[Message], answered: ResponseWire | None, shrug: str | None
) -> None:
    """
    Leave no "thinking…" of a turn's *messages* behind, whose reply went out over *answered*.

    The first says *shrug*, if anything; the others are gone, their answer is in the same reply.
    """
    for message in messages:
        if answered is None or not answered.answers(message):
            await say_instead(wire, message, shrug)
        shrug = None
