"""Real failures of other bots, replayed against this one; `rows` says where each is tested."""
