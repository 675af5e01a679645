"""
What the model test chooses from.

Few of each, and some much oftener than others: faults lie where the same conversation, author, step
and living lease meet again and again.
"""

from hypothesis import strategies as st

from state.contract.scene import ELSEWHERE, HERE, THERE
from state.values import Changes, Claim, Could, Outcome, Overflow, Policy, StopRight

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
    ]
)
claims = st.sampled_from([Claim(8.0), Claim(16.0), Claim(16.0, expire_after=30.0)])
changes = st.builds(
    Changes,
    outcome=st.sampled_from(Outcome),
    state=st.none() | contents,
    state_version=st.integers(0, 3),
    transcript=st.lists(contents, max_size=2).map(tuple),
    keep=st.sampled_from([1, 3, 200]),
    asked=st.sampled_from([None, None, None, frozenset({("a", "1")})]),
)
