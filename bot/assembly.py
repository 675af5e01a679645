"""What one run of a turn is put together from: the ways in which it reads, keeps and speaks."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bot import texts
from bot.asides import Asides
from bot.buttons import retry_button, stop_button
from bot.conclusion import Conclusion
from bot.delivery import Reply
from bot.draft import Draft
from bot.equipment import Tools
from bot.inbound import Kind, Message
from bot.journal import Journal
from bot.kept import Kept
from bot.locks import Holding
from bot.offers import Offers
from bot.pages import Pages
from bot.responders import Interrupted, Turn
from bot.responses import ResponseWire, name_room, response_wire
from bot.snowflake import made_at
from bot.speaking import Wire
from bot.surroundings import Surroundings
from bot.threads import thread_wire
from bot.typing_indicator import TypingIndicator

#: Seconds after which a reply is slow and pings its author; until then they are still looking.
SLOW_REPLY = 10.0


@dataclass(frozen=True, slots=True)
class Assembly:
    """The parts of one run of a turn."""

    turn: Turn
    kept: Kept
    #: Whoever used a command is answered by it; else None.
    response: ResponseWire | None
    reply: Reply
    draft: Draft
    asides: Asides
    typing: TypingIndicator
    conclusion: Conclusion

    @property
    def empty(self) -> bool:
        """Whether nothing was said at all, and that not on purpose."""
        return self.draft.blank and not (self.turn.declined or self.asides.any)


def assemble(tools: Tools, holding: Holding, messages: Sequence[Message]) -> Assembly:
    """Put together what the turn of *holding* needs, which answers *messages*."""
    started, asked_by = holding.started, messages[0]
    journal = Journal(
        tools.state,
        holding.lease,
        started.steps,
        seconds=tools.rules.step,
        progressed=holding.progress,
    )
    carry = json.loads(started.carry) if started.carry else {}
    kept = Kept(tools.state, started, journal, asked_by, carry.get("state"))
    response = response_wire(tools.wire, asked_by, started)
    wire = response or thread_wire(tools.wire, asked_by, tools.follow) or tools.wire
    markable = asked_by.is_written or response is not None
    pages = partial(_pages, tools, wire, holding, asked_by, replies=markable)
    reply = Reply(pages(asides=False), holding)
    asides = Asides(pages(asides=True), holding, journal)
    draft = _draft(tools, holding, asked_by, reply, response, marks=markable)
    turn = Turn(
        messages,
        attempt=started.attempts + 1,
        journal=journal,
        pulse=holding,
        around=Surroundings(
            tools.state, tools.wire.sight, holding, journal, asked_by, remarks=tools.rules.context
        ),
        kept=kept,
        say=asides.say,
        interrupted=Interrupted(carry["text"], tuple(carry["steps"])) if carry else None,
    )
    typing = TypingIndicator(wire, asked_by.channel, holding)
    conclusion = Conclusion(tools, holding, messages, journal, draft, reply, kept)
    return Assembly(turn, kept, response, reply, draft, asides, typing, conclusion)


def _draft(
    tools: Tools,
    holding: Holding,
    asked_by: Message,
    reply: Reply,
    response: ResponseWire | None,
    *,
    marks: bool,
) -> Draft:
    """Begin the text; *marks*: there is something on Discord that can be marked."""
    rules, turn = tools.rules, holding.lease.turn
    return Draft(
        reply,
        room=name_room() if response else 0,
        file_limit=tools.wire.file_limit(asked_by.guild),
        max_pages=rules.max_pages,
        delete_partial=rules.delete_partial,
        # The response to a command stays in its place below what was used.
        anew=rules.final_anew and response is None,
        stop=stop_button(turn) if rules.buttons else None,
        retry=retry_button(turn) if rules.buttons else None,
        emoji=texts.STOPPED if marks and rules.reactions else None,
        offers=Offers(
            tools.state, holding.lease, responder=asked_by.responder, author=asked_by.author.id
        ),
        opening=_addressee(asked_by),
    )


def _pages(
    tools: Tools,
    wire: Wire,
    holding: Holding,
    asked_by: Message,
    *,
    replies: bool,
    asides: bool,
) -> Pages:
    pings = partial(_pings, tools.rules.ping_author, asked_by)
    return Pages(
        wire,
        tools.state,
        tools.pace,
        holding,
        asked_by.channel,
        asked_by.id,
        replies=replies,
        threaded=asked_by.written_in is not None,
        pings=pings,
        asides=asides,
        notifies=asked_by.author.id if pings() and _addressee(asked_by) else None,
    )


def _addressee(asked_by: Message) -> str:
    """What a timer's reply begins with in a guild: whom it is for."""
    rings = asked_by.trigger.kind is Kind.TIMER and asked_by.guild is not None
    return texts.FOR.format(person=asked_by.author.id) if rings else ""


def _pings(rule: str, asked_by: Message) -> bool:
    """Whether a reply sent now notifies whom it answers; who has set a timer has turned away."""
    rings = asked_by.trigger.kind is Kind.TIMER
    slow = rings or time.time() - made_at(asked_by.id) > SLOW_REPLY
    return rule == "always" or (rule == "slow" and slow)
