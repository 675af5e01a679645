"""What tests of cogs, and of the bot itself, are made of: no sockets, no Discord."""
