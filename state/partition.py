"""
Where an owner lives.

Everything of one owner (its conversations, their wake index, their subscriptions) is in one
partition, so that each step touches one Redis slot, on one Redis as on a Redis Cluster.
"""

from binascii import crc_hqx

#: Partitions of a new store. Relation: many more than the nodes of a cluster, so that load
#: spreads; few enough that one sweep a second over all of them costs nothing.
DEFAULT_PARTITIONS = 16


def partition_of(owner: str, partitions: int) -> int:
    """Return crc16(*owner*) mod *partitions*; crc16 is the one Redis Cluster uses (XMODEM)."""
    return crc_hqx(owner.encode(), 0) % partitions
