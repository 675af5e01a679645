"""
What the model test chooses from.

Few of each, and some much oftener than others: faults lie where the same conversation, author, step
and living lease meet again and again.
"""

from hypothesis import strategies as st

from state.contract.scene import ELSEWHERE, HERE, LOCAL, PERSONAL, SHARED, THERE
from state.keys import Put, Scope
from state.values import (
    CatchUp,
    Changes,
    Claim,
    Could,
    Inbound,
    Outcome,
    Overflow,
    Policy,
    StopRight,
    Timer,
)

HOMES = (HERE, THERE, ELSEWHERE)

homes = st.sampled_from([HERE] * 8 + [THERE, ELSEWHERE])
authors = st.sampled_from(["ann", "ann", "ann", "bob", "cy"])
picks = st.sampled_from([0] * 8 + [1, 2, 3])
contents = st.sampled_from([b"", b"a", b"\0\xff"])
keys = st.sampled_from(["1", "1", "2"])
coulds = st.sampled_from(
    [
        *[Could(trigger=True)] * 4,
        *[Could(trigger=True, follow_up=True)] * 4,
        Could(follow_up=True),
        Could(stop=StopRight.OWN),
        Could(trigger=True, stop=StopRight.ANY),
        Could(),
    ]
)
policies = st.sampled_from(
    [
        *[Policy()] * 3,
        Policy(inbox=2, per_person=1),
        Policy(inbox=1, per_person=2),
        Policy(inbox=2, per_person=2, overflow=Overflow.DROP_OLDEST),
        Policy(max_followups=1),
        Policy(early_only=True),
        *[Policy(gather=True)] * 2,
        Policy(gather=True, quiet=2.0, quiet_most=5.0),
        Policy(gather=True, not_before=4.0),
        Policy(not_before=8.0),
        Policy(interrupt=True),
        Policy(interrupt=True, gather=True),
        Policy(drop=True),
    ]
)
claims = st.sampled_from([Claim(8.0), Claim(16.0), Claim(16.0, expire_after=30.0)])
scopes = st.sampled_from([SHARED, LOCAL, PERSONAL, Scope(ELSEWHERE.owner)])
lives = st.sampled_from([None, None, 8.0, 32.0])
timers = st.builds(
    Timer,
    id=st.sampled_from(["t", "t", "u"]),
    inbound=st.builds(Inbound, st.just("timer"), authors, contents),
    delay=st.sampled_from([0.0, 4.0, 16.0]),
    every=st.sampled_from([None, None, 3.0]),
    catch_up=st.sampled_from(CatchUp),
)
#: Only what any commit of these homes may write.
puts = st.builds(
    Put,
    scope=st.sampled_from([SHARED, LOCAL]),
    key=keys,
    value=st.none() | contents,
    ttl=lives,
)
changes = st.builds(
    Changes,
    outcome=st.sampled_from(Outcome),
    state=st.none() | contents,
    state_version=st.integers(0, 3),
    transcript=st.lists(contents, max_size=2).map(tuple),
    keep=st.sampled_from([1, 3, 200]),
    asked=st.sampled_from([None, None, None, frozenset({("a", "1")})]),
    authors=st.sampled_from([(), ("ann",), ("", "bob")]),
    unschedule=st.sampled_from([(), (), ("t",)]),
    answer=st.none() | contents,
    usage=st.sampled_from([{}, {}, {"tokens": 3}, {"tokens": 2, "turns": 1}]),
)
