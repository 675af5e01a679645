"""Use slash commands as a person does, and read what the bot answers."""

from typing import Any

from sandbox import Sandbox
from tests.discord.bots import Room


async def use(room: Room, person: str, command: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Use a command in *room*; answer the interaction once the bot has responded."""
    interactions = room.sandbox.interactions
    user = room.world.person(person).id
    record = interactions.use(channel_id=room.id, user_id=user, command=command, options=options)
    return await interactions.outcome(record)


async def privately(room: Room, person: str, command: str, **options: Any) -> str:  # noqa: ANN401
    """Use a command that answers the person alone; answer the text."""
    outcome = await use(room, person, command, **options)
    assert outcome["ephemeral"], outcome
    return str(outcome["content"])


def direct(sandbox: Sandbox, person: str) -> Room:
    """Open the direct messages of a person."""
    room = Room(sandbox)
    room.id = room.world.open_dm(room.world.person(person).id).id
    return room
