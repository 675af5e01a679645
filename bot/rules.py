"""From the settings that people write to the rules that each part works by."""

import os
import socket

from bot.access import Access
from bot.config import Settings
from bot.door import DoorRules, Mode
from bot.equipment import Rules
from bot.rates import Rates
from bot.speech import Limits
from state import State
from state.values import Claim, Overflow


def claim(settings: Settings) -> Claim:
    """What leases are asked for with; operators see the name of this process: host and id."""
    by = f"{socket.gethostname()}:{os.getpid()}"
    return Claim(settings.state.lease, settings.conversation.expire_after, by)


def rates(settings: Settings, state: State) -> Rates:
    """How much may be asked."""
    return Rates(
        state,
        person_per_minute=settings.limits.person_turns_per_minute,
        owner_per_day=settings.limits.owner_turns_per_day,
    )


def turn_rules(settings: Settings) -> Rules:
    """The settings that shape a turn."""
    limits, conversation = settings.limits, settings.conversation
    return Rules(
        Limits(limits.first_chunk, limits.progress, limits.turn),
        step=limits.step,
        max_attempts=limits.max_attempts,
        max_pages=conversation.max_pages,
        ping_author=conversation.ping_author,
        delete_partial=conversation.partial == "delete",
        keep=settings.history.keep,
        buttons=conversation.buttons,
    )


def door_rules(settings: Settings) -> DoorRules:
    """The settings that shape admission."""
    conversation = settings.conversation
    return DoorRules(
        Mode(conversation.mode),
        Mode(conversation.follow_mode),
        conversation.debounce,
        conversation.debounce_most,
        conversation.followups,
        conversation.max_followups,
        conversation.inbox,
        conversation.inbox_per_person,
        Overflow(conversation.overflow),
    )


def access(settings: Settings) -> Access:
    """The lists of whom to answer, and where."""
    lists = settings.access
    return Access(
        frozenset(lists.operators),
        frozenset(lists.guilds),
        frozenset(lists.channels),
        frozenset(lists.roles),
        frozenset(lists.users),
        frozenset(lists.blocked),
        dms=lists.dms,
    )
