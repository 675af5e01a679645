"""Open windows of the sandbox's page in a headless Chromium, each speaking as one person."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from playwright.async_api import Browser, Locator, Page, expect

from sandbox import Sandbox
from tests.waiting import PATIENCE

CHROMIUM_ARGUMENTS = (
    # Root, as in containers, has no user namespace to sandbox with; the only page shown is our own.
    "--no-sandbox",
    "--disable-gpu",
    # Without these Chromium calls home at its start, which a closed network lets it wait for.
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
)

# Playwright's own five seconds are too few for a machine that runs everything else beside it.
expect.set_options(timeout=PATIENCE * 1000)

REFUSED = "Failed to load resource"
"""How Chromium's console begins when the server answers a request of the page with an error."""


class Window:
    """One window: a person, a channel, and what went wrong in its console."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._listen)

    def _listen(self, message: object) -> None:
        kind, text = getattr(message, "type", ""), getattr(message, "text", "")
        if kind == "error" and not text.startswith(REFUSED):
            self.complaints.append(text)

    def find(self, testid: str) -> Locator:
        """Find what carries this `data-testid`."""
        return self.page.get_by_test_id(testid)

    @property
    def composer(self) -> Locator:
        """The text field."""
        return self.find("composer")

    async def write(self, text: str) -> None:
        """Type a text key by key and press Enter."""
        await self.composer.press_sequentially(text)
        await self.composer.press("Enter")

    def message(self, message_id: object) -> Locator:
        """Find a message by its id."""
        return self.page.locator(f"#message-{message_id}")

    def text_of(self, message_id: object) -> Locator:
        """Find the text of a message by its id."""
        return self.message(message_id).get_by_test_id("message-content")

    async def tool(self, message_id: object, testid: str) -> None:
        """Use the toolbar that a message shows under the pointer."""
        await self.message(message_id).hover()
        await self.message(message_id).get_by_test_id(testid).click()

    async def scrolled_up_by(self) -> float:
        """Measure how far the messages are scrolled away from the newest one, in pixels."""
        distance: float = await self.find("scroller").evaluate(
            "(box) => box.scrollHeight - box.scrollTop - box.clientHeight"
        )
        return distance


Open = Callable[[Sandbox, str], Awaitable[Window]]
"""Opens the page of a sandbox as the person of this name."""


async def open_window(
    browser: Browser, sandbox: Sandbox, speaker: str, *, channel: str = "general"
) -> Window:
    """Open the page as a person in a channel, and wait until it shows the channel."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    window = Window(await context.new_page())
    await window.page.goto(f"{sandbox.page}?{urlencode({'as': speaker})}#{channel}")
    await expect(window.find("channel-name")).to_have_text(f"# {channel}")
    await expect(window.find(f"speak-as-{speaker}")).to_be_checked()
    return window
