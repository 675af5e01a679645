"""Presses of our buttons, by whoever may, in this process or after a restart."""

from collections.abc import Callable, Collection

import discord
import structlog

from bot import texts
from bot.buttons import Act, Press, read
from bot.interactions import answer, here, moderates
from bot.requests import Requests
from state.outcomes import NotRunning, Running

log = structlog.get_logger(__name__)


class Presses:
    """Acts on presses through the requests of this process."""

    def __init__(self, requests: Requests, operators: Callable[[], Collection[str]]) -> None:
        """*operators* may press every button."""
        self._requests = requests
        self._operators = operators

    async def pressed(self, interaction: discord.Interaction) -> None:
        """Act on an interaction, if it is a press of one of our buttons."""
        if interaction.type is not discord.InteractionType.component:
            return
        custom_id = str(dict(interaction.data or {}).get("custom_id", ""))
        if (press := read(custom_id)) is not None:
            await answer(interaction, self._act(interaction, press))

    async def _act(self, interaction: discord.Interaction, press: Press) -> str:
        if press.act is Act.STOP:
            return await self._stop(interaction, press)
        return await self._retry(interaction, press)

    async def _stop(self, interaction: discord.Interaction, press: Press) -> str:
        conversation, by, turn = here(interaction), str(interaction.user.id), press.turn
        running = (await self._requests.look(conversation)).turn
        if running is None or running.id != turn:
            return texts.here().already_over
        if not (self._moderates(interaction) or takes_part(running, by)):
            return _refused(press, by)
        answered = await self._requests.stop(conversation, turn, by, f"press-{interaction.id}")
        log.info("pressed", act=press.act.value, turn=turn, by=by)
        over = isinstance(answered, NotRunning)
        return texts.here().already_over if over else texts.here().stopped_by_button

    async def _retry(self, interaction: discord.Interaction, press: Press) -> str:
        conversation, by, turn = here(interaction), str(interaction.user.id), press.turn
        letter = await self._requests.given_up(conversation, turn)
        if letter is None:
            return texts.here().already_over
        if not (self._moderates(interaction) or by in {i.author for i in letter.inbounds}):
            return _refused(press, by)
        again = await self._requests.requeue(conversation, letter.id, f"press-{interaction.id}")
        log.info("pressed", act=press.act.value, turn=turn, by=by)
        return texts.here().trying_again if again else texts.here().already_over

    def _moderates(self, interaction: discord.Interaction) -> bool:
        return moderates(interaction, self._operators())


def _refused(press: Press, by: str) -> str:
    """Keep on record who tried what they may not."""
    log.info("press refused", act=press.act.value, turn=press.turn, by=by)
    return texts.here().not_yours


def takes_part(running: Running, person: str) -> bool:
    """Whether *person* wrote one of the messages that are being answered."""
    return any(inbound.author == person for inbound in running.inbounds)
