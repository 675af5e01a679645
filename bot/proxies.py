"""
Messages that a proxy says again under another name, such as PluralKit does for its people.

A proxy takes a person's message back and says it again through a webhook. What it says again is
that person's message in other words: an edit of the first, whose deletion then stops nothing.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from bot.admission import Heard
from bot.inbound import Message, Person
from bot.snowflake import made_at

#: Seconds for which the deletion of a message waits to be told apart from a proxy's taking back.
TAKEN_BACK_WITHIN = 2.0

#: Seconds between a message and what a proxy makes of it. Relation: a proxy that is slower is
#: believed to be down, and its people write anew.
SAID_AGAIN_WITHIN = 10.0

#: Messages remembered, and of those how many were said again. Relation: more than a process hears
#: within `SAID_AGAIN_WITHIN`.
REMEMBERED = 1000


class Proxies:
    """What people have lately written that a proxy may say again, and what one has."""

    def __init__(self, listed: Callable[[], bool]) -> None:
        """*listed* says whether the operator has named any; without, nothing is remembered."""
        self._listed = listed
        self._heard: deque[tuple[Message, Heard]] = deque(maxlen=REMEMBERED)
        self._said_again: deque[str] = deque(maxlen=REMEMBERED)
        self._noted = asyncio.Event()

    def hear(self, message: Message, heard: Heard) -> None:
        """Remember what somebody wrote in a guild: proxies speak there alone."""
        if message.guild is not None and self._listed():
            self._heard.append((message, heard))

    def credit(self, repost: Message, heard: Heard) -> tuple[Message, Heard, str | None]:
        """
        Credit what a proxy said to whoever wrote it first, whose id is answered as well.

        None: it is not known who did; then it is the proxy's own, under the name that it gave.
        """
        found = self._original(repost)
        if found is None:
            return repost, heard, None
        original, facts = found
        self._said_again.append(original.id)
        self._noted.set()
        self._noted = asyncio.Event()
        author = Person(original.author.id, repost.author.name)
        credited = replace(heard, allowed=facts.allowed, moderator=facts.moderator)
        return replace(repost, author=author), credited, original.id

    def _original(self, repost: Message) -> tuple[Message, Heard] | None:
        """
        Find what was said again: of what it may have been the one most like it, then the newest.

        A proxy takes away the marks by which it knows whom to speak for, and nothing else.
        """
        since = made_at(repost.id) - SAID_AGAIN_WITHIN
        lately = takewhile(lambda one: made_at(one[0].id) >= since, reversed(self._heard))
        likely = (one for one in lately if _is_part(repost, one[0]))
        return min(likely, key=lambda one: len(one[0].text), default=None)

    async def took_back(self, message: Message) -> bool:
        """Whether a deleted message was said again, or is within `TAKEN_BACK_WITHIN`."""
        if message.guild is None or not self._listed():
            return False
        try:
            async with asyncio.timeout(TAKEN_BACK_WITHIN):
                while message.id not in self._said_again:
                    await self._noted.wait()
        except TimeoutError:
            return False
        return True


def _is_part(repost: Message, message: Message) -> bool:
    """Whether *repost* may be *message* without marks; files are as good a sign as words."""
    if message.channel != repost.channel or not (repost.text or repost.attachments):
        return False
    files, again = (
        [(file.name, file.size) for file in one.attachments] for one in (message, repost)
    )
    return repost.text in message.text and files == again
