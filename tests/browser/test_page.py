"""The sandbox's page in a browser: people on one side, a bot of stock discord.py on the other."""

import asyncio
import re

import discord
import pytest
from playwright.async_api import Route, expect

from sandbox import Sandbox
from tests.browser.windows import Open, Window
from tests.discord.sandbox_client import Listener, connected
from tests.waiting import wait_until

# The browser's loop; see the fixture.
pytestmark = pytest.mark.asyncio(loop_scope="session")

NEAR = 2.0
"""Pixels; browsers round scroll positions."""


async def heard(bot: Listener, *, count: int = 1) -> discord.Message:
    """Wait for the bot's `count`th message from a person."""

    def from_people() -> list[discord.Message]:
        return [message for message in bot.of("message") if not message.author.bot][count - 1 :]

    return (await wait_until(from_people, description=f"the bot hears message {count}"))[0]


async def test_two_people_watch_a_reply_grow(open_as: Open) -> None:
    """A message, the typing line and every edit of the reply appear in both windows, in place."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        ada, bo = await open_as(sandbox, "Ada"), await open_as(sandbox, "Bo")
        await ada.write("hello")
        asked = await heard(bot)
        assert asked.content == f"<@{bot.application_id}> hello"
        await asked.channel.typing()
        for window in (ada, bo):
            await expect(window.text_of(asked.id)).to_have_text("@Interlock hello")
            await expect(window.find("typing")).to_have_text("Interlock is typing…")
        reply = await asked.reply("Once", mention_author=False)
        for window in (ada, bo):
            await expect(window.find("typing")).to_have_text("")
            await window.message(reply.id).evaluate("(item) => { item.wasHere = true; }")
        for text in ("Once upon", "Once upon\n\n```python\na = 1\n```", "Once upon a **time**"):
            await reply.edit(content=text)
        for window in (ada, bo):
            await expect(window.text_of(reply.id)).to_have_text("Once upon a time(edited)")
            await expect(window.message(reply.id).get_by_test_id("quote")).to_contain_text("hello")
            assert await window.message(reply.id).evaluate("(item) => item.wasHere")


async def test_the_newest_text_stays_in_view_unless_the_reader_scrolled_up(open_as: Open) -> None:
    """A growing reply pulls the view along; for a reader further up, only a button tells of it."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        ada = await open_as(sandbox, "Ada")
        await ada.write("tell me more")
        reply = await (await heard(bot)).reply("line")
        for lines in range(2, 60):
            await reply.edit(content="line\n" * lines)
        await expect(ada.text_of(reply.id)).to_have_text(re.compile(r"(line\s*){59}"))
        await _settles(ada, 0)
        await expect(ada.find("jump")).to_be_hidden()
        await ada.find("scroller").hover()
        await ada.page.mouse.wheel(0, -400)
        await expect(ada.find("jump")).to_be_visible()
        await _settles(ada, 400)
        await reply.channel.send("the end")
        await expect(ada.find("jump")).to_have_text("1 new below ↓")
        await ada.find("jump").click()
        await _settles(ada, 0)


async def _settles(window: Window, distance: float) -> None:
    async def there() -> bool:
        away = await window.scrolled_up_by()
        return away <= NEAR if distance == 0 else away >= distance - NEAR

    await wait_until(there, description=f"the view is {distance} px above the newest message")


async def test_a_button_reaches_the_bot_and_its_private_answer_one_person(open_as: Open) -> None:
    """Who presses sees the ephemeral answer and can dismiss it; nobody else ever sees it."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        ada, bo = await open_as(sandbox, "Ada"), await open_as(sandbox, "Bo")
        await ada.write("a button, please")
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Press", custom_id="press", emoji="⏹"))
        asked = await heard(bot)
        message = await asked.reply("here", view=view)
        await ada.message(message.id).get_by_role("button", name="⏹ Press").click()
        pressed = await bot.next("interaction")
        assert pressed.data["custom_id"] == "press"
        assert pressed.user.display_name == "Ada"
        await pressed.response.send_message("between us", ephemeral=True)
        await expect(ada.page.get_by_text("Only you can see this")).to_be_visible()
        await message.edit(content="pressed", view=None)
        for window in (ada, bo):
            await expect(window.text_of(message.id)).to_have_text("pressed(edited)")
            await expect(window.message(message.id).get_by_test_id("component")).to_have_count(0)
        await expect(bo.page.get_by_text("between us")).to_have_count(0)
        await ada.find("dismiss").click()
        await expect(ada.page.get_by_text("between us")).to_have_count(0)


async def test_whoever_types_faster_than_the_page_reads_is_still_offered_commands(
    open_as: Open,
) -> None:
    """What was typed before the commands were known brings up the palette once they are."""

    async def kill(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("nothing runs")

    async with Sandbox() as sandbox, connected(sandbox, {"kill": kill}):
        ada = await open_as(sandbox, "Ada")
        typed = asyncio.Event()

        async def held_back(route: Route) -> None:
            await typed.wait()
            await route.continue_()

        await ada.page.route("**/commands?*", held_back)
        await ada.page.reload()
        await ada.composer.press_sequentially("/")
        typed.set()
        await expect(ada.find("choice")).to_contain_text(["/kill"])


async def test_a_command_is_chosen_filled_in_and_run_from_the_keyboard(open_as: Open) -> None:
    """`/` lists the bot's commands; the options reach the bot in their types."""

    async def remind(
        interaction: discord.Interaction,
        what: str,
        minutes: int,
        loud: bool = False,
        whom: discord.Member | None = None,
    ) -> None:
        asked = (what, minutes, loud, whom and whom.display_name)
        await interaction.response.send_message(repr(asked))

    async def kill(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("nothing runs", ephemeral=True)

    async with Sandbox() as sandbox, connected(sandbox, {"remind": remind, "kill": kill}):
        ada = await open_as(sandbox, "Ada")
        await ada.composer.press_sequentially("/")
        await expect(ada.find("choice")).to_contain_text(["/kill", "/remind what minutes"])
        await ada.composer.press("Escape")
        await expect(ada.find("palette")).to_be_hidden()
        await ada.composer.press_sequentially("re")
        await ada.composer.press("Enter")
        await ada.find("option-what").fill("the <b>milk</b>")
        await ada.find("option-minutes").fill("5")
        await ada.find("option-loud").select_option("yes")
        await ada.find("option-whom").select_option("Bo")
        await ada.find("option-minutes").press("Enter")
        told = "('the <b>milk</b>', 5, True, 'Bo')"
        await expect(ada.find("message-content")).to_have_text([told])
        await ada.write("/kill")
        await ada.find("command-run").press("Enter")
        await expect(ada.find("message-content").last).to_have_text("nothing runs")
        await expect(ada.find("dismiss")).to_be_visible()
        await expect(ada.composer).to_be_focused()
