"""The real client against a Discord on this machine, and that Discord itself."""
