"""Messages that a turn says outside of its reply: journaled and fenced as the pages of a reply."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bot.journal import Journal
from bot.locks import Holding
from bot.pages import ASIDES, Pages
from bot.persist import persist
from bot.posted import Posted
from bot.speaking import Outgoing
from bot.stream import units

Answer = TypeVar("Answer")

#: Messages that one turn may say beside its reply.
MOST_SAID = 20

#: UTF-16 units of one message, Discord's limit.
LONGEST = 2000

#: The step under which it is recorded that a message was taken back.
TAKEN_BACK = "take back"


class Asides:
    """All that one run of a turn says beside its reply."""

    def __init__(self, pages: Pages, holding: Holding, journal: Journal) -> None:
        """*pages* are those of asides; what a forerunner of this run said is found among them."""
        self._pages = pages
        self._holding = holding
        self._journal = journal
        self._posted: dict[int, Posted] = pages.adopt()
        self._count = 0
        journal.excuse(TAKEN_BACK)

    @property
    def any(self) -> bool:
        """Whether anything was said."""
        return self._count > 0

    async def say(self, text: str) -> "SaidAside":
        """Send *text*, or find it where a forerunner has sent it; see `Turn.say`."""
        content = Outgoing(_checked(text))
        if self._count == MOST_SAID:
            raise ValueError(f"a turn says at most {MOST_SAID} messages beside its reply")
        number = ASIDES + self._count
        self._count += 1
        if (TAKEN_BACK, str(number)) not in self._journal.recorded:
            await self._show(number, content)
        return SaidAside(self, number)

    async def edit(self, number: int, text: str) -> None:
        """Replace the text of one that is there."""
        if number in self._posted:
            await self._show(number, Outgoing(_checked(text)))

    async def take_back(self, number: int) -> None:
        """Delete one, so that no replay says it again."""

        async def delete(_key: str) -> None:
            await self._delete(number)

        await self._journal.step(TAKEN_BACK, delete, str(number))
        self._posted.pop(number, None)

    async def sweep(self) -> None:
        """Delete what a forerunner has said and this run has not."""
        self._posted |= await self._persist(lambda: self._pages.settle(self._posted))
        for number in [one for one in self._posted if one >= ASIDES + self._count]:
            if (TAKEN_BACK, str(number)) not in self._journal.recorded:
                await self._delete(number)
            del self._posted[number]

    async def _show(self, number: int, content: Outgoing) -> None:
        """Bring a message to what it is to say; send it anew if it cannot be edited any more."""
        issue = 0
        if (posted := self._posted.get(number)) is not None:
            if not posted.differs(content) or await self._persist(
                lambda: self._pages.edit(posted, content)
            ):
                return
            issue = posted.issue + 1
        sent = await self._persist(lambda: self._pages.create(number, content, self._posted, issue))
        self._posted[number] = sent
        if sent.differs(content):  # an earlier try was delivered, which said something else
            await self._persist(lambda: self._pages.edit(sent, content))

    async def _delete(self, number: int) -> None:
        await self._persist(lambda: self._pages.delete(self._posted[number]))

    async def _persist(self, request: Callable[[], Awaitable[Answer]]) -> Answer:
        return await persist(request, self._holding, "aside")


class SaidAside:
    """A message that a turn has said beside its reply."""

    def __init__(self, asides: Asides, number: int) -> None:
        self._asides = asides
        self._number = number

    async def edit(self, text: str) -> None:
        """Replace its text; once it was deleted by `delete`, do nothing."""
        await self._asides.edit(self._number, text)

    async def delete(self) -> None:
        """Take it back."""
        await self._asides.take_back(self._number)


def _checked(text: str) -> str:
    if not text.strip():
        raise ValueError("a message needs text")
    if (long := units(text)) > LONGEST:
        raise ValueError(f"a message of {long} UTF-16 units; Discord takes {LONGEST}")
    return text
