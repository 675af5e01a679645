"""What thousands of kills prove, and the control that shows that they could prove the contrary."""

import asyncio
import time

from chaos.figures import Proof
from chaos.kills.histories import read_histories, sound, with_a_token_twice
from chaos.kills.reaper import Reaped, Reaper, staged
from chaos.kills.trouble import CALLED
from chaos.kills.verdict import Verdict, read_verdict

#: Kills of one round of the control, and rounds after which it has shown nothing.
ROUND, ROUNDS = 50, 18

#: The part of all messages that may be given up, and how many more: now and then five holders of
#: one turn die in a row, or stand still. Relation: twenty times what a usual machine shows, three
#: times what one shows on which others take nearly all of the time.
GIVEN_UP, AND_MORE = 0.05, 3

#: Messages that are answered for each kill at least. Relation: a third of those for which there
#: are steps enough.
ANSWERED = 0.5


def survives(store: str, kills: int) -> Proof:
    """Kill processes over *store*: nothing is lost or doubled, and the lock is one."""
    with staged(store) as (scene, trouble):
        done = Reaper(scene, trouble).reap(kills)
        verdict = asyncio.run(read_verdict(scene))
        histories = read_histories(scene.folder, done.killed).values()
    began, calls = time.monotonic(), sum(map(len, histories))
    wrong = sum(not sound(history) for history in histories)
    seconds = time.monotonic() - began
    planted = [one for history in histories if (one := with_a_token_twice(history))]
    missed = sum(map(sound, planted))
    figures = {
        **shown(store, done, verdict),
        "calls judged": calls,
        "calls judged a second": calls / seconds,
        "conversations that no lock could have had": wrong,
        "planted double tokens": len(planted),
        "planted double tokens missed": missed,
    }
    broken = [*done.broken, *verdict.told]
    broken += [] if done.drained else ["something still waited at the end"]
    broken += [] if verdict.sound else [f"{verdict}"]
    broken += [f"{wrong} histories are no lock's"] if wrong else []
    broken += too_little(done.kills, verdict)
    broken += [f"{missed} planted double tokens were not noticed"] if missed else []
    broken += [] if planted else ["no double token could be planted"]
    return Proof(f"kill -9 over {store}", figures, broken)


def needs_nonces(store: str) -> Proof:
    """Kill processes whose nonces nobody heeds: if nothing is shown twice, nothing is proved."""
    shown_twice = kills = 0
    for _ in range(ROUNDS):
        with staged(store, knows_nonces=False) as (scene, trouble):
            kills += Reaper(scene, trouble).reap(ROUND).kills
            shown_twice = asyncio.run(read_verdict(scene)).shown_twice
        if shown_twice:
            break
    figures = {"kills": kills, "messages shown twice": shown_twice}
    broken = [] if shown_twice else ["without nonces nothing was shown twice"]
    return Proof(f"control: no nonces, over {store}", figures, broken)


def too_little(kills: int, verdict: Verdict) -> list[str]:
    """
    Why so few answers prove nothing, if they are few.

    Kills wait for steps, so that no machine is too slow for this: where turns die of themselves
    each message ends as a dead letter, and nothing is lost or doubled either.
    """
    told = []
    if verdict.given_up > verdict.committed * GIVEN_UP + AND_MORE:
        told.append(f"{verdict.given_up} of {verdict.committed} messages were given up")
    if (answered := verdict.committed - verdict.given_up) < kills * ANSWERED:
        told.append(f"only {answered} messages were answered in {kills} kills")
    return told


def shown(store: str, done: Reaped, verdict: Verdict) -> dict[str, float]:
    """The figures of a run."""
    return {
        "processes killed": done.kills,
        **({CALLED[store]: done.troubles} if store in CALLED else {}),
        "processes frozen": done.freezes,
        "kills a second": done.kills / done.seconds,
        "messages": verdict.committed,
        "given up after five deaths": verdict.given_up,
        "lost": verdict.lost,
        "committed twice": verdict.doubled,
        "shown twice": verdict.shown_twice,
        "out of order": verdict.overtaken,
        "effects under a second key": verdict.foreign,
        "effects repeated under their key": verdict.repeated,
    }
