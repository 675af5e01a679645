"""Interlock: one conversation, one speaker at a time. A cog author needs these names alone."""

from bot.endings import Ending
from bot.errors import RetryLater
from bot.inbound import Message, Person, Quoted
from bot.responders import Interrupted, Responder, Turn
from bot.transcript import Said

__all__ = [
    "Ending",
    "Interrupted",
    "Message",
    "Person",
    "Quoted",
    "Responder",
    "RetryLater",
    "Said",
    "Turn",
]
