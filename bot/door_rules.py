"""How messages are admitted in one place: by which bounds, and to which responder."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import assert_never

from bot.inbound import Kind, Message
from bot.texts import ENGLISH, Texts, shipped
from bot.threads import in_thread
from state.outcomes import Refusal, Refused
from state.values import Overflow, Policy


class Mode(StrEnum):
    """What a message does that arrives while a turn runs; see the settings."""

    QUEUE = "queue"
    COLLECT = "collect"
    DEBOUNCE = "debounce"
    INTERRUPT = "interrupt"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class DoorRules:
    """The settings that shape admission in one place."""

    #: Name of the cog that answers new messages.
    responder: str
    #: What a message does while a turn runs.
    mode: Mode
    #: The same for messages in followed conversations that do not address us.
    follow_mode: Mode
    #: Seconds of quiet for which `Mode.DEBOUNCE` waits, and the most it waits in all.
    debounce: float
    debounce_most: float
    #: "addressed", "early", "any" or "off".
    followups: str
    max_followups: int
    inbox: int
    inbox_per_person: int
    overflow: Overflow
    #: Whether what is written in a guild's channel is answered in a thread on it.
    threads: bool = False
    #: What we say of our own.
    texts: Texts = field(default_factory=lambda: shipped(ENGLISH))

    def if_possible(self, *, threads: bool) -> "DoorRules":
        """
        Open no threads where that cannot be.

        The conversation is then the channel's, in which commands and buttons look for it.
        """
        return replace(self, threads=self.threads and threads)

    def policy(self, message: Message) -> Policy:
        """The bounds for *message*; a direct message has no share, for there is one person."""
        mode = self.mode if message.addressed else self.follow_mode
        if message.trigger.kind is Kind.BUTTON and mode is not Mode.DROP:
            mode = Mode.QUEUE  # what was chosen is answered by itself, by whoever offered it
        debounced = mode is Mode.DEBOUNCE
        return Policy(
            inbox=self.inbox,
            per_person=self.inbox if message.guild is None else self.inbox_per_person,
            overflow=self.overflow,
            max_followups=self.max_followups,
            early_only=self.followups == "early",
            interrupt=mode is Mode.INTERRUPT,
            drop=mode is Mode.DROP,
            gather=mode in (Mode.COLLECT, Mode.DEBOUNCE, Mode.INTERRUPT),
            quiet=self.debounce if debounced else 0.0,
            quiet_most=self.debounce_most if debounced else 0.0,
        )

    def led(self, message: Message) -> Message:
        """Lead *message* to the conversation in which it is answered; chatter stays and gathers."""
        return in_thread(message) if self.threads and message.addressed else message

    def assigned(self, message: Message) -> Message:
        """Name the responder of *message*, unless whoever made it has."""
        return message if message.responder else replace(message, responder=self.responder)

    def refusal(self, refused: Refused) -> str:
        """What to say about a message that was not taken."""
        match refused.reason:
            case Refusal.INBOX_FULL:
                return self.texts.inbox_full
            case Refusal.SHARE_FULL:
                return self.texts.share_full.format(count=self.inbox_per_person)
            case Refusal.BUSY:
                return self.texts.busy
            case _:
                assert_never(refused.reason)
