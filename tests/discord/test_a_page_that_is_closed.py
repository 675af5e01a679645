"""A page that is closed made its stream of events fail, with a traceback on the terminal."""

import logging

import aiohttp
import pytest

from sandbox import Sandbox
from tests.waiting import wait_until


async def test_a_page_that_is_closed_is_no_error(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    """Its stream ends at the next event that it would have been told."""
    async with (
        aiohttp.ClientSession(sandbox.page) as session,
        session.get("control/events") as page,
    ):
        assert b"hello" in await page.content.readline()

    def is_forgotten() -> bool:
        sandbox.feed.publish("bot", online=True)
        return not sandbox.feed._pages

    await wait_until(is_forgotten, description="the page is forgotten")
    assert [entry for entry in caplog.records if entry.levelno >= logging.ERROR] == []
