"""The conformance suite over this project's own adapters, and proof that it finds faults."""
