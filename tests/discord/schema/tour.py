"""Ask the sandbox for everything that a chat bot may ask of Discord, always in the same order."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from sandbox import Sandbox

BEYOND = (
    "/applications/{application_id}/emojis",
    "/applications/{application_id}/entitlements",
    "/channels/{channel_id}/followers",
    "/channels/{channel_id}/invites",
    "/channels/{channel_id}/messages/{message_id}/crosspost",
    "/channels/{channel_id}/polls",
    "/guilds/{guild_id}/audit-logs",
    "/guilds/{guild_id}/auto-moderation",
    "/guilds/{guild_id}/bans",
    "/guilds/{guild_id}/bulk-ban",
    "/guilds/{guild_id}/emojis",
    "/guilds/{guild_id}/invites",
    "/guilds/{guild_id}/prune",
    "/guilds/{guild_id}/scheduled-events",
    "/guilds/{guild_id}/stickers",
    "/guilds/{guild_id}/vanity-url",
    "/guilds/{guild_id}/voice-states",
    "/guilds/{guild_id}/webhooks",
    "/invites",
    "/stage-instances",
)
"""What the tour leaves out: a bot that chats moderates nobody, and decorates and voices nothing."""

COMPONENTS = [
    {
        "type": 1,
        "components": [
            {
                "type": 2,
                "style": 1,
                "label": "Go",
                "custom_id": "go",
                "emoji": {"id": None, "name": "⏹"},
            }
        ],
    },
    {
        "type": 1,
        "components": [
            {"type": 3, "custom_id": "pick", "options": [{"label": "One", "value": "1"}]}
        ],
    },
]

EMBED = {
    "title": "A title",
    "description": "A text",
    "url": "https://example.org/",
    "color": 1,
    "timestamp": "2025-01-01T00:00:00+00:00",
    "author": {"name": "Somebody", "url": "https://example.org/"},
    "footer": {"text": "At the end"},
    "image": {"url": "https://example.org/i.png"},
    "thumbnail": {"url": "https://example.org/t.png"},
    "fields": [{"name": "A field", "value": "Its value"}],
}

COMMANDS = [
    {"name": "greet", "description": "Greet", "options": [], "type": 1},
    {
        "name": "ask",
        "description": "Ask",
        "default_member_permissions": "8192",
        "options": [
            {"type": 3, "name": "text", "description": "What", "required": True},
            {"type": 4, "name": "times", "description": "How often", "min_value": 1},
        ],
    },
]


class Bot:
    """Send requests as the bot."""

    def __init__(self, sandbox: Sandbox, session: aiohttp.ClientSession) -> None:
        self.sandbox = sandbox
        self._session = session

    async def ask(
        self, method: str, path: str, body: object = None, *, status: int = 200, **files: bytes
    ) -> Any:  # noqa: ANN401 - any JSON
        """Send JSON, or with files a form; answer the JSON that came with the expected status."""
        sent: dict[str, Any] = {} if body is None else {"json": body}
        if files:
            form = aiohttp.FormData(quote_fields=False)
            form.add_field("payload_json", json.dumps(body), content_type="application/json")
            for number, (name, content) in enumerate(files.items()):
                form.add_field(f"files[{number}]", content, filename=f"{name}.txt")
            sent = {"data": form}
        async with self._session.request(method, self.sandbox.api + path, **sent) as answer:
            given = None if answer.status == 204 else await answer.json()
            assert answer.status == status, (method, path, given)
            return given


@asynccontextmanager
async def bot(sandbox: Sandbox) -> AsyncIterator[Bot]:
    """Be the bot of a sandbox, by bare requests."""
    headers = {"Authorization": f"Bot {sandbox.token}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        yield Bot(sandbox, session)


async def tour(sandbox: Sandbox) -> None:
    """Visit every route but those `BEYOND`, each with success, and the refusals of note."""
    world = sandbox.world
    role = world.bot_role(world.guild).id
    world.discord.edit_role(world.guild.id, role, {"permissions": 8})
    async with bot(sandbox) as one:
        await _introduced(one)
        await _in_a_channel(one)
        await _in_threads(one)
        await _in_a_dm(one)
        await _by_webhook(one)
        await _by_interactions(one)
        await _in_a_guild(one)
        await _refused(one)


async def _introduced(bot: Bot) -> None:
    application = f"/applications/{bot.sandbox.application_id}"
    guild = bot.sandbox.world.guild.id
    for path in ("/gateway", "/gateway/bot", "/users/@me", "/users/@me/guilds"):
        await bot.ask("GET", path)
    for path in ("/oauth2/applications/@me", "/applications/@me"):
        await bot.ask("GET", path)
    await bot.ask("PATCH", "/users/@me", {"username": "Interlock"})
    await bot.ask("GET", f"/users/{bot.sandbox.world.person('Ada').id}")
    for scope in (application, f"{application}/guilds/{guild}"):
        await bot.ask("PUT", f"{scope}/commands", COMMANDS)
        await bot.ask("GET", f"{scope}/commands")
    [command, _] = await bot.ask("GET", f"{application}/guilds/{guild}/commands")
    permissions = f"{application}/guilds/{guild}/commands/{command['id']}/permissions"
    await bot.ask("GET", permissions, status=404)
    asked = {"id": str(guild), "type": 1, "permission": True}
    bot.sandbox.world.discord.command_permissions[guild, int(command["id"])] = [asked]
    await bot.ask("GET", permissions)


async def _in_a_channel(bot: Bot) -> None:
    world = bot.sandbox.world
    channel, ada = f"/channels/{world.channel('general').id}", world.person("Ada").id
    messages = f"{channel}/messages"
    said = world.say(world.channel("general").id, ada, "hello", files=[("a.png", b"x")])
    world.react(said.id, ada, "👍")
    await bot.ask("GET", channel)
    await bot.ask("PATCH", channel, {"name": "general", "topic": "Talk"})
    await bot.ask("POST", f"{channel}/typing", status=204)
    everything = {"content": "all", "embeds": [EMBED], "components": COMPONENTS, "nonce": "n1"}
    sent = await bot.ask("POST", messages, everything, note=b"text")
    await bot.ask("POST", messages, {**everything, "enforce_nonce": True})
    reply = {"content": f"<@{ada}> hi", "message_reference": {"message_id": str(said.id)}}
    await bot.ask("POST", messages, reply)
    own = f"{messages}/{sent['id']}"
    await bot.ask("GET", own)
    await bot.ask("PATCH", own, {"content": "changed", "embeds": [], "components": []})
    for page in ("", "?limit=1", f"?after={said.id}", f"?before={sent['id']}"):
        await bot.ask("GET", messages + page)
    for emoji in ("%E2%8F%B3", "%F0%9F%91%8D"):
        await bot.ask("PUT", f"{messages}/{said.id}/reactions/{emoji}/@me", status=204)
        await bot.ask("GET", f"{messages}/{said.id}/reactions/{emoji}")
    await bot.ask("GET", f"{messages}/{said.id}")
    reactions = f"{messages}/{said.id}/reactions"
    for path in ("/%E2%8F%B3/@me", f"/%F0%9F%91%8D/{ada}", "/%F0%9F%91%8D", ""):
        await bot.ask("DELETE", reactions + path, status=204)
    await bot.ask("PUT", f"{messages}/pins/{sent['id']}", status=204)
    await bot.ask("GET", f"{messages}/pins")
    await bot.ask("DELETE", f"{messages}/pins/{sent['id']}", status=204)
    overwrite = {"type": 1, "allow": "1024", "deny": "0"}
    await bot.ask("PUT", f"{channel}/permissions/{ada}", overwrite, status=204)
    await bot.ask("GET", channel)
    await bot.ask("DELETE", f"{channel}/permissions/{ada}", status=204)
    ids = [(await bot.ask("POST", messages, {"content": word}))["id"] for word in "abc"]
    await bot.ask("DELETE", f"{messages}/{ids.pop()}", status=204)
    await bot.ask("POST", f"{messages}/bulk-delete", {"messages": ids}, status=204)


async def _in_threads(bot: Bot) -> None:
    world = bot.sandbox.world
    channel, ada = f"/channels/{world.channel('general').id}", world.person("Ada").id
    said = world.say(world.channel("general").id, ada, "long story")
    on_message = f"{channel}/messages/{said.id}/threads"
    await bot.ask("POST", on_message, {"name": "story"}, status=201)
    await bot.ask("POST", on_message, {"name": "again"}, status=400)
    await bot.ask("GET", f"{channel}/messages/{said.id}")
    thread = await bot.ask("POST", f"{channel}/threads", {"name": "t", "type": 11}, status=201)
    place = f"/channels/{thread['id']}"
    await bot.ask("GET", place)
    await bot.ask("POST", f"{place}/messages", {"content": "in it"})
    await bot.ask("PUT", f"{place}/thread-members/{ada}", status=204)
    await bot.ask("PUT", f"{place}/thread-members/@me", status=204)
    await bot.ask("GET", f"{place}/thread-members")
    await bot.ask("GET", f"{place}/thread-members/{ada}")
    await bot.ask("GET", f"/guilds/{world.guild.id}/threads/active")
    await bot.ask("DELETE", f"{place}/thread-members/{ada}", status=204)
    await bot.ask("DELETE", f"{place}/thread-members/@me", status=204)
    await bot.ask("PATCH", place, {"archived": True, "locked": True})
    for kind in ("threads/archived/public", "threads/archived/private"):
        await bot.ask("GET", f"{channel}/{kind}")
    await bot.ask("GET", f"{channel}/users/@me/threads/archived/private")
    await bot.ask("DELETE", place)


async def _in_a_dm(bot: Bot) -> None:
    ada = bot.sandbox.world.person("Ada").id
    dm = await bot.ask("POST", "/users/@me/channels", {"recipient_id": str(ada)})
    await bot.ask("GET", f"/channels/{dm['id']}")
    await bot.ask("POST", f"/channels/{dm['id']}/messages", {"content": "psst"})
    await bot.ask("GET", f"/channels/{dm['id']}/messages")


async def _by_webhook(bot: Bot) -> None:
    channel = f"/channels/{bot.sandbox.world.channel('random').id}"
    hook = await bot.ask("POST", f"{channel}/webhooks", {"name": "Hook"})
    await bot.ask("GET", f"{channel}/webhooks")
    by_id, by_token = f"/webhooks/{hook['id']}", f"/webhooks/{hook['id']}/{hook['token']}"
    await bot.ask("GET", by_id)
    await bot.ask("GET", by_token)
    await bot.ask("PATCH", by_id, {"name": "Hook 2"})
    await bot.ask("PATCH", by_token, {"name": "Hook 3"})
    said = await bot.ask("POST", f"{by_token}?wait=true", {"content": "as a hook"})
    await bot.ask("POST", by_token, {"content": "unheard"}, status=204)
    own = f"{by_token}/messages/{said['id']}"
    await bot.ask("GET", own)
    await bot.ask("PATCH", own, {"content": "changed"})
    await bot.ask("DELETE", own, status=204)
    await bot.ask("DELETE", by_token, status=204)
    hook = await bot.ask("POST", f"{channel}/webhooks", {"name": "Hook"})
    await bot.ask("DELETE", f"/webhooks/{hook['id']}", status=204)


async def _by_interactions(bot: Bot) -> None:
    world, interactions = bot.sandbox.world, bot.sandbox.interactions
    general, ada = world.channel("general").id, world.person("Ada").id
    first = interactions.use(general, ada, "greet", {})
    callback = f"/interactions/{first.id}/{first.token}/callback"
    message = {"content": "hello", "components": COMPONENTS}
    await bot.ask("POST", f"{callback}?with_response=true", {"type": 4, "data": message})
    await bot.ask("POST", callback, {"type": 5}, status=400)
    pressed = interactions.press(general, ada, first.message_id or 0, "go", [])
    callback = f"/interactions/{pressed.id}/{pressed.token}/callback"
    await bot.ask("POST", callback, {"type": 6}, status=204)
    again = interactions.press(general, ada, first.message_id or 0, "go", [])
    callback = f"/interactions/{again.id}/{again.token}/callback?with_response=true"
    await bot.ask("POST", callback, {"type": 4, "data": {"content": "pressed"}})
    later = interactions.use(general, ada, "ask", {"text": "what"})
    callback = f"/interactions/{later.id}/{later.token}/callback"
    await bot.ask("POST", callback, {"type": 5, "data": {"flags": 64}}, status=204)
    hook = f"/webhooks/{bot.sandbox.application_id}/{later.token}"
    original = f"{hook}/messages/@original"
    await bot.ask("GET", original)
    await bot.ask("PATCH", original, {"content": "there"})
    follow = await bot.ask("POST", hook, {"content": "more", "embeds": [EMBED]})
    own = f"{hook}/messages/{follow['id']}"
    await bot.ask("GET", own)
    await bot.ask("PATCH", own, {"content": "more still"})
    await bot.ask("DELETE", own, status=204)
    await bot.ask("DELETE", original, status=204)
    await bot.ask(
        "PATCH", f"/webhooks/{bot.sandbox.application_id}/none/messages/@original", {}, status=401
    )


async def _in_a_guild(bot: Bot) -> None:
    world = bot.sandbox.world
    guild, bo = f"/guilds/{world.guild.id}", world.person("Bo").id
    await bot.ask("GET", guild)
    await bot.ask("PATCH", guild, {"name": "Interlock"})
    for kind in ("channels", "roles", "members?limit=10"):
        await bot.ask("GET", f"{guild}/{kind}")
    channel = await bot.ask("POST", f"{guild}/channels", {"name": "new", "type": 0}, status=201)
    moved = [{"id": channel["id"], "position": 1}]
    await bot.ask("PATCH", f"{guild}/channels", moved, status=204)
    await bot.ask("DELETE", f"/channels/{channel['id']}")
    role = await bot.ask("POST", f"{guild}/roles", {"name": "new"})
    await bot.ask("GET", f"{guild}/roles/{role['id']}")
    await bot.ask("PATCH", f"{guild}/roles/{role['id']}", {"name": "old"})
    await bot.ask("PATCH", f"{guild}/roles", [{"id": role["id"], "position": 1}])
    member = f"{guild}/members/{bo}"
    await bot.ask("GET", member)
    await bot.ask("PUT", f"{member}/roles/{role['id']}", status=204)
    await bot.ask("DELETE", f"{member}/roles/{role['id']}", status=204)
    await bot.ask("DELETE", f"{guild}/roles/{role['id']}", status=204)
    await bot.ask("PATCH", member, {"nick": "Bobo"})
    await bot.ask("PATCH", f"{guild}/members/@me", {"nick": "Me"})
    await bot.ask("DELETE", member, status=204)


async def _refused(bot: Bot) -> None:
    world = bot.sandbox.world
    messages = f"/channels/{world.channel('general').id}/messages"
    await bot.ask("POST", messages, {}, status=400)
    await bot.ask("POST", messages, {"content": "x" * 2001}, status=400)
    gone = {"content": "x", "message_reference": {"message_id": "1"}}
    await bot.ask("POST", messages, gone, status=400)
    await bot.ask("POST", messages, {"content": {}}, status=400)
    await bot.ask("PATCH", f"{messages}/1", {"content": "x"}, status=404)
    await bot.ask("GET", "/channels/1", status=404)
    other = world.add_guild("Other")
    await bot.ask("DELETE", f"/users/@me/guilds/{other.id}", status=204)
