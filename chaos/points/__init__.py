"""
A crash before and after every write, and pairs of them, over any store.

`scenarios` are what happens, `rehearsal` runs one with its crashes, `ending` reads what is left.
"""
