"""The state port on Redis: each step is one Lua script of the step's name."""

from state.redis.adapter import RedisState

__all__ = ["RedisState"]
