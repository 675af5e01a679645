"""Tests that play the sandbox's page in a browser."""
