"""The core of one process, wired together: all that lies between the gateway and the store."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from bot.config import Place
from bot.conversations import Conversations
from bot.door import Door
from bot.door_rules import DoorRules
from bot.equipment import Rules, Tools
from bot.followed import Followed
from bot.inbound import Message
from bot.locks import Locks
from bot.notices import Notices
from bot.pace import Pace
from bot.proxies import Proxies
from bot.rates import Quota, Rates
from bot.refusals import Silence
from bot.requests import Requests
from bot.responders import Responder
from bot.speaking import Wire
from bot.wakes import Wakes
from state.ports import State
from state.values import Claim, Conversation


@dataclass(frozen=True, slots=True)
class CoreRules:
    """The settings of the core, asked for whenever they are needed: they may change meanwhile."""

    #: What leases are renewed with.
    lease: Claim
    #: What the leases of a conversation are asked for with.
    claim: Callable[[Conversation], Claim]
    reactions: Callable[[Place], bool]
    quota: Callable[[], Quota]
    #: Whether any bot is listed that repeats what people say.
    proxied: Callable[[], bool]
    door: Callable[[Place], DoorRules]
    turn: Callable[[Place], Rules]
    #: Find out first what holds in a place, where that takes a look at the store. Raises nothing.
    learn: Callable[[Place], Awaitable[None]]
    #: Read a responder's own settings as they are in a place; None if it has none.
    cog: Callable[[Responder, Place], object]


class Core:
    """Hears by `door`, speaks by the wire, and looks again by `wakes`."""

    def __init__(
        self,
        state: State,
        wire: Wire,
        rules: CoreRules,
        responder: Callable[[str], Responder],
    ) -> None:
        """Wire everything; *responder* finds a loaded one or raises `ResponderInvalid`."""
        self._rules = rules
        self._wire = wire
        self._state = state
        self._responder = responder
        self._pace = Pace()
        self.followed = Followed(state)
        self.silence = Silence()
        self.locks = Locks(state, rules.lease)
        self.notices = Notices(wire, state, rules.reactions, lambda place: rules.door(place).texts)
        self.conversations = Conversations(
            state, self.locks, self.notices, rules.claim, rules.learn
        )
        self.conversations.equip(self.tools)
        self.requests = Requests(state, self.locks, self.conversations, self.notices)
        self.rates = Rates(state, rules.quota)
        self.door = Door(
            state,
            self.locks,
            self.conversations,
            self.notices,
            self.requests,
            self.rates,
            self.silence,
            Proxies(rules.proxied),
            rules.door,
            rules.learn,
        )
        self.wakes = Wakes(state, self.locks, self.conversations)

    def tools(self, message: Message) -> Tools:
        """What the turn works with that answers *message*."""
        return Tools(
            self._state,
            self._wire,
            self.notices,
            self.silence,
            self._pace,
            self._responder,
            partial(self.conversations.claim, message.conversation),
            self._rules.turn(message.place),
            lambda responder: self._rules.cog(responder, message.place),
            self._follow,
        )

    async def _follow(self, message: Message) -> None:
        await self.followed.follow(message.conversation, message.id)
