"""
The state port on Redis, one Redis or a Redis Cluster alike.

Each step is one script, which is what makes it atomic; the classes here say which keys and
arguments it takes and which outcome its reply is.
"""

from state.redis.forgetting import Forgets
from state.redis.keeping import Keeping
from state.redis.operating import Operating
from state.redis.renewing import Renewing
from state.redis.requests import Requests
from state.redis.sharding import Sharding
from state.redis.timing import Timing
from state.redis.turns import Turns


class RedisState(Turns, Renewing, Requests, Timing, Keeping, Operating, Forgets, Sharding):
    """Every step of `state.ports.State` over a Redis server."""
