"""From the settings that people write to the rules that each part works by."""

import os
import socket
from collections.abc import Callable

from pydantic import BaseModel

from bot.access import Access, Asking
from bot.config import ConversationSettings, Override, Place, Settings
from bot.config.model import HistorySettings
from bot.door_rules import DoorRules, Mode
from bot.equipment import Rules
from bot.rates import Quota
from bot.speech import Limits
from bot.stopwords import StopPhrases
from bot.texts import Texts, worded
from state.values import Claim, Overflow


class Rulebook:
    """
    The settings in force, as rules for whoever is about to begin something.

    They are asked for each time and never kept: what has begun ends by the rules it began with,
    what begins next goes by the settings of then.
    """

    def __init__(
        self,
        settings: Settings,
        chosen: Callable[[str | None], Override | None] = lambda _guild: None,
    ) -> None:
        """Put *settings* in force; *chosen* says what the admins of a guild have set."""
        self._chosen = chosen
        self.adopt(settings)

    def adopt(self, settings: Settings) -> None:
        """Put other settings in force."""
        self.settings = settings
        self._stops = StopPhrases(settings.stop.languages, settings.stop.extra)
        self._access = _access(settings)

    # --- everywhere the same ---------------------------------------------------------------------

    def quota(self) -> Quota:
        """How much may be asked."""
        limits = self.settings.limits
        return Quota(limits.person_turns_per_minute, limits.owner_turns_per_day)

    def operators(self) -> frozenset[str]:
        """Who may stop and kill anywhere."""
        return self._access.operators

    def proxies(self) -> frozenset[str]:
        """Whose webhooks speak for people."""
        return self._access.proxies

    def allows(self, asking: Asking) -> bool:
        """Whether to answer that person, there."""
        return self._access.allows(asking)

    def is_stop(self, text: str) -> bool:
        """Whether *text* is a stop phrase."""
        return self._stops.matches(text)

    def history(self) -> HistorySettings:
        """How much is kept, and how far a start looks back."""
        return self.settings.history

    def responders(self) -> dict[str, str]:
        """Name the responder that each setting asks for, by the setting's key."""
        return {"conversation.responder": self.responder(Place())} | {
            ".".join((*place, "responder")): override.responder
            for place, override in self.settings.overrides()
            if override.responder
        }

    # --- by place --------------------------------------------------------------------------------

    def conversation(self, place: Place) -> ConversationSettings:
        """How a conversation is led."""
        return self.settings.at(place, self._chosen(place.guild))

    def responder(self, place: Place) -> str:
        """Name the cog for new messages: the configured one, else Chat with a model, else Demo."""
        if name := self.conversation(place).responder:
            return name
        return "Chat" if self.settings.cog_table("chat", place).get("model") else "Demo"

    def reactions(self, place: Place) -> bool:
        """Whether anything may be marked with an emoji."""
        return self.conversation(place).reactions

    def texts(self, place: Place) -> Texts:
        """What we say of our own."""
        return worded(self.conversation(place).language, self.settings.texts)

    def claim(self, place: Place) -> Claim:
        """What leases are asked for with; operators see the name of this process: host and id."""
        by = f"{socket.gethostname()}:{os.getpid()}"
        return Claim(self.settings.state.lease, self.conversation(place).expire_after, by)

    def turn(self, place: Place) -> Rules:
        """The settings that shape a turn."""
        limits, conversation = self.settings.limits, self.conversation(place)
        return Rules(
            Limits(limits.first_chunk, limits.progress, limits.turn),
            step=limits.step,
            max_attempts=limits.max_attempts,
            max_pages=conversation.max_pages,
            ping_author=conversation.ping_author,
            delete_partial=conversation.partial == "delete",
            final_anew=conversation.final == "new",
            keep=self.settings.history.keep,
            context=self.settings.history.context_messages,
            buttons=conversation.buttons,
            reactions=conversation.reactions,
            texts=self.texts(place),
        )

    def cog(self, cog: object, place: Place) -> BaseModel | None:
        """Read a cog's own settings; None if it has no `settings_model`."""
        model: type[BaseModel] | None = getattr(cog, "settings_model", None)
        return self.settings.cog_at(_table(cog), model, place) if model else None

    def check_cog(self, cog: object) -> None:
        """Raise `ConfigInvalid` if a cog's own settings are wrong anywhere."""
        model: type[BaseModel] | None = getattr(cog, "settings_model", None)
        if model is not None:
            self.settings.cog(_table(cog), model)

    def door(self, place: Place) -> DoorRules:
        """The settings that shape admission."""
        conversation = self.conversation(place)
        return DoorRules(
            self.responder(place),
            Mode(conversation.mode),
            Mode(conversation.follow_mode),
            conversation.debounce,
            conversation.debounce_most,
            conversation.followups,
            conversation.max_followups,
            conversation.inbox,
            conversation.inbox_per_person,
            Overflow(conversation.overflow),
            threads=conversation.reply_in == "thread",
            texts=self.texts(place),
        )


def _table(cog: object) -> str:
    """Name a cog's table of settings: the last part of its module."""
    return type(cog).__module__.rpartition(".")[2]


def _access(settings: Settings) -> Access:
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
        proxies=frozenset(lists.proxy_bots),
    )
