"""The responders and commands that come with Interlock."""
