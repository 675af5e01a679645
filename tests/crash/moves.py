"""Move a slot of a cluster from one server to another, key by key, as an operator's tool does."""

from dataclasses import dataclass

from tests.redis_cluster import Cluster, Server

# Keys that leave in one command: few, so that the slot is long on its way.
AT_ONCE = 5

# Milliseconds for one command to hand its keys over.
TIMEOUT = 5000


@dataclass(frozen=True, slots=True)
class Move:
    """A slot's way from one server to another, in its three stages."""

    cluster: Cluster
    slot: int
    source: Server
    target: Server

    def begin(self) -> None:
        """Let both servers know; all keys are at the source still."""
        source, target = (server.asked("CLUSTER", "MYID") for server in (self.source, self.target))
        self.target.asked("CLUSTER", "SETSLOT", self.slot, "IMPORTING", source)
        self.source.asked("CLUSTER", "SETSLOT", self.slot, "MIGRATING", target)

    def hand_over(self) -> int:
        """Let all keys go, a few at a time; answer how many there were."""
        moved = 0
        with self.source.client() as client:
            client.response_callbacks.clear()
            while keys := client.execute_command("CLUSTER", "GETKEYSINSLOT", self.slot, AT_ONCE):
                there = ("127.0.0.1", self.target.port, "", 0, TIMEOUT, "KEYS", *keys)
                client.execute_command("MIGRATE", *there)
                moved += len(keys)
        return moved

    def end(self) -> None:
        """Let the target hold the slot; it is told first, lest nobody holds it for a moment."""
        target = self.target.asked("CLUSTER", "MYID")
        for server in (self.target, self.source, *self.cluster.servers):
            server.asked("CLUSTER", "SETSLOT", self.slot, "NODE", target)

    def whole(self) -> int:
        """Go the whole way; answer how many keys there were."""
        self.begin()
        moved = self.hand_over()
        self.end()
        return moved


def move(cluster: Cluster, slot: int) -> Move:
    """Plan the way of a slot from where it is to some other server."""
    source = cluster.holder(slot)
    target = next(server for server in cluster.servers if server is not source)
    return Move(cluster, slot, source, target)


def refused(cluster: Cluster, code: str) -> int:
    """Count the errors of one kind that the servers answered so far."""
    told = "\r\n".join(server.asked("INFO", "errorstats") for server in cluster.servers)
    counts = [line.split("count=")[1] for line in told.split("\r\n") if f"_{code}:" in line]
    return sum(map(int, counts))
