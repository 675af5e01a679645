"""All planted faults, by name."""

from chaos.simulation.planted import Planted, ends, leases, protocol, requests
from chaos.simulation.process import Process
from chaos.simulation.turn import TurnRun
from state.memory import MemoryState

ADAPTERS: tuple[type[MemoryState], ...] = (
    ends.CommitsForAnybody,
    ends.DrainsWithoutAWake,
    ends.ReleasesBeforeItLooks,
    ends.ServesTheLastFirst,
    ends.PutsBackWhatWasTaken,
    ends.DropsOthers,
    ends.CountsNoFailures,
    ends.QueuesTheFailedAgain,
    ends.ParksWithoutTheJournal,
    leases.CountsTokens,
    leases.RenewsTheExpired,
    leases.NoticesNothing,
    leases.AnswersNoRepeat,
    leases.AcknowledgesAtTheStart,
    leases.ClaimsTheHeld,
    leases.RunsTheStoppedAgain,
    leases.CountsNoExpiries,
    leases.LosesSteps,
    leases.PagesForAnybody,
    leases.RecordsTheLast,
    leases.TakesAnew,
    leases.StealsByHalves,
    requests.AdmitsTwice,
    requests.ForgetsAdmissions,
    requests.StrandsTheNewcomer,
    requests.SignalsWhoeverRuns,
    requests.KeepsTheKilled,
    requests.KillsTheWakeOfATimer,
    requests.AmendsTwice,
    requests.FiresAgain,
)

PROCESSES: tuple[type[Process], ...] = (
    protocol.CountsFromTheAnswer,
    protocol.TakesNothingUp,
    protocol.AcknowledgesEvents,
    protocol.RepeatsAsNew,
    protocol.HeedsOnlyItself,
)

TURNS: tuple[type[TurnRun], ...] = (
    protocol.SendsNoNonce,
    protocol.SendsAnotherNonce,
    protocol.SendsBeforeItJournals,
    protocol.NeverLooks,
    protocol.SpeaksOn,
    protocol.SpeaksWithoutALease,
    protocol.AnswersFirst,
)


def told(broken: type) -> str:
    """The sentence that says what is wrong, as its docstring has it."""
    return (broken.__doc__ or "").strip()


#: Name → what to run a schedule on.
FAULTS: dict[str, Planted] = {
    **{one.__name__: Planted(told(one), adapter=one) for one in ADAPTERS},
    **{one.__name__: Planted(told(one), process=one) for one in PROCESSES},
    **{one.__name__: Planted(told(one), turn=one) for one in TURNS},
    "AsksTheHostsClock": Planted(
        "Leases are judged by the wall clock of whoever asks.", skewed=True
    ),
}
