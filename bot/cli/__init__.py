"""What the commands of `bot.__main__` are made of."""
