"""Interlock: one conversation, one speaker at a time. A cog author needs these names alone."""

from bot.endings import Ending
from bot.errors import AttachmentUnreadable, RetryLater
from bot.inbound import Kind, Message, Person, Quoted, Remark, Trigger
from bot.responders import Attachment, Interrupted, Responder, Turn
from bot.transcript import Said

__all__ = [
    "Attachment",
    "AttachmentUnreadable",
    "Ending",
    "Interrupted",
    "Kind",
    "Message",
    "Person",
    "Quoted",
    "Remark",
    "Responder",
    "RetryLater",
    "Said",
    "Trigger",
    "Turn",
]
