"""What the responder of a simulated turn does; the payload of its inbound names it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Script:
    """One kind of turn. A replay does the same as the run before it."""

    pages: int = 1
    #: Whether each page is preceded by a recorded effect.
    effects: bool = False
    #: Seconds of thought before each page, in slices at whose ends a request is noticed.
    thinks: float = 0.0
    #: Whether a page is edited once more before the next is begun.
    edits: bool = False
    #: Exceptions that are worth a retry before it succeeds.
    fails: int = 0
    #: Whether it takes what waits into its own turn.
    takes: bool = False
    #: Whether it kills the process that runs it.
    kills: bool = False


SCRIPTS = {
    b"plain": Script(),
    b"pages": Script(pages=2),
    b"effects": Script(effects=True),
    b"rich": Script(pages=2, effects=True),
    b"slow": Script(pages=2, thinks=2.0, edits=True),
    b"flaky": Script(fails=1),
    b"poison": Script(fails=99),
    b"taker": Script(pages=2, takes=True, thinks=0.6),
    b"killer": Script(kills=True),
}
