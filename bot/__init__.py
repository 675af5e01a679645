"""Interlock: one conversation, one speaker at a time. A cog author needs these names alone."""

from bot.endings import Ending
from bot.errors import RetryLater
from bot.inbound import Kind, Message, Person, Quoted, Trigger
from bot.responders import Interrupted, Responder, Turn
from bot.transcript import Said

__all__ = [
    "Ending",
    "Interrupted",
    "Kind",
    "Message",
    "Person",
    "Quoted",
    "Responder",
    "RetryLater",
    "Said",
    "Trigger",
    "Turn",
]
