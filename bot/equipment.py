"""What every turn of a process is run with: its rules, and what it reaches out by."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.inbound import Message
from bot.notices import Notices
from bot.pace import Pace
from bot.refusals import Silence
from bot.responders import Responder
from bot.speaking import Wire
from bot.speech import Limits
from bot.texts import ENGLISH, Texts, shipped
from state.ports import State
from state.values import Claim


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that shape a turn in one place."""

    limits: Limits
    #: Seconds.
    step: float
    max_attempts: int
    max_pages: int
    #: "slow", "always" or "never".
    ping_author: str
    #: Whether the partial reply of a superseded turn is deleted instead of marked.
    delete_partial: bool
    #: Whether a reply that people saw grow is sent anew when it is done.
    final_anew: bool
    #: Transcript entries kept per conversation.
    keep: int
    #: Messages read around a question unless a responder says how many.
    context: int
    #: Whether replies carry a Stop button while they grow, and apologies one to try again.
    buttons: bool
    #: Whether anything may be marked with an emoji.
    reactions: bool
    #: What we say of our own.
    texts: Texts = field(default_factory=lambda: shipped(ENGLISH))


@dataclass(frozen=True, slots=True)
class Tools:
    """What a turn works with: its process' means, and the rules of its place."""

    state: State
    wire: Wire
    notices: Notices
    silence: Silence
    pace: Pace
    #: Find a loaded cog by name, or raise `ResponderInvalid`.
    responder: Callable[[str], Responder]
    #: What to ask the next lease with; None while draining.
    claim: Callable[[], Claim | None]
    rules: Rules
    #: Read a responder's own settings as they are in the turn's place; None if it has none.
    settings: Callable[[Responder], object]
    #: Hear from now on what is said in the conversation of a message.
    follow: Callable[[Message], Awaitable[None]]
