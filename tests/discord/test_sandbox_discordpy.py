"""Stock discord.py against the sandbox: what a bot does in a conversation."""

import asyncio
import io
from typing import Self

import discord
import pytest
from discord.http import Route

from sandbox import Sandbox
from tests.discord.sandbox_client import connected
from tests.waiting import wait_until


async def test_a_reply_streams_by_edits_while_the_bot_is_shown_typing() -> None:
    """A create, edits and a typing signal over the wire become one message in its last state."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        general, ada = world.channel("general").id, world.person("Ada").id
        asked = world.say(general, ada, f"hello <@{bot.application_id}>")
        heard = await bot.next("message")
        async with heard.channel.typing():
            reply = await heard.reply("0", mention_author=False)
            for count in range(1, 4):
                await reply.edit(content=f"{reply.content} {count}")
                reply = await heard.channel.fetch_message(reply.id)
        told = world.messages(general)[-1]
        assert told.content == "0 1 2 3"
        assert told.reference is not None
        assert told.reference["message_id"] == str(asked.id)
        sent = [(entry.method, entry.path.rsplit("/", 1)[-1]) for entry in sandbox.log.since()]
        assert sent.index(("POST", "typing")) < sent.index(("POST", "messages"))
        assert sum(method == "PATCH" for method, _ in sent) == 3


async def test_a_message_carries_what_discord_py_needs_to_judge_it() -> None:
    """Author, roles, permissions, mentions and the replied message arrive as on Discord."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        general, ada = world.channel("general").id, world.person("Ada").id
        own_role = world.bot_role(world.guild).id
        first = world.say(general, world.person("Bo").id, "first")
        world.say(general, ada, f"<@{bot.application_id}> <@&{own_role}>", reply_to=first.id)
        await bot.next("message", count=2)
        one, two = bot.of("message")
        assert not one.channel.permissions_for(one.author).manage_messages
        assert two.channel.permissions_for(two.author).manage_messages
        assert one.guild.owner_id not in (one.author.id, two.author.id)
        assert bot.user in two.mentions
        assert one.author in two.mentions, "a reply mentions whom it answers"
        assert one.guild.self_role.id == own_role
        assert [role.id for role in two.role_mentions] == [own_role]
        assert two.reference.resolved.content == "first"


async def test_people_edit_delete_and_react() -> None:
    """What a person changes reaches the bot as the events of Discord."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        general, bo = world.channel("general").id, world.person("Bo").id
        said = world.say(general, bo, "befor")
        await bot.next("message")
        world.edit(said.id, "before")
        assert (await bot.next("raw_message_edit")).message.content == "before"
        world.react(said.id, bo, "👍")
        assert str((await bot.next("raw_reaction_add")).emoji) == "👍"
        world.react(said.id, bo, "👍", reacted=False)
        await bot.next("raw_reaction_remove")
        world.typing(general, bo)
        assert (await bot.next("raw_typing")).user_id == bo
        world.delete(said.id)
        assert (await bot.next("raw_message_delete")).message_id == said.id


async def test_the_bot_reacts_and_takes_its_reaction_back() -> None:
    """The bot's own reactions are kept on the message."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        said = world.say(world.channel("general").id, world.person("Bo").id, "hm")
        heard = await bot.next("message")
        await heard.add_reaction("⏳")
        assert [one.emoji for one in said.reactions] == ["⏳"]
        assert bot.user is not None
        await heard.remove_reaction("⏳", bot.user)
        assert said.reactions == []


async def test_a_dm_is_heard_and_answered() -> None:
    """A DM needs no mention and no guild, and is told to shard 0."""
    async with Sandbox(shards=2) as sandbox, connected(sandbox, shards=[0, 1], count=2) as bot:
        cy = sandbox.world.person("Cy").id
        dm = sandbox.world.open_dm(cy)
        sandbox.world.say(dm.id, cy, "psst")
        heard = await bot.next("message")
        assert heard.guild is None
        assert heard.author.id == cy
        await heard.reply("yes?")
        user = await bot.fetch_user(cy)
        await user.send("again")
        assert [one.content for one in sandbox.world.messages(dm.id)] == ["psst", "yes?", "again"]


async def test_files_of_both_sides_can_be_read_back() -> None:
    """An upload has an address that answers with its bytes."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        general, ada = world.channel("general").id, world.person("Ada").id
        world.say(general, ada, "", files=[("täx.txt", b"from a person")])
        heard = await bot.next("message")
        assert await heard.attachments[0].read() == b"from a person"
        file = discord.File(io.BytesIO(b"from the bot"), "reply.md", description="the rest")
        sent = await heard.channel.send("see", file=file)
        assert await sent.attachments[0].read() == b"from the bot"
        assert sent.attachments[0].description == "the rest"


async def test_a_thread_hangs_on_its_message() -> None:
    """A thread opened on a message shares its id, can be written in, and is opened once."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        general = world.channel("general").id
        said = world.say(general, world.person("Bo").id, "long story")
        heard = await bot.next("message")
        thread = await heard.create_thread(name="story")
        await thread.send("go on")
        assert thread.id == said.id
        assert [one.content for one in world.messages(thread.id)] == ["go on"]
        assert [one.content for one in world.messages(general)] == ["long story"]
        with pytest.raises(discord.HTTPException) as refused:
            await heard.create_thread(name="again")
        assert refused.value.code == 160004


async def test_an_archived_thread_takes_messages_but_no_edits() -> None:
    """Editing in an archived thread is refused, writing in it wakes it, unless it is locked."""
    async with Sandbox() as sandbox, connected(sandbox) as bot:
        world = sandbox.world
        opened = world.open_thread(world.channel("general").id, world.person("Bo").id, "aside")
        await bot.next("thread_create")
        thread = await bot.fetch_channel(opened.id)
        assert isinstance(thread, discord.Thread)
        sent = await thread.send("one")
        world.change_channel(opened.id, archived=True)
        with pytest.raises(discord.HTTPException) as refused:
            await sent.edit(content="two")
        assert refused.value.code == 50083
        await thread.send("two")
        assert opened.thread_metadata is not None
        assert not opened.thread_metadata.archived
        world.change_channel(opened.id, locked=True)
        with pytest.raises(discord.Forbidden) as locked:
            await thread.send("three")
        assert locked.value.code == 160005


async def test_a_slash_command_is_answered_for_one_person_only() -> None:
    """An ephemeral response is hidden from everybody else and from the channel's history."""

    async def whisper(interaction: discord.Interaction) -> None:
        may = interaction.permissions.manage_messages
        await interaction.response.send_message(f"may: {may}", ephemeral=True)

    async with Sandbox() as sandbox, connected(sandbox, {"whisper": whisper}):
        world = sandbox.world
        general = world.channel("general").id
        for name, may in (("Ada", True), ("Bo", False)):
            person = world.person(name).id
            record = sandbox.interactions.use(general, person, "whisper", {})
            outcome = await sandbox.interactions.outcome(record)
            assert outcome["responded"]
            assert outcome["ephemeral"]
            assert outcome["content"] == f"may: {may}"
            assert [one.content for one in world.messages(general, viewer=person)] == [
                f"may: {may}"
            ]
        assert world.messages(general) == []


async def test_a_deferred_response_is_filled_in_and_followed_up() -> None:
    """Thinking, the edit of the original and a follow-up are told apart."""
    go_on = asyncio.Event()

    async def later(interaction: discord.Interaction) -> None:
        await interaction.response.defer()
        await go_on.wait()
        await interaction.edit_original_response(content="done")
        await interaction.followup.send("and more")

    async with Sandbox() as sandbox, connected(sandbox, {"later": later}):
        world, interactions = sandbox.world, sandbox.interactions
        record = interactions.use(world.channel("general").id, world.person("Bo").id, "later", {})
        await wait_until(lambda: record.responded, description="the command is deferred")
        waiting = interactions.view(record)
        assert (waiting["deferred"], waiting["thinking"]) == (True, True)
        go_on.set()
        outcome = await interactions.outcome(record)
        assert (outcome["deferred"], outcome["thinking"]) == (True, False)
        assert outcome["content"] == "done"
        await wait_until(lambda: record.followup_ids, description="the follow-up is there")
        assert interactions.view(record)["followups"][0]["content"] == "and more"


class Offer(discord.ui.View):
    """Offer one button."""

    @discord.ui.button(label="Go", custom_id="go")
    async def go(self, press: discord.Interaction, button: discord.ui.Button[Self]) -> None:
        """Say who pressed it, and take it away."""
        await press.response.edit_message(content=f"by {press.user.display_name}", view=None)


async def test_a_button_is_pressed_and_changes_its_message() -> None:
    """A press reaches the view, and its edit of the message takes the button away."""

    async def offer(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("press", view=Offer(timeout=None))

    async with Sandbox() as sandbox, connected(sandbox, {"offer": offer}) as bot:
        world, interactions = sandbox.world, sandbox.interactions
        general, bo = world.channel("general").id, world.person("Bo").id
        offered = await interactions.outcome(interactions.use(general, bo, "offer", {}))
        await bot.next("app_command_completion")  # only then discord.py knows the view
        pressed = interactions.press(general, bo, int(offered["message_id"]), "go", [])
        outcome = await interactions.outcome(pressed)
        assert outcome["content"] == "by Bo"
        assert outcome["components"] == []


async def test_a_late_or_second_response_to_an_interaction_is_refused() -> None:
    """The first response has three seconds, and there is one: 10062 and 40060."""
    refused: list[int] = []

    async def twice(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("once")
        again = interaction.client.http
        try:
            await again.request(  # past discord.py's own check
                Route(
                    "POST",
                    f"/interactions/{interaction.id}/{interaction.token}/callback",
                ),
                json={"type": 4, "data": {"content": "twice"}},
            )
        except discord.HTTPException as error:
            refused.append(error.code)

    async def late(interaction: discord.Interaction) -> None:
        record = sandbox.world.discord.interactions[interaction.id]
        record.initial_response_deadline = sandbox.world.discord.iso_after(-1)
        try:
            await interaction.response.send_message("late")
        except discord.HTTPException as error:
            refused.append(error.code)

    async with Sandbox() as sandbox, connected(sandbox, {"twice": twice, "late": late}):
        general, bo = sandbox.world.channel("general").id, sandbox.world.person("Bo").id
        sandbox.interactions.use(general, bo, "twice", {})
        await wait_until(lambda: refused == [40060], description="the second response is refused")
        sandbox.interactions.use(general, bo, "late", {})
        await wait_until(lambda: refused == [40060, 10062], description="the late one is refused")
