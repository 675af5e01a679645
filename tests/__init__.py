"""What Interlock promises, told as sentences that run."""
