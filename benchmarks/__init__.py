"""Measurements of Interlock."""
