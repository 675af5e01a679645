"""Proofs by force: simulated schedules, processes killed with -9, a cluster moving its slots."""
