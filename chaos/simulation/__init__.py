"""
The protocol in one thread: several processes, a virtual clock, and faults between any two steps.

`client` is what a process does, `engine` runs several of them, `book` judges what they did.
"""
