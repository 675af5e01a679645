"""
The door that every message passes: judged, admitted by the store, acted upon.

Several processes may hear the same message; only the one whose admission was not a Duplicate acts.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import assert_never

import structlog

from bot import texts
from bot.admission import Heard, judge
from bot.config import Place
from bot.conversations import Conversations
from bot.door_rules import DoorRules
from bot.endings import Ending
from bot.gaps import Gaps
from bot.gate import Gate
from bot.inbound import Kind, Message
from bot.insist import insist, new_op
from bot.locks import Locks
from bot.notices import Notices
from bot.proxies import Proxies
from bot.rates import Over, Rates
from bot.refusals import Silence
from bot.requests import Requests
from bot.threads import beside
from state.errors import Gone, StateUnavailable
from state.outcomes import (
    Admission,
    Duplicate,
    Ignored,
    Placed,
    Refused,
    Signalled,
    Superseding,
    Withdrawn,
)
from state.ports import State
from state.values import Conversation, Could, Policy, StopRight

log = structlog.get_logger(__name__)


#: Milliseconds, by their ids, within which two messages of one person are a paste that the client
#: split. Nobody types a second message as fast.
SPLIT_PASTE = 300

#: Messages remembered as admitted here, for edits, deletions and the rest of a paste. One that is
#: forgotten is still known by the turn that answers it.
REMEMBERED = 10_000


#: Seconds of quiet, and at most, for which messages that were missed wait for each other.
LATE_QUIET, LATE_QUIET_MOST = 1.0, 5.0


class Door:
    """Where messages come in."""

    def __init__(
        self,
        state: State,
        locks: Locks,
        conversations: Conversations,
        notices: Notices,
        requests: Requests,
        rates: Rates,
        silence: Silence,
        proxies: Proxies,
        rules: Callable[[Place], DoorRules],
        learn: Callable[[Place], Awaitable[None]],
    ) -> None:
        """
        Admit to *state* by the *rules* of each place; tell the others what came of it.

        *learn* finds out which they are, for messages that are not nothing.
        """
        self._learn = learn
        self._state = state
        self._locks = locks
        self._conversations = conversations
        self._notices = notices
        self._rules = rules
        self._requests = requests
        self._rates = rates
        self._silence = silence
        self._proxies = proxies
        self._gate = Gate()
        #: Where messages were heard that the store did not take.
        self.gaps = Gaps()
        #: Messages admitted here, by id; the newest last.
        self._remembered: dict[str, Message] = {}
        #: The newest message admitted here, by channel; as many as are remembered.
        self._newest: dict[str, Message] = {}

    async def enter(self, message: Message, heard: Heard) -> Admission | None:
        """
        Admit one message, after those of its conversation that came before it.

        None: it was nothing to the store, by our judgement, a rate, or an outage.
        """
        async with self._gate.through(message.channel):
            if heard.proxied:
                message, heard, original = self._proxies.credit(message, heard)
                if original is not None and self.knows(original):
                    await self._say_again(message, original)
                    return None
            elif not heard.by_machine:
                self._proxies.hear(message, heard)
            # Judged inside: whether its author is live may depend on the message before it.
            could = self._judge(message, heard, self._rules(message.place))
            if could is None:
                return None
            await self._learn(message.place)
            rules = self._rules(message.place)
            texts.speak(rules.texts)
            message = self._led(message, could, rules)
            try:
                if could.stop is StopRight.NONE and await self._over_a_rate(message):
                    return None
                if message.home in self.gaps:  # its answer must not hide what is missing
                    message = replace(message, caught_up=False)
                return await self._admit(message, could, rules, rules.policy(message))
            except (StateUnavailable, Gone) as error:
                log.error("message not admitted", inbound=message.id, reason=str(error))  # noqa: TRY400
                if message.is_written:
                    self.gaps.open(message.home)
                else:  # no reading of the channel finds a command or a press
                    self._notices.tell(message, texts.here().store_away)
        return None

    async def catch_up(self, missed: Sequence[tuple[Message, Heard]]) -> None:
        """
        Admit what was written in one conversation while nobody heard it, oldest first.

        All of it becomes one turn, exempt from share and rate; what was heard after all is a
        Duplicate. Live messages wait at the gate meanwhile.
        """
        async with self._gate.through(missed[0][0].channel):
            await self._learn(missed[0][0].place)
            rules = self._rules(missed[0][0].place)
            texts.speak(rules.texts)
            for message, heard in missed:
                if (could := self._judge(message, heard, rules)) is not None:
                    policy = rules.policy(message)
                    late = replace(
                        policy,
                        gather=True,
                        quiet=LATE_QUIET,
                        quiet_most=LATE_QUIET_MOST,
                        inbox=max(policy.inbox, len(missed)),
                        per_person=max(policy.inbox, len(missed)),
                    )
                    # In its thread, if that is where it was answered when it was heard after all.
                    await self._admit(self._led(message, could, rules), could, rules, late)

    def _judge(self, message: Message, heard: Heard, rules: DoorRules) -> Could | None:
        # A command may be answered where nothing else may.
        if message.deferred is None and self._silence.reigns(message.channel):
            return None
        live = self._locks.is_live(message.conversation, message.author.id)
        followups = "off" if message.trigger.kind is Kind.BUTTON else rules.followups
        could = judge(heard, followups, author_is_live=live)
        before = self._newest.get(message.channel)
        if before is None or heard.by_machine or heard.system or not continues(message, before):
            return could
        # The rest of a paste belongs to its beginning, whether it addresses us again or not.
        return replace(could or Could(), trigger=True, joins=before.id)

    def _led(self, message: Message, could: Could, rules: DoorRules) -> Message:
        """Lead a message to the conversation that answers it, which may be a thread on it."""
        if could.joins is not None:
            before = self._remembered[could.joins]
            return beside(message, before.channel)
        if could.stop is not StopRight.NONE:
            answered = self._answered_for(message)
            return beside(message, answered) if answered else message
        return rules.led(message) if could.trigger else message

    def _answered_for(self, stop: Message) -> str | None:
        """The thread in which the author of a stop is answered for what they wrote beside it."""
        for message in reversed(self._remembered.values()):
            theirs = message.author.id == stop.author.id and message.home == stop.channel
            if theirs and message.written_in and self._locks.answering(message.id):
                return message.channel
        return None

    async def _over_a_rate(self, message: Message) -> bool:
        owner = message.conversation.owner
        over = await self._rates.over(message.author.id, owner)
        if over is None:
            return False
        log.info("over a rate", inbound=message.id, limit=over.name.lower())
        if self._rates.tell(message.author.id, owner, over) or message.deferred is not None:
            text = texts.here().person_rate if over is Over.PERSON else texts.here().owner_rate
            self._notices.refused(message, text)
        return True

    async def _admit(
        self, message: Message, could: Could, rules: DoorRules, policy: Policy
    ) -> Admission:
        message = rules.assigned(message)
        claim = self._conversations.claim(message.conversation)
        asked, op = time.monotonic(), new_op()
        admission = await insist(
            lambda: self._state.admit(
                message.conversation,
                message.inbound(),
                could,
                policy,
                op=op,
                claim=claim,
            )
        )
        log.info("heard", inbound=message.id, admission=type(admission).__name__.lower())
        if isinstance(admission, Placed | Superseding):
            self._remember(message)
        self._act(message, admission, rules, asked)
        return admission

    def _remember(self, message: Message) -> None:
        self._remembered[message.id] = self._newest[message.home] = message
        while len(self._remembered) > REMEMBERED:
            oldest = self._remembered.pop(next(iter(self._remembered)))
            if self._newest.get(oldest.home) is oldest:
                del self._newest[oldest.home]

    def _act(self, message: Message, admission: Admission, rules: DoorRules, asked: float) -> None:
        match admission:
            case Placed(place, turnover):
                self._conversations.begin(turnover, asked)
                if place > 0:
                    self._notices.waits(message)
            case Superseding(turn, turnover):
                self._locks.cancel(turn, Ending.SUPERSEDED)
                self._conversations.begin(turnover, asked)
                self._notices.waits(message)
            case Signalled(turn, withdrawn, turnover):
                if turn is not None:
                    self._locks.cancel(turn, Ending.STOPPED)
                self._notices.withdrawn(withdrawn)
                self._notices.stopped(message)
                self._conversations.begin(turnover, asked)
            case Refused():
                self._notices.refused(message, rules.refusal(admission))
            case Duplicate() | Ignored():
                pass
            case _:
                assert_never(admission)

    # --- edits and deletions ---------------------------------------------------------------------

    def knows(self, message: str) -> bool:
        """Whether that message waits or is being answered, as far as this process knows."""
        return message in self._remembered or self._locks.answering(message) is not None

    async def edited(self, message: Message, edit: str) -> None:
        """
        Take the new text of a message that `knows` knows; *edit* tells one edit from another.

        One that waits is answered in its new text. One that is being answered is answered anew if
        nothing of the reply is on Discord yet; later its edit changes nothing.
        """
        async with self._gate.through(message.channel):
            await self._amend(message, edit)

    async def _amend(self, message: Message, edit: str) -> None:
        if (before := self._remembered.get(message.id)) is not None:
            message = replace(message, responder=before.responder)
        if (conversation := self._conversation(message.id)) is not None:
            message = beside(message, conversation.id)
        inbound = self._rules(message.place).assigned(message).inbound()
        edited = replace(inbound, id=f"{inbound.id}@{edit}")
        op = new_op()
        answer = await insist(
            lambda: self._state.amend(message.conversation, message.id, edited, op=op)
        )
        log.info("edited", inbound=message.id, became=type(answer).__name__.lower())
        if isinstance(answer, Superseding):
            self._locks.cancel(answer.turn, Ending.SUPERSEDED)

    async def _say_again(self, repost: Message, original: str) -> None:
        """Let a message be answered in the words of *repost*, which is then none of its own."""
        led, op = self._rules(repost.place).led(repost), f"again-{repost.id}"
        await self._amend(replace(repost, id=original), op)
        # Seen, should the channel be read again: by then nobody may remember whose words it was.
        await insist(lambda: self._state.withdraw(led.conversation, repost.id, op=op))

    def _conversation(self, message: str) -> Conversation | None:
        """Where a message is known to be answered."""
        known = self._remembered.get(message)
        return known.conversation if known else self._locks.answering(message)

    async def deleted(self, channel: str, message: str) -> None:
        """Withdraw a message that waits; stop the turn that answers it; a proxy only takes back."""
        known = self._remembered.get(message)
        if known is not None and await self._proxies.took_back(known):
            return
        if (conversation := self._conversation(message)) is None:
            return
        async with self._gate.through(channel):
            op = f"deleted-{message}"
            answer = await insist(lambda: self._state.withdraw(conversation, message, op=op))
            log.info("deleted", inbound=message, became=type(answer).__name__.lower())
            if isinstance(answer, Withdrawn):
                self._notices.withdrawn([answer.inbound])
            elif answer.turn is not None:
                await self._requests.stop(conversation, answer.turn, "deletion", f"{op}-stop")


def continues(message: Message, before: Message) -> bool:
    """Whether *message* is the rest of a paste that began with *before*; commands are no text."""
    if not (message.is_written and before.is_written):
        return False
    apart = (int(message.id) >> 22) - (int(before.id) >> 22)
    return message.author == before.author and 0 <= apart <= SPLIT_PASTE
