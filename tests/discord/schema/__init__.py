"""Discord's own description of its REST API, and what holds the sandbox's answers to it."""
