"""
The buttons of responders: what a press means is kept in the store, and found by the button's id.

So a press works after a restart and in another process, a payload may be longer than Discord's
hundred characters, and an id that somebody makes up finds nothing. The id follows from the turn,
so that a replay makes the same buttons again.
"""

import hashlib
import json
from base64 import urlsafe_b64encode
from dataclasses import asdict, dataclass
from typing import Any

from bot import replies, texts
from bot.buttons import choice
from bot.inbound import Kind, Trigger
from bot.insist import insist
from bot.replies import Buttons
from bot.speaking import Button
from state.keys import Scope
from state.ports import State
from state.values import Conversation, Lease

#: Seconds for which buttons may be pressed: a month, after which few remember what they are about.
LIFE = 30 * 86_400.0

#: Raised whenever what is kept changes its meaning.
VERSION = 1


@dataclass(frozen=True, slots=True)
class Offer:
    """What pressing one button means."""

    label: str
    #: The author's JSON.
    payload: Any
    #: Name of the cog that made it, and that answers its press.
    responder: str
    #: The one person who may press; None: anybody.
    only: str | None

    def trigger(self) -> Trigger:
        """What a press is to the turn that answers it."""
        return Trigger(Kind.BUTTON, self.label, self.payload)


class Offers:
    """Makes the buttons of one turn."""

    def __init__(self, state: State, lease: Lease, *, responder: str, author: str) -> None:
        """*responder* makes them in its reply to *author*."""
        self._state = state
        self._lease = lease
        self._responder = responder
        self._author = author
        self._made = 0

    async def make(self, buttons: Buttons) -> tuple[Button, ...]:
        """Keep what presses will mean; before the buttons are shown, so that none is in vain."""
        token = _token(self._lease.turn, self._made)
        self._made += 1
        offers = [self._offer(button, buttons) for button in buttons.buttons]
        if not all(button.url for button in buttons.buttons):
            body = json.dumps({"v": VERSION, "offers": [asdict(offer) for offer in offers]})
            scope, key = _place(self._lease.conversation, token)
            await insist(lambda: self._state.put(scope, key, body.encode(), ttl=LIFE))
        return tuple(
            Button(button.label, choice(token, number), button.style, button.url)
            for number, button in enumerate(buttons.buttons)
        )

    def _offer(self, button: replies.Button, among: Buttons) -> Offer:
        only = self._author if among.only_author else None
        return Offer(button.label, button.payload, self._responder, only)


async def offered(
    state: State, conversation: Conversation, token: str, number: int
) -> Offer | None:
    """Find what a press in *conversation* means; None: expired, or never offered there."""
    scope, key = _place(conversation, token)
    kept = await insist(lambda: state.get(scope, key))
    body = json.loads(kept) if kept is not None else {}
    offers = body.get("offers", []) if body.get("v") == VERSION else []
    return Offer(**offers[number]) if number < len(offers) else None


def refusal(offer: Offer | None, person: str) -> str | None:
    """What to tell *person* who has pressed for *offer* in vain; None: they may."""
    if offer is None:
        return texts.here().expired_button
    return None if offer.only in (None, person) else texts.here().only_its_author


def _place(conversation: Conversation, token: str) -> tuple[Scope, str]:
    """Kept with the conversation, and forgotten with it."""
    return Scope(conversation.owner, conversation=conversation.id), f"offer/{token}"


def _token(turn: str, number: int) -> str:
    """Name the buttons that a turn yields at once, by how many came before; 22 characters."""
    seed = hashlib.sha256(f"offer\n{turn}\n{number}".encode()).digest()
    return urlsafe_b64encode(seed).decode()[:22]
