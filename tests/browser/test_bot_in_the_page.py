"""The whole bot in the page: a reply grows, a second person waits, somebody says stop."""

import re

import pytest
from playwright.async_api import expect

from bot import texts
from bot.endings import Ending
from sandbox import Sandbox
from tests.browser.windows import Open
from tests.discord.bots import running

# The browser's loop; see the fixture.
pytestmark = pytest.mark.asyncio(loop_scope="session")

HOURGLASS = f"{texts.WAITING} 1"


async def test_a_reply_grows_until_its_author_stops_it_and_the_next_is_answered(
    open_as: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both people see all of it: typing, every edit, the hourglass, the mark, the next answer."""
    async with Sandbox() as sandbox, running(sandbox, monkeypatch):
        ada, bo = await open_as(sandbox, "Ada"), await open_as(sandbox, "Bo")
        await ada.write("count to 1000 slowly")
        for window in (ada, bo):
            await expect(window.find("typing")).to_have_text("Interlock is typing…")
            reply = window.find("message-content").nth(1)
            for grown in ("1 2 3", "1 2 3 4", "1 2 3 4 5"):
                await expect(reply).to_have_text(re.compile(f"^{grown}"))

        await bo.write("count to 3")
        for window in (ada, bo):
            waiting = window.find("message").nth(2)
            await expect(waiting.get_by_test_id("reaction")).to_have_text(HOURGLASS)

        await ada.write("stop")
        for window in (ada, bo):
            stopped = window.find("message-content").nth(1)
            await expect(stopped).to_contain_text(
                texts.here().mark(Ending.STOPPED).removeprefix("\n-# ")
            )
            await expect(window.find("message-content").last).to_have_text("1 2 3")
            await expect(window.find("message").nth(2).get_by_test_id("reaction")).to_have_count(0)
            await expect(window.find("typing")).to_have_text("")
