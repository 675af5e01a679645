"""The least rights that the bot needs of Redis, as the README tells them to operators."""

import redis

#: What a user is given with ACL SETUSER beside a password.
LEAST = (
    "resetkeys ~{PREFIX}:* ~{PREFIX:* resetchannels &{PREFIX}:* &{PREFIX:*"
    " -@all +@read +@write -@dangerous"
    " +evalsha +script|load +publish +subscribe +ping +time +info"
)

#: What a cluster takes more.
CLUSTER = "+cluster|slots +asking"

PASSWORD = "right"


def allow(client: redis.Redis, user: str, prefix: str, *more: str) -> None:
    """Make *user*, who may do what the bot does under *prefix*, and what *more* says."""
    rules = LEAST.replace("PREFIX", prefix).split()
    rules += [rule for words in more for rule in words.split()]
    made = ("ACL", "SETUSER", user, "reset", "on", f">{PASSWORD}", *rules)
    client.execute_command(*made)  # type: ignore[no-untyped-call]
