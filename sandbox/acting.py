"""Serve what the control API offers to build worlds and to act as the people in them."""

from aiohttp import web

from sandbox import bodies
from sandbox.feed import Feed
from sandbox.forms import answer, parse, path_id, queried, read, read_json
from sandbox.gateway import Gateway
from sandbox.interactions import Interactions
from sandbox.places import NotPossible
from sandbox.views import channel_view, dm_view, guild_view, message_view, person_view
from sandbox.world import World


class Acting:
    """Turn requests into what the world does. The routes are described in `control`."""

    def __init__(
        self, world: World, *, gateway: Gateway, interactions: Interactions, feed: Feed
    ) -> None:
        self._world = world
        self._gateway = gateway
        self._interactions = interactions
        self._feed = feed

    async def add_guild(self, request: web.Request) -> web.Response:
        """Create a guild."""
        wanted = await read(request, bodies.NewGuild)
        guild = self._world.add_guild(wanted.name, shard=wanted.shard)
        return answer(guild_view(self._world, guild))

    async def add_channel(self, request: web.Request) -> web.Response:
        """Create a text channel."""
        wanted = await read(request, bodies.NewChannel)
        channel = self._world.add_channel(wanted.guild_id, wanted.name)
        return answer(channel_view(channel))

    async def change_channel(self, request: web.Request) -> web.Response:
        """Rename, archive, lock, or take permissions from the bot."""
        change = await read(request, bodies.ChannelChange)
        channel = self._world.change_channel(
            path_id(request),
            name=change.name,
            archived=change.archived,
            locked=change.locked,
            deny=change.deny,
        )
        return answer(channel_view(channel))

    async def delete_channel(self, request: web.Request) -> web.Response:
        """Delete a channel or thread."""
        self._world.delete_channel(path_id(request))
        return answer({})

    async def open_thread(self, request: web.Request) -> web.Response:
        """Open a thread as a person."""
        wanted = await read(request, bodies.NewThread)
        thread = self._world.open_thread(
            wanted.channel_id, wanted.user_id, wanted.name, message_id=wanted.message_id
        )
        return answer(channel_view(thread))

    async def add_user(self, request: web.Request) -> web.Response:
        """Create a person."""
        wanted = await read(request, bodies.NewUser)
        person = self._world.add_person(
            wanted.name,
            guild_id=wanted.guild_id,
            permissions=wanted.permissions,
            bot=wanted.bot,
        )
        return answer(person_view(person))

    async def open_dm(self, request: web.Request) -> web.Response:
        """Open or find a person's DM with the bot."""
        wanted = await read(request, bodies.NewDm)
        known = wanted.user_id in self._world.discord.dm_channels
        dm = self._world.open_dm(wanted.user_id)
        if not known:
            self._feed.publish("world")
        return answer(dm_view(dm))

    async def reset(self, request: web.Request) -> web.Response:
        """Start again with the default world."""
        # Sessions end first: the new world is none of theirs.
        self._gateway.invalidate()
        self._world.reset()
        self._feed.publish("reset")
        return answer({})

    async def list_messages(self, request: web.Request) -> web.Response:
        """Answer a channel's messages."""
        viewer = queried(request, "user_id")
        messages = self._world.messages(path_id(request), viewer=viewer)
        newest = queried(request, "limit") or len(messages)
        return answer([message_view(self._world, one) for one in messages[-newest:]])

    async def say(self, request: web.Request) -> web.Response:
        """Write a message as a person."""
        wanted = await read(request, bodies.NewMessage)
        message = self._world.say(
            wanted.channel_id,
            wanted.user_id,
            wanted.content,
            reply_to=wanted.reply_to,
            files=[(file.filename, file.base64) for file in wanted.files],
        )
        return answer(message_view(self._world, message))

    async def edit(self, request: web.Request) -> web.Response:
        """Edit a message as its author."""
        change = await read(request, bodies.MessageChange)
        message = self._world.find_message(path_id(request))
        if change.channel_id not in (None, message.channel_id):
            raise NotPossible(f"there is no message {message.id} in channel {change.channel_id}")
        return answer(message_view(self._world, self._world.edit(message.id, change.content)))

    async def delete(self, request: web.Request) -> web.Response:
        """Delete a message."""
        self._world.delete(path_id(request))
        return answer({})

    async def repost(self, request: web.Request) -> web.Response:
        """Say a message once more as a proxy does."""
        wanted = await read(request, bodies.Repost)
        message = self._world.repost(path_id(request), **wanted.model_dump())
        return answer(message_view(self._world, message))

    async def react(self, request: web.Request) -> web.Response:
        """Put on or take off a person's reaction."""
        wanted = await read(request, bodies.Reaction)
        message = self._world.react(
            path_id(request), wanted.user_id, wanted.emoji, reacted=not wanted.remove
        )
        return answer(message_view(self._world, message))

    async def type(self, request: web.Request) -> web.Response:
        """Show a person as typing."""
        wanted = await read(request, bodies.Typing)
        self._world.typing(wanted.channel_id, wanted.user_id)
        return answer({})

    async def list_commands(self, request: web.Request) -> web.Response:
        """Answer the registered slash commands."""
        channel_id, user_id = queried(request, "channel_id"), queried(request, "user_id")
        if channel_id is None or user_id is None:
            return answer(self._interactions.commands())
        return answer(self._interactions.visible_commands(channel_id, user_id))

    async def interact(self, request: web.Request) -> web.Response:
        """Use a command or press a button, and wait for what comes of it."""
        given = await read_json(request)
        used: bodies.Press | bodies.Command
        if "message_id" in given:
            used = pressed = parse(bodies.Press, given)
            record = self._interactions.press(
                pressed.channel_id,
                pressed.user_id,
                pressed.message_id,
                pressed.custom_id,
                pressed.values,
            )
        else:
            used = command = parse(bodies.Command, given)
            record = self._interactions.use(
                command.channel_id, command.user_id, command.command, command.options
            )
        return answer(await self._interactions.outcome(record, used.wait))

    async def expire_interaction(self, request: web.Request) -> web.Response:
        """Let an interaction's token expire."""
        record = self._interactions.find(path_id(request))
        self._interactions.expire(record)
        return answer(self._interactions.view(record))

    async def show_interaction(self, request: web.Request) -> web.Response:
        """Answer what has become of an interaction."""
        return answer(self._interactions.view(self._interactions.find(path_id(request))))
