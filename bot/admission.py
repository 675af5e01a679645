"""
What could this message be? A pure function of the message and the settings.

It says what a message *could* be; the store decides what it *is*, against the stored turn, once
for all processes. The order of the rules is the order in which the first match decides.
"""

from dataclasses import dataclass

from state.values import Could, StopRight


@dataclass(frozen=True, slots=True)
class Heard:
    """The facts about one message that admission looks at."""

    #: Written by this bot, another bot or a webhook that is no proxy's.
    by_machine: bool
    #: A pin, a join, or anything else that no person typed.
    system: bool
    #: A direct message, a mention of us or of our own role, or a reply to one of our messages.
    addressed: bool
    #: Addressed to somebody else, by mention or reply, and not to us.
    addressed_elsewhere: bool
    #: In a conversation that we follow.
    followed: bool
    #: By somebody, in a place, that the operator lets us answer.
    allowed: bool
    stop_phrase: bool
    #: Its author may stop anybody's turn: Manage Messages here, or an operator.
    moderator: bool
    #: Said again by a proxy, for a person.
    proxied: bool = False


#: What addresses us and nobody else, such as a command.
TO_US = Heard(
    by_machine=False,
    system=False,
    addressed=True,
    addressed_elsewhere=False,
    followed=False,
    allowed=True,
    stop_phrase=False,
    moderator=False,
)


def judge(heard: Heard, followups: str, *, author_is_live: bool) -> Could | None:
    """
    Return what *heard* could be, or None: nothing, without touching the store.

    *followups* is the setting `conversation.followups`; *author_is_live* says whether the author
    has a turn running in this process, in this conversation.
    """
    if heard.by_machine or heard.system:
        return None
    ordinary = _ordinary(heard, followups, author_is_live=author_is_live)
    if heard.stop_phrase:
        # A stop is never a follow-up: fed to the responder, it would prolong what it should end.
        right = StopRight.ANY if heard.moderator and heard.addressed else StopRight.OWN
        return Could(trigger=ordinary.trigger, stop=right)
    return ordinary if ordinary != Could() else None


def _ordinary(heard: Heard, followups: str, *, author_is_live: bool) -> Could:
    """Judge a message by whom it addresses alone."""
    if not heard.allowed:
        return Could()
    to_us = heard.addressed or (heard.followed and not heard.addressed_elsewhere)
    if to_us:
        return Could(trigger=True, follow_up=followups != "off")
    return Could(follow_up=followups == "any" and author_is_live)
