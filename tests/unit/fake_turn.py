"""A turn whose lease the test holds itself, with the lines to store and Discord beside it."""

import time
from dataclasses import replace

from bot.delivery import Reply
from bot.inbound import Message
from bot.locks import Holding
from bot.pace import Pace
from bot.pages import Pages
from bot.posted import Posted
from bot.speaking import Outgoing
from state.outcomes import Placed
from state.values import Claim, Could, Page, Policy
from tests.unit.fake_store import Store
from tests.unit.fakes import CHANNEL, Discord, FakeWire, message

HELLO = Outgoing("hello")


class HeldTurn:
    """The pages of one turn."""

    def __init__(self, *left: Page, asked: Message | None = None) -> None:
        """*left* is what a forerunner has journaled."""
        self.store, self.discord = Store(), Discord()
        self.wire = FakeWire(self.discord)
        self.asked = asked or message()
        self.left = left
        self.posted: dict[int, Posted] = {}

    async def begin(self) -> "HeldTurn":
        """Start the turn."""
        placed = await self.store.port.admit(
            self.asked.conversation,
            self.asked.inbound(),
            Could(trigger=True),
            Policy(),
            op="first",
            claim=Claim(15.0),
        )
        assert isinstance(placed, Placed)
        started = placed.turnover.started
        assert started is not None
        state, lease = self.store.port, started.lease
        for page in self.left:
            await state.page(lease, page.number, page.issue, page.intent)
            if page.message_id is not None:
                await state.posted(lease, page.number, page.issue, page.message_id)
        self.store.steps.clear()
        self.holding = Holding(replace(started, pages=self.left), time.monotonic(), 15.0)
        self.pages = Pages(
            self.wire, state, Pace(), self.holding, CHANNEL, self.asked.id, pings=lambda: False
        )
        self.posted = self.pages.adopt()
        return self

    def reply(self) -> Reply:
        """Begin to write the reply; the test has to freeze it."""
        return Reply(self.pages, self.holding)

    async def create(self, number: int, content: Outgoing = HELLO, issue: int = 0) -> Posted:
        """Create one page as the writer does."""
        posted = await self.pages.create(number, content, self.posted, issue)
        self.posted[number] = posted
        return posted

    @property
    def journaled(self) -> list[tuple[int, int, bytes, str | None]]:
        """What the store has of the pages."""
        (record,) = self.store.database.records.values()
        assert record.turn is not None
        pages = record.turn.pages.values()
        return [(page.number, page.issue, page.intent, page.message_id) for page in pages]
