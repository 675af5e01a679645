"""Whom the operator lets us answer, and where."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, and where. Ids are strings."""

    person: str
    roles: frozenset[str]
    #: None in a direct message.
    guild: str | None
    #: The channel or thread, and the channel that a thread is in.
    channels: frozenset[str]


@dataclass(frozen=True, slots=True)
class Access:
    """The lists of `[access]`. An empty list of whom to answer means everybody."""

    operators: frozenset[str] = frozenset()
    guilds: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    blocked: frozenset[str] = frozenset()
    dms: bool = True
    #: Bots that say people's messages again under another name, by application id.
    proxies: frozenset[str] = frozenset()

    def allows(self, asking: Asking) -> bool:
        """
        Whether to answer.

        Blocked ids (of people, roles, channels, guilds) beat everything else; then operators are
        answered everywhere; then place and person must each be allowed.
        """
        ids = {asking.person, *asking.roles, *asking.channels, asking.guild}
        if ids & self.blocked:
            return False
        return asking.person in self.operators or (self._place(asking) and self._person(asking))

    def _place(self, asking: Asking) -> bool:
        if asking.guild is None:
            return self.dms
        in_guild = not self.guilds or asking.guild in self.guilds
        return in_guild and (not self.channels or bool(asking.channels & self.channels))

    def _person(self, asking: Asking) -> bool:
        if not self.users and not self.roles:
            return True
        return asking.person in self.users or bool(asking.roles & self.roles)
