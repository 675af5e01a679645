"""What a person does in the page: write, correct, answer, change places, crash the bot."""

from collections.abc import Mapping

import pytest
from playwright.async_api import expect

from sandbox import Sandbox
from tests.browser.windows import Open
from tests.discord.sandbox_client import connected
from tests.waiting import wait_until

# The browser's loop; see the fixture.
pytestmark = pytest.mark.asyncio(loop_scope="session")


class Process:
    """Count what the page asks of the bot's process."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def crash(self) -> None:
        """Note it."""
        self.asked.append("crash")

    async def restart(self) -> None:
        """Note it."""
        self.asked.append("restart")

    async def status(self) -> Mapping[str, object]:
        """Say that it runs."""
        return {"running": True}


async def test_a_message_is_addressed_to_the_bot_unless_switched_off(open_as: Open) -> None:
    """The mention is put first where it is missing; with the switch off the text goes as it is."""
    async with Sandbox() as sandbox:
        general = sandbox.world.channel("general").id
        bot = sandbox.world.discord.bot_user.id
        ada = await open_as(sandbox, "Ada")
        await ada.write("hello")
        await ada.composer.press_sequentially("and @In")
        await ada.composer.press("Tab")
        await ada.write("again, @Bo!")
        await ada.find("mention-bot").uncheck()
        await ada.write("among us")
        await expect(ada.find("message")).to_have_count(3)
        bo = sandbox.world.person("Bo").id
        assert [message.content for message in sandbox.world.messages(general)] == [
            f"<@{bot}> hello",
            f"and <@{bot}> again, <@{bo}>!",
            "among us",
        ]


async def test_a_refused_message_stays_in_the_composer(open_as: Open) -> None:
    """What cannot be sent comes back with one line that says why, and goes out once corrected."""
    async with Sandbox() as sandbox:
        ada = await open_as(sandbox, "Ada")
        await ada.composer.fill("x" * 2001)
        await ada.composer.press("Enter")
        await expect(ada.find("notice")).to_contain_text("at most 2000 characters")
        await expect(ada.composer).to_have_value("x" * 2001)
        await ada.composer.fill("short")
        await ada.composer.press("Enter")
        await expect(ada.find("message-content")).to_have_text("@Interlock short")
        await expect(ada.find("notice")).to_be_hidden()
        await expect(ada.composer).to_have_value("")


async def test_people_correct_answer_react_and_delete(open_as: Open) -> None:
    """The toolbar of a message does to one's own and to others' messages what one may do."""
    async with Sandbox() as sandbox:
        world = sandbox.world
        general, bo = world.channel("general").id, world.person("Bo").id
        ada = await open_as(sandbox, "Ada")
        asked = world.say(general, bo, "what time?")
        await ada.tool(asked.id, "reply")
        await expect(ada.find("context")).to_contain_text("Replying to Bo: what time?")
        await ada.find("mention-bot").uncheck()
        await ada.write("noon")
        answer = await wait_until(lambda: world.messages(general)[1:], description="the answer")
        own = answer[0].id
        await expect(ada.message(own).get_by_test_id("quote")).to_contain_text("what time?")
        await ada.composer.fill("half a sentence")
        await ada.tool(own, "edit")
        await expect(ada.composer).to_have_value("noon")
        await ada.composer.press("Escape")
        await expect(ada.composer).to_have_value("half a sentence")
        await ada.composer.fill("")
        await ada.composer.press("ArrowUp")
        await ada.composer.fill("midnight")
        await ada.composer.press("Enter")
        await expect(ada.text_of(own)).to_have_text("midnight(edited)")
        await ada.message(asked.id).hover()
        await expect(ada.message(asked.id).get_by_test_id("delete")).to_have_count(0)
        await ada.page.get_by_label("React with 🎉").click()
        await expect(ada.message(asked.id).get_by_test_id("reaction")).to_have_text("🎉 1")
        await ada.message(asked.id).get_by_test_id("reaction").click()
        await expect(ada.find("reaction")).to_have_count(0)
        await ada.tool(own, "delete")
        await expect(ada.find("message")).to_have_count(1)


async def test_places_and_people_are_kept_in_the_address(open_as: Open) -> None:
    """Direct messages belong to one person, other channels show what is new, a reload stays put."""
    async with Sandbox() as sandbox:
        world = sandbox.world
        ada = await open_as(sandbox, "Ada")
        await ada.find("dm").click()
        await expect(ada.find("channel-name")).to_have_text("@ Interlock")
        await expect(ada.find("mention-row")).to_be_hidden()
        await ada.write("between us")
        await expect(ada.find("message-content")).to_have_text("between us")
        world.say(world.channel("random").id, world.person("Bo").id, "elsewhere")
        await expect(ada.find("channel-random").get_by_label("unread")).to_be_visible()
        await ada.page.reload()
        await expect(ada.find("message-content")).to_have_text("between us")
        await ada.find("speak-as-Bo").check()
        await expect(ada.find("message")).to_have_count(0)
        assert "as=Bo" in ada.page.url
        await ada.find("channel-random").click()
        await expect(ada.find("message-content")).to_have_text("elsewhere")


async def test_the_bots_process_is_crashed_and_restarted_from_the_page(open_as: Open) -> None:
    """The two buttons work when something supervises the bot, and say why not otherwise."""
    async with Sandbox() as sandbox:
        alone = await open_as(sandbox, "Bo")
        await expect(alone.find("bot-status")).to_have_text("Interlock offline")
        await expect(alone.find("crash")).to_be_disabled()
        await expect(alone.find("restart")).to_have_attribute(
            "title", "The bot was started by itself, so this page cannot kill or start it."
        )
        process = sandbox.supervisor = Process()
        ada = await open_as(sandbox, "Ada")
        await expect(ada.find("crash")).to_be_disabled()
        async with connected(sandbox):
            await expect(ada.find("bot-status")).to_have_text("Interlock online")
            await ada.find("crash").click()
            await ada.find("restart").click()
            await expect(ada.find("restart")).to_be_enabled()
        await expect(ada.find("bot-status")).to_have_text("Interlock offline")
        assert process.asked == ["crash", "restart"]
