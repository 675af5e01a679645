"""
Every key and channel, in one place.

All of an owner share the hash tag `{prefix:partition}`, so that each script meets one slot.
`<owner> <conversation>` names a conversation: a space is in no id, so no two names are alike.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b

from state.keys import Scope
from state.partition import partition_of
from state.redis.resp import packed
from state.values import Conversation

#: An id that starts with a Discord snowflake carries its own time.
_SNOWFLAKE = re.compile(r"\d{15,20}(?!\d)")
#: Hours since 1970 at which snowflakes start to count: 2015.
_FIRST_HOUR = 394_464
_HOUR_MS = 3_600_000
_HOUR_US = _HOUR_MS * 1000

#: Finer buckets of an hour and partition, used once its coarse one is full.
#: Relation: with `BUCKET_SIZE` ids in each, 16 partitions hold 524,000 ids an hour compactly.
FINE_BUCKETS = 64

#: Keys of every conversation: those that `conversation.lua` names.
COUNT = 13

#: Conversations whose keys are remembered, 1 KB each. Relation: more than one process speaks in.
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class ConversationKeys:
    """The keys of one conversation, and what else is alike in every call about it."""

    tag: str
    #: Its name in the partition's indexes.
    name: str
    hints: str
    turn: str
    #: The `COUNT` keys that `conversation.lua` names, in its order, as they are sent.
    packed: bytes
    packed_name: bytes
    #: Keeps marks of one conversation apart from those of others.
    salt: int
    #: On a cluster a key that never exists, as it is sent after all others; see `Keys`.
    never: bytes

    def seen(self, inbound: str) -> tuple[bytes, str]:
        """
        Name where an inbound's id is marked as seen, as it is sent; and what seen.lua marks there.

        That is two buckets, a coarse and a fine one, and `<mark> <start of their hour>` (µs). A
        mark is a number of 63 bits, which Redis packs into 8 bytes: the id, mixed with its
        conversation. Plain ids of one conversation never share one; other two ids of a bucket do
        once in 10^16 messages. An id without a time of its own has a key of its own.
        """
        start = _SNOWFLAKE.match(inbound)
        if start is None:
            own = f"{self.tag}:seen:{_hash(inbound) ^ self.salt:x}"
            return packed((own, own)), "own "
        number = int(start[0])
        hour = (number >> 22) // _HOUR_MS + _FIRST_HOUR
        if start.end() != len(inbound) or number >> 63:
            number = _hash(inbound)
        mark = number ^ self.salt
        bucket = f"{self.tag}:seen:{hour}"
        keys = packed((bucket, f"{bucket}:{mark % FINE_BUCKETS}"))
        return keys, f"{mark} {hour * _HOUR_US}"


class Keys:
    """
    The keys of one application in one store.

    While a slot moves to another server of a cluster, the old one still runs scripts whose keys are
    all there, and ends them half-way once they delete one and touch it again. So each script that
    writes several keys names one more that never exists: then it waits until the slot has moved.
    """

    def __init__(self, prefix: str, partitions: int, *, cluster: bool = False) -> None:
        """Take the application's *prefix* and the store's number of *partitions*."""
        self._prefix = prefix
        self._cluster = cluster
        self.partitions = partitions
        self._tags = [f"{{{prefix}:{partition}}}" for partition in range(partitions)]
        self._conversations: dict[Conversation, ConversationKeys] = {}

    def of(self, conversation: Conversation) -> ConversationKeys:
        """Return the keys of a conversation."""
        keys = self._conversations.get(conversation)
        if keys is None:
            if len(self._conversations) >= _REMEMBERED:
                del self._conversations[next(iter(self._conversations))]
            keys = self._conversations[conversation] = self._made(conversation)
        return keys

    def _made(self, conversation: Conversation) -> ConversationKeys:
        tag = self._tags[partition_of(conversation.owner, self.partitions)]
        name = name_of(conversation)
        keys = (
            f"{tag}:turn:{name}",
            f"{tag}:inbox:{name}",
            f"{tag}:kept:{name}",
            f"{tag}:transcript:{name}",
            f"{tag}:dead:{name}",
            f"{tag}:alarms:{name}",
            f"{tag}:given:{name}",
            f"{tag}:answers:{name}",
            f"{tag}:counter",
            f"{tag}:wake",
            f"{tag}:signals",
            f"{tag}:index",
            f"{tag}:gone",
        )
        return ConversationKeys(
            tag,
            name,
            f"{tag}:hints",
            keys[0],
            packed(keys),
            packed([name]),
            _hash(name),
            packed([f"{tag}:never"]) if self._cluster else b"",
        )

    def tag_of(self, owner: str) -> str:
        """Return the hash tag of an owner's keys."""
        return self._tags[partition_of(owner, self.partitions)]

    def tag(self, partition: int) -> str:
        """Return the hash tag of a partition's keys."""
        return self._tags[partition]

    def scoped(self, scope: Scope, key: str) -> list[str]:
        """List what `key.lua` names, in its order."""
        tag, whose = self.tag_of(scope.owner), whose_key(scope)
        answers = f"{tag}:answers:{whose}"
        keys = [f"{tag}:key:{whose} {key}", f"{tag}:beside", f"{tag}:gone", answers]
        return [*keys, f"{tag}:never"] if self._cluster else keys

    @staticmethod
    def owner_in(key: str) -> str:
        """Return whose a key is; only for keys that name a conversation or a scope."""
        return key.partition("}:")[2].partition(":")[2].partition(" ")[0]

    def usage(self, owner: str) -> str:
        """Name the usage of an owner."""
        return f"{self.tag_of(owner)}:usage:{owner}"

    def shards(self, name: str) -> list[str]:
        """Name a range of shards, and the answers kept for operations on it."""
        return [f"{{{self._prefix}}}:shards:{name}", f"{{{self._prefix}}}:answers:shards {name}"]

    def gate(self, bucket: int) -> str:
        """Name the gate of an identify bucket."""
        return f"{{{self._prefix}}}:gate:{bucket}"

    def wake(self, partition: int) -> str:
        """Name the wake index of a partition."""
        return f"{self._tags[partition]}:wake"

    def signals(self, partition: int) -> str:
        """Name the index of unfinished signals of a partition."""
        return f"{self._tags[partition]}:signals"

    def gone(self, partition: int) -> str:
        """Name what is being forgotten in a partition."""
        return f"{self._tags[partition]}:gone"

    def index(self, partition: int) -> str:
        """
        Name the index of a partition, sorted by name, by kind.

        `f` followed and `c` kept conversations, `t` timers and `l` dead letters, each with what
        names it in its conversation.
        """
        return f"{self._tags[partition]}:index"

    def beside(self, partition: int) -> str:
        """Name the index of what may expire: `k` key-values, `g` conversations with answers."""
        return f"{self._tags[partition]}:beside"

    def all_hints(self) -> list[str]:
        """Name the channels of all partitions, on which signals are published."""
        return [f"{tag}:hints" for tag in self._tags]

    def came(self, partition: int, handle: str) -> str:
        """Name how far a handle came with its renewals in a partition."""
        return f"{self._tags[partition]}:came:{handle}"

    def beat(self, listener: str) -> str:
        """Name the channel on which a listener hears itself."""
        return f"{{{self._prefix}}}:beat:{listener}"


def whose_key(scope: Scope) -> str:
    """Name a scope: `<owner> <kind> <whose>`."""
    if scope.conversation is not None:
        return f"{scope.owner} c {scope.conversation}"
    if scope.person is not None:
        return f"{scope.owner} p {scope.person}"
    return f"{scope.owner} o -"


def meta(prefix: str) -> str:
    """Name what tells that a store is ours; known before the number of partitions is."""
    return f"{{{prefix}}}:meta"


def _hash(text: str) -> int:
    """Return 63 bits."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def name_of(conversation: Conversation) -> str:
    """Name a conversation in its partition's indexes."""
    return f"{conversation.owner} {conversation.id}"


def conversation_named(name: str) -> Conversation:
    """Read a name back."""
    owner, _, conversation = name.partition(" ")
    return Conversation(owner, conversation)
