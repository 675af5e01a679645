"""A browser for the tests of the page."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from sandbox import Sandbox
from tests.browser.windows import CHROMIUM_ARGUMENTS, Open, Window, open_window


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """
    Find Chromium on this machine.

    Without one the tests are skipped, but never in CI, where a green run means that they passed.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None and os.environ.get("CI"):
        pytest.fail("no Chromium on PATH")
    return found or pytest.skip("no Chromium on PATH")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium_path: str, temporary_root: Path) -> AsyncIterator[Browser]:
    """
    Run a headless Chromium for all tests of this session: starting one takes most of a second.

    Its profile is a temporary folder, hence the root.
    """
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_path, args=list(CHROMIUM_ARGUMENTS)
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_as(browser: Browser) -> AsyncIterator[Open]:
    """Open windows; close them afterwards, and fail the test when one of them logged an error."""
    windows: list[Window] = []

    async def open_as(sandbox: Sandbox, speaker: str) -> Window:
        windows.append(await open_window(browser, sandbox, speaker))
        return windows[-1]

    yield open_as
    for window in windows:
        await window.page.context.close()
    complaints = [text for window in windows for text in window.complaints]
    assert not complaints, f"the page's console: {complaints}"
