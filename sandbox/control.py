"""
Serve the control API, by which tests, operators and the page drive the sandbox.

JSON over loopback HTTP. Ids are strings (integers are taken too). What cannot be done is answered
with 400 and `{"error": "one line"}`. Everything without a question mark must be given.

World
    GET    /control/world              guilds with channels and roles, users, the bot, DMs, addresses
    POST   /control/guilds             {name, shard?}; every known person is in it
    POST   /control/channels           {guild_id, name}
    PATCH  /control/channels/ID        {name?, archived?, locked?, deny?: [permission of the bot]}
    DELETE /control/channels/ID
    POST   /control/threads            {channel_id, user_id, name, message_id?}
    POST   /control/users              {name, guild_id?, permissions?: ["manage_messages", …]};
                                       in every guild when none is named
    POST   /control/dms                {user_id}
    POST   /control/reset              back to the default world; every session ends

People
    POST   /control/messages           {channel_id, user_id, content, reply_to?,
                                       files?: [{filename, base64}]}
    PATCH  /control/messages/ID        {content}; as its author
    DELETE /control/messages/ID
    PUT    /control/messages/ID/reactions
                                       {user_id, emoji, remove?}
    POST   /control/typing             {channel_id, user_id}
    GET    /control/channels/ID/messages
                                       oldest first; ?user_id= adds what only that person sees,
                                       ?limit= keeps the newest
    GET    /control/commands           the registered slash commands; ?channel_id=&user_id= leaves
                                       those that this person may use there
    POST   /control/interactions       {channel_id, user_id, command, options?, wait?} or
                                       {channel_id, user_id, message_id, custom_id, values?, wait?};
                                       answers {id, responded, kind, deferred, thinking, ephemeral,
                                       content, components, message_id, message, followups, modal}
                                       when the text is there, at the latest after `wait` (5) seconds
    GET    /control/interactions/ID    the same, now

Faults
    GET    /control/log                the bot's requests: [{seq, time, monotonic, seconds, method,
                                       path, status, body, lost}]; ?since=SEQ
    GET    /control/faults             those in force
    POST   /control/faults             {match?: {method?, path?}, times?, latency?, status?, code?,
                                       message?, retry_after?, global?, lose_reply?}; `path` is a glob
                                       on what follows /api/v10; `retry_after` makes it a 429;
                                       `lose_reply` carries the request out and cuts the connection
    POST   /control/faults             {gateway: "drop" | "invalid_session" | "reconnect" | "silence",
                                       shard?}
    DELETE /control/faults             all requests succeed, silent sockets speak again

The bot's process, when something supervises it (else 409)
    GET    /control/bot                {online, supervised, …}; never 409
    POST   /control/bot/crash          kill -9
    POST   /control/bot/restart

GET /control/events is a stream of server-sent events for the page. Each is one JSON object with a
`type`: `hello` (first), `message_create` and `message_update` {message}, `message_delete`
{channel_id, id}, `ephemeral` {channel_id, user_id, message} (new or changed), `typing` {channel_id,
user_id}, `reactions` {channel_id, message_id, reactions}, `channel_create` and `channel_update`
{channel}, `channel_delete` {id, guild_id}, `world` {} (guilds or people changed), `commands` {} (the
set changed), `bot` {online}, `reset` {}.

A message is {id, channel_id, guild_id, author: {id, name, bot, color}, content, type, flags,
created_at, edited, edited_at, reference: {message_id, author, content} | null, mentions, mention_roles,
mention_everyone, reactions: [{emoji, count, users}], components, attachments: [{filename, url, size,
content_type, …}], embeds, nonce, ephemeral, thinking, interaction: {user_id, name} | null, thread_id}.
"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aiohttp import web

from sandbox import bodies
from sandbox.faults import Fault, Faults
from sandbox.feed import Feed
from sandbox.gateway import Gateway
from sandbox.interactions import Interactions
from sandbox.log import RequestLog
from sandbox.places import NotPossible
from sandbox.supervision import Supervisor
from sandbox.views import channel_view, dm_view, guild_view, message_view, person_view, world_view
from sandbox.forms import answer, number, parse, queried, read, read_json
from sandbox.world import World

ALIVE = 15.0
"""Seconds between signs of life on an event stream; without them a closed page is not noticed."""


class Control:
    """Serve the routes of the control API."""

    def __init__(
        self,
        world: World,
        *,
        gateway: Gateway,
        interactions: Interactions,
        faults: Faults,
        feed: Feed,
        log: RequestLog,
        addresses: Callable[[], dict[str, str]],
        supervisor: Callable[[], Supervisor | None],
    ) -> None:
        self._world = world
        self._gateway = gateway
        self._interactions = interactions
        self._faults = faults
        self._feed = feed
        self._log = log
        self._addresses = addresses
        self._supervisor = supervisor

    def routes(self) -> list[web.RouteDef]:
        """List what is served, in the order of the reference above."""
        return [
            web.get("/control/world", self._get_world),
            web.post("/control/guilds", self._post_guild),
            web.post("/control/channels", self._post_channel),
            web.patch("/control/channels/{id}", self._patch_channel),
            web.delete("/control/channels/{id}", self._delete_channel),
            web.post("/control/threads", self._post_thread),
            web.post("/control/users", self._post_user),
            web.post("/control/dms", self._post_dm),
            web.post("/control/reset", self._post_reset),
            web.post("/control/messages", self._post_message),
            web.patch("/control/messages/{id}", self._patch_message),
            web.delete("/control/messages/{id}", self._delete_message),
            web.put("/control/messages/{id}/reactions", self._put_reaction),
            web.post("/control/typing", self._post_typing),
            web.get("/control/channels/{id}/messages", self._get_messages),
            web.get("/control/commands", self._get_commands),
            web.post("/control/interactions", self._post_interaction),
            web.get("/control/interactions/{id}", self._get_interaction),
            web.get("/control/log", self._get_log),
            web.get("/control/faults", self._get_faults),
            web.post("/control/faults", self._post_fault),
            web.delete("/control/faults", self._delete_faults),
            web.get("/control/bot", self._get_bot),
            web.post("/control/bot/crash", self._post_crash),
            web.post("/control/bot/restart", self._post_restart),
            web.get("/control/events", self._get_events),
        ]

    # --------------------------------------------------------------------------------------- world

    async def _get_world(self, request: web.Request) -> web.Response:
        bot = {
            "online": self._gateway.online,
            "supervised": self._supervisor() is not None,
            "identifies": self._gateway.identifies,
            "resumes": self._gateway.resumes,
        }
        world = world_view(self._world)
        return answer({**self._addresses(), **world, "bot": {**world["bot"], **bot}})

    async def _post_guild(self, request: web.Request) -> web.Response:
        wanted = await read(request, bodies.NewGuild)
        guild = self._world.add_guild(wanted.name, shard=wanted.shard)
        return answer(guild_view(self._world, guild))

    async def _post_channel(self, request: web.Request) -> web.Response:
        wanted = await read(request, bodies.NewChannel)
        channel = self._world.add_channel(wanted.guild_id, wanted.name)
        return answer(channel_view(channel))

    async def _patch_channel(self, request: web.Request) -> web.Response:
        change = await read(request, bodies.ChannelChange)
        channel = self._world.change_channel(
            _id(request),
            name=change.name,
            archived=change.archived,
            locked=change.locked,
            deny=change.deny,
        )
        return answer(channel_view(channel))

    async def _delete_channel(self, request: web.Request) -> web.Response:
        self._world.delete_channel(_id(request))
        return answer({})

    async def _post_thread(self, request: web.Request) -> web.Response:
        wanted = await read(request, bodies.NewThread)
        thread = self._world.open_thread(
            wanted.channel_id, wanted.user_id, wanted.name, message_id=wanted.message_id
        )
        return answer(channel_view(thread))

    async def _post_user(self, request: web.Request) -> web.Response:
        wanted = await read(request, bodies.NewUser)
        person = self._world.add_person(
            wanted.name, guild_id=wanted.guild_id, permissions=wanted.permissions
        )
        return answer(person_view(person))

    async def _post_dm(self, request: web.Request) -> web.Response:
        wanted = await read(request, bodies.NewDm)
        return answer(dm_view(self._world.open_dm(wanted.user_id)))

    async def _post_reset(self, request: web.Request) -> web.Response:
        self._world.reset()
        self._gateway.invalidate()
        self._feed.publish("reset")
        return answer({})

    # -------------------------------------------------------------------------------------- people

    async def _post_message(self, request: web.Request) -> web.Response:
        wanted = await read(request, bodies.NewMessage)
        message = self._world.say(
            wanted.channel_id,
            wanted.user_id,
            wanted.content,
            reply_to=wanted.reply_to,
            files=[(file.filename, file.base64) for file in wanted.files],
        )
        return answer(message_view(self._world, message))

    async def _patch_message(self, request: web.Request) -> web.Response:
        change = await read(request, bodies.MessageChange)
        message = self._world.find_message(_id(request))
        if change.channel_id not in (None, message.channel_id):
            raise NotPossible(f"there is no message {message.id} in channel {change.channel_id}")
        return answer(message_view(self._world, self._world.edit(message.id, change.content)))

    async def _delete_message(self, request: web.Request) -> web.Response:
        self._world.delete(_id(request))
        return answer({})

    async def _put_reaction(self, request: web.Request) -> web.Response:
        wanted = await read(request, bodies.Reaction)
        message = self._world.react(
            _id(request), wanted.user_id, wanted.emoji, reacted=not wanted.remove
        )
        return answer(message_view(self._world, message))

    async def _post_typing(self, request: web.Request) -> web.Response:
        wanted = await read(request, bodies.Typing)
        self._world.typing(wanted.channel_id, wanted.user_id)
        return answer({})

    async def _get_messages(self, request: web.Request) -> web.Response:
        viewer = queried(request, "user_id")
        messages = self._world.messages(_id(request), viewer=viewer)
        newest = queried(request, "limit") or len(messages)
        return answer([message_view(self._world, one) for one in messages[-newest:]])

    async def _get_commands(self, request: web.Request) -> web.Response:
        channel_id, user_id = queried(request, "channel_id"), queried(request, "user_id")
        if channel_id is None or user_id is None:
            return answer(self._interactions.commands())
        return answer(self._interactions.visible_commands(channel_id, user_id))

    async def _post_interaction(self, request: web.Request) -> web.Response:
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

    async def _get_interaction(self, request: web.Request) -> web.Response:
        return answer(self._interactions.view(self._interactions.find(_id(request))))

    # -------------------------------------------------------------------------------------- faults

    async def _get_log(self, request: web.Request) -> web.Response:
        return answer([asdict(entry) for entry in self._log.since(queried(request, "since") or 0)])

    async def _get_faults(self, request: web.Request) -> web.Response:
        return answer([asdict(fault) for fault in self._faults.active])

    async def _post_fault(self, request: web.Request) -> web.Response:
        given = await read_json(request)
        if "gateway" in given:
            self._break_gateway(parse(bodies.GatewayFault, given))
            return answer({})
        wanted = parse(bodies.RequestFault, given)
        fault = Fault(
            method=wanted.match.method,
            path=wanted.match.path,
            **wanted.model_dump(exclude={"match"}),
        )
        self._faults.add(fault)
        return answer(asdict(fault))

    def _break_gateway(self, fault: bodies.GatewayFault) -> None:
        match fault.gateway:
            case "drop":
                self._gateway.drop(fault.shard)
            case "invalid_session":
                self._gateway.invalidate(fault.shard)
            case "reconnect":
                self._gateway.reconnect(fault.shard)
            case "silence":
                self._gateway.silence(fault.shard)

    async def _delete_faults(self, request: web.Request) -> web.Response:
        self._faults.clear()
        self._gateway.unmute()
        return answer({})

    # ----------------------------------------------------------------------------- the bot's process

    async def _get_bot(self, request: web.Request) -> web.Response:
        supervisor = self._supervisor()
        status: dict[str, Any] = {} if supervisor is None else dict(await supervisor.status())
        return answer(
            {**status, "online": self._gateway.online, "supervised": supervisor is not None}
        )

    async def _post_crash(self, request: web.Request) -> web.Response:
        await self._require_supervisor().crash()
        return await self._get_bot(request)

    async def _post_restart(self, request: web.Request) -> web.Response:
        await self._require_supervisor().restart()
        return await self._get_bot(request)

    def _require_supervisor(self) -> Supervisor:
        supervisor = self._supervisor()
        if supervisor is None:
            text = '{"error": "nothing here supervises the bot; start `interlock` without a token"}'
            raise web.HTTPConflict(text=text, content_type="application/json")
        return supervisor

    # -------------------------------------------------------------------------------------- events

    async def _get_events(self, request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await stream.prepare(request)
        with self._feed.subscribed() as waiting:
            while True:
                try:
                    async with asyncio.timeout(ALIVE):
                        event = await waiting.get()
                except TimeoutError:
                    await stream.write(b": alive\n\n")
                    continue
                if event is None:
                    return stream
                await stream.write(f"data: {event}\n\n".encode())


def _id(request: web.Request) -> int:
    return number(request.match_info["id"], "the id")
