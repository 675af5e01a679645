"""Reads what the killed have left behind: in the store, and for everybody to see."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from bot.transcript import read
from chaos.kills.bot import Scene
from chaos.kills.outside import Outside
from chaos.kills.reaper import OWNER
from state import State, connect
from state.values import Conversation

#: How each answer begins; the number of its message follows.
ANSWER = "answer to "

#: More entries than any transcript has.
ALL = 10_000_000


@dataclass(slots=True)
class Verdict:
    """What became of the messages."""

    #: Taken from the gateway; each of them must be answered.
    taken: int = 0
    #: In the transcripts; the last of them may have been taken and not acknowledged.
    committed: int = 0
    #: Dead letters: five holders in a row died of it, as far as the store can tell.
    given_up: int = 0
    #: Not committed, or committed without a visible answer.
    lost: int = 0
    #: Committed more than once: two turns of one message.
    doubled: int = 0
    #: Answers that are visible more than once.
    shown_twice: int = 0
    #: Committed or shown before an older one.
    overtaken: int = 0
    #: Runs of effects beyond the first, all under one key each.
    repeated: int = 0
    #: Effects under a second key.
    foreign: int = 0
    told: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong. An effect may be repeated."""
        wrong = self.lost + self.doubled + self.shown_twice + self.overtaken + self.foreign
        return not wrong and self.taken > 0


async def read_verdict(scene: Scene) -> Verdict:
    """Compare what was taken with what was committed and what is visible."""
    verdict = Verdict()
    outside = Outside(scene.outside)
    heard, posts, effects = outside.heard(), outside.posts(), outside.effects()
    outside.close()
    state = connect(scene.state_url, partitions=1)
    await state.open()
    dead = await given_up(state, scene)
    for channel in scene.channels:
        entries = await state.history(Conversation(OWNER, channel), limit=ALL)
        committed = [int(said.text) for said in read(entries) if said.role == "person"]
        texts = [post.text for post in posts.get(channel, [])]
        shown = [int(text.removeprefix(ANSWER)) for text in texts if text.startswith(ANSWER)]
        judge(verdict, channel, heard.get(channel, 0), committed, shown, dead[channel])
    await state.close()
    verdict.repeated = sum(runs - 1 for runs in effects.values())
    verdict.foreign = max(0, len(effects) - verdict.committed)
    return verdict


async def given_up(state: State, scene: Scene) -> dict[str, list[int]]:
    """The messages that became dead letters, by channel."""
    numbers: dict[str, list[int]] = defaultdict(list)
    cursor = None
    while True:
        page = await state.dead_letters(OWNER, cursor)
        for letter in page.letters:
            mine = numbers[letter.conversation.id]
            mine += [scene.number(inbound.id) for inbound in letter.inbounds]
        if (cursor := page.cursor) is None:
            return numbers


def judge(
    verdict: Verdict,
    channel: str,
    heard: int,
    committed: list[int],
    shown: list[int],
    dead: list[int],
) -> None:
    """Add one channel to the verdict."""
    all_ = range(1, max([heard, *committed, *shown, *dead]) + 1)
    commits, shows = Counter([*committed, *dead]), Counter(shown)
    lost = [
        number for number in all_ if not (commits[number] and (shows[number] or number in dead))
    ]
    doubled = [number for number, times in commits.items() if times > 1]
    twice = [number for number, times in shows.items() if times > 1]
    first_shown = list(dict.fromkeys(shown))
    overtaken = sum(a > b for row in (committed, first_shown) for a, b in pairwise(row))
    verdict.taken += heard
    verdict.committed += len(commits)
    verdict.given_up += len(dead)
    verdict.lost += len(lost)
    verdict.doubled += len(doubled)
    verdict.shown_twice += len(twice)
    verdict.overtaken += overtaken
    if lost or doubled or twice or overtaken:
        verdict.told.append(
            f"{channel}: lost {lost[:9]}, committed twice {doubled[:9]}, shown twice {twice[:9]},"
            f" overtaken {overtaken}"
        )
