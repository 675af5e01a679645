"""What people and bots write stays text: nothing of it runs in the page."""

import discord
import pytest
from playwright.async_api import expect

from sandbox import Sandbox
from tests.browser.windows import Open
from tests.discord.sandbox_client import connected
from tests.waiting import wait_until

# The browser's loop; see the fixture.
pytestmark = pytest.mark.asyncio(loop_scope="session")

RUNS = "window.ran = true"
HOSTILE = (
    f"<img src=x onerror='{RUNS}'>",
    f"<script>{RUNS}</script>",
    f"[press](javascript:{RUNS})",
    f"[press](blob:{RUNS}) <ftp://example.org/>",
    f"<javascript:{RUNS}>",
    f"[press](data:text/html,<script>{RUNS}</script>)",
    f'```"><img/src=x/onerror=window.ran=1>\n</code></pre><script>{RUNS}</script>\n```',
    f"`</code><svg onload='{RUNS}'>`",
    f"||<svg onload='{RUNS}'>||",
    f"-# <svg onload='{RUNS}'>",
    f"> <iframe srcdoc='<script>parent.{RUNS}</script>'>",
    f'![x](https://example.org/"onerror="{RUNS})',
    f"</{RUNS}:1> <:ran:1> <@1> <@&2> <#3> <t:0:R>",
)


async def test_markup_in_texts_and_names_stays_text(open_as: Open) -> None:
    """Of hostile texts, names and embeds no element, link or script comes into being."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        name = f"<img src=x onerror='{RUNS}'>"
        mallory = world.add_person(name)
        general = world.channel("general").id
        ada = await open_as(sandbox, "Ada")
        said = [world.say(general, mallory.id, text) for text in HOSTILE][-1]
        channel = bot.get_channel(general)
        assert isinstance(channel, discord.TextChannel)
        embed = discord.Embed(title=name, description=HOSTILE[0], url="https://example.org/")
        embed.add_field(name=HOSTILE[1], value=HOSTILE[2])
        quoted = channel.get_partial_message(said.id)
        reply = await quoted.reply(f"last {HOSTILE[0]}", embed=embed)
        await expect(ada.text_of(reply.id)).to_contain_text(f"last {HOSTILE[0]}")
        await expect(ada.find("message-content")).to_have_count(len(HOSTILE) + 1)
        await expect(ada.message(said.id)).to_contain_text(name)
        made = ada.find("messages").locator(
            "script, iframe, svg, img:not(.avatar), [onerror], [onload], a:not([href^='http'])"
        )
        await expect(made).to_have_count(0)
        assert await ada.page.evaluate("window.ran") is None


async def test_the_page_refuses_scripts_by_its_policy(open_as: Open) -> None:
    """Were markup ever to slip through, the browser would neither insert nor run it."""
    async with Sandbox() as sandbox:
        ada = await open_as(sandbox, "Ada")
        refused = await ada.page.evaluate(
            """() => {
                try { document.body.innerHTML = '<b>markup</b>'; }
                catch (error) { return error.name; }
            }"""
        )
        assert refused == "TypeError"
        await wait_until(lambda: ada.complaints, description="the browser complains")
        assert "TrustedHTML" in ada.complaints.pop()


async def test_markdown_is_drawn_as_discord_draws_it(open_as: Open) -> None:
    """Formatting, mentions, spoilers and code appear as such, and a spoiler opens by a click."""
    async with Sandbox() as sandbox:
        world = sandbox.world
        bot, bo = world.discord.bot_user.id, world.person("Bo")
        general = world.channel("general").id
        ada = await open_as(sandbox, "Ada")
        said = world.say(
            general,
            bo.id,
            f"__under__ **bold** <@{bot}> <#{general}> ||hidden||\n-# small\n> quoted\nplain\n"
            "```python\nx = 1\n```",
        )
        text = ada.text_of(said.id)
        for selector, wanted in (
            ("u", "under"),
            ("strong", "bold"),
            (".mention", ["@Interlock", "#general"]),
            ("small", "small"),
            ("blockquote", "quoted"),
            ("figcaption span", "python"),
            ("pre", "x = 1"),
        ):
            await expect(text.locator(selector)).to_have_text(wanted)
        spoiler = text.locator(".spoiler")
        await expect(spoiler).to_have_css("color", "rgba(0, 0, 0, 0)")
        await spoiler.click()
        await expect(spoiler).not_to_have_css("color", "rgba(0, 0, 0, 0)")
        world.edit(said.id, f"__under__ **bold** <@{bot}> <#{general}> ||hidden||\n\nmore")
        await expect(text).to_contain_text("more")
