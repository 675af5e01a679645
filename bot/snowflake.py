"""Discord's ids: strings to us, but they tell when they were made."""

#: Discord's epoch in milliseconds: an id holds the milliseconds since then above its low 22 bits.
DISCORD_EPOCH = 1_420_070_400_000


def made_at(snowflake: str) -> float:
    """When an id was made, in seconds of the Unix epoch."""
    return ((int(snowflake) >> 22) + DISCORD_EPOCH) / 1000
