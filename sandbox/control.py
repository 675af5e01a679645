"""
Serve the control API, by which tests, operators and the page drive the sandbox.

JSON over HTTP on loopback. Ids are strings (integers are taken too); `?` marks what may be left
out. What cannot be done is answered with 400 and `{"error": "one line that says why"}`.

The world
    GET    /control/world           guilds with channels and roles, users, the bot, DMs, addresses
    POST   /control/guilds          {name, shard?}: everybody known is in it
    POST   /control/channels        {guild_id, name}
    PATCH  /control/channels/ID     {name?, archived?, locked?, deny?}: `deny` lists permissions
                                    that the bot does not have there
    DELETE /control/channels/ID
    POST   /control/threads         {channel_id, user_id, name, message_id?}
    POST   /control/users           {name, guild_id?, permissions?, bot?}: in all guilds by default;
                                    permissions by discord.py's names, such as "manage_messages"
    POST   /control/dms             {user_id}: opened, or found
    POST   /control/reset           back to the default world; every session ends

What people do
    GET    /control/channels/ID/messages
                                    oldest first; ?user_id= adds what only that person sees,
                                    ?limit= keeps the newest
    POST   /control/messages        {channel_id, user_id, content, reply_to?,
                                     files?: [{filename, base64}]}
    PATCH  /control/messages/ID     {content}: as its author
    DELETE /control/messages/ID
    POST   /control/messages/ID/repost
                                    {name, content?, application_id?}: said once more by a webhook,
                                    as PluralKit does; delete the original to complete the picture
    PUT    /control/messages/ID/reactions
                                    {user_id, emoji, remove?}
    POST   /control/typing          {channel_id, user_id}
    GET    /control/commands        the slash commands as the bot registered them;
                                    ?channel_id=&user_id= leaves those that may be used
    POST   /control/interactions    {channel_id, user_id, command, options?, wait?}, or
                                    {channel_id, user_id, message_id, custom_id, values?, wait?}:
                                    answers once the response has its text, at the latest after
                                    `wait` (5) seconds: {id, responded, kind, deferred, thinking,
                                    ephemeral, content, components, message_id, message, followups,
                                    modal}
    GET    /control/interactions/ID the same, as it is now
    POST   /control/interactions/ID/expire
                                    its token is good for nothing any more (401, 50027)

What goes wrong
    GET    /control/log             the bot's requests as {seq, time, monotonic, seconds, method,
                                    path, status, body, lost}; ?since=SEQ
    GET    /control/faults          those in force
    POST   /control/faults          {match?: {method?, path?}, times?, seconds?, latency?, status?,
                                     code?, message?, retry_after?, global?, lose_reply?,
                                     lose_request?}:
                                    `path` is a glob on what follows /api/v10, times are in seconds;
                                    `retry_after` answers 429; `lose_reply` carries the request out
                                    and cuts the connection, `lose_request` cuts it before; in force
                                    for so many `times`, for so many `seconds`, or until cleared
    POST   /control/faults          {gateway, shard?}: "drop" cuts sockets, "reconnect" asks for a
                                    resume, "invalid_session" ends sessions, "silence" keeps sockets
                                    open and holds back what would be sent on them
    POST   /control/faults          {gateway, seconds?}: "swallow" loses all frames in both
                                    directions and cuts the sockets at the end, "refuse" cuts them
                                    now and takes no new ones; for so many seconds or until cleared
    DELETE /control/faults          requests succeed, silent sockets speak again
    GET    /control/gateway         what /gateway/bot answers, and {identify_interval}
    PATCH  /control/gateway         {remaining?, max_concurrency?, identify_interval?}: an identify
                                    within the interval (seconds) of its bucket is answered by op 9;
                                    one too many in a day closes everything with 4004
    PUT    /control/automod         {words}: messages of the bot with one of them are refused
                                    (200000)
    POST   /control/cdn/expire      all addresses of files that were given out work no longer

The bot's process
    GET    /control/bot             {online, supervised, …}
    POST   /control/bot/crash       kill -9
    POST   /control/bot/restart     both 409 when nothing supervises the bot

GET /control/events streams to the page (server-sent events, one JSON object each, told apart by
`type`): `hello` at the beginning; `message_create` and `message_update` {message}; `message_delete`
{channel_id, id}; `ephemeral` {channel_id, user_id, message}, new or changed; `typing` {channel_id,
user_id}; `reactions` {channel_id, message_id, reactions}; `channel_create` and `channel_update`
{channel}; `channel_delete` {id, guild_id}; `world` when guilds or people changed; `commands` when
their set did; `bot` {online}; `reset`.

A message is {id, channel_id, guild_id, author: {id, name, bot, color}, content, type, flags,
created_at, edited, edited_at, reference: {message_id, author, content} or null, mentions,
mention_roles, mention_everyone, reactions: [{emoji, count, users}], components, attachments:
[{filename, url, size, content_type, …}], embeds, nonce, ephemeral, thinking, interaction: {user_id,
name} or null, thread_id}. `mentions` are those who are notified.
"""

from aiohttp import web

from sandbox.acting import Acting
from sandbox.operating import Operating


def control_routes(acting: Acting, operating: Operating) -> list[web.RouteDef]:
    """List the routes in the order of the reference above."""
    return [
        web.get("/control/world", operating.show_world),
        web.post("/control/guilds", acting.add_guild),
        web.post("/control/channels", acting.add_channel),
        web.patch("/control/channels/{id}", acting.change_channel),
        web.delete("/control/channels/{id}", acting.delete_channel),
        web.post("/control/threads", acting.open_thread),
        web.post("/control/users", acting.add_user),
        web.post("/control/dms", acting.open_dm),
        web.post("/control/reset", acting.reset),
        web.get("/control/channels/{id}/messages", acting.list_messages),
        web.post("/control/messages", acting.say),
        web.patch("/control/messages/{id}", acting.edit),
        web.delete("/control/messages/{id}", acting.delete),
        web.post("/control/messages/{id}/repost", acting.repost),
        web.put("/control/messages/{id}/reactions", acting.react),
        web.post("/control/typing", acting.type),
        web.get("/control/commands", acting.list_commands),
        web.post("/control/interactions", acting.interact),
        web.get("/control/interactions/{id}", acting.show_interaction),
        web.post("/control/interactions/{id}/expire", acting.expire_interaction),
        web.get("/control/log", operating.show_log),
        web.get("/control/faults", operating.list_faults),
        web.post("/control/faults", operating.add_fault),
        web.delete("/control/faults", operating.clear_faults),
        web.get("/control/gateway", operating.show_gateway),
        web.patch("/control/gateway", operating.change_gateway),
        web.put("/control/automod", operating.block_words),
        web.post("/control/cdn/expire", operating.expire_files),
        web.get("/control/bot", operating.show_bot),
        web.post("/control/bot/crash", operating.crash),
        web.post("/control/bot/restart", operating.restart),
        web.get("/control/events", operating.stream_events),
    ]
