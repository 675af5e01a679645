"""
Real processes of the bot's core, killed with -9 by the thousand.

`bot` is one process, `outside` is what people see, `reaper` kills, `verdict` reads the end.
"""
