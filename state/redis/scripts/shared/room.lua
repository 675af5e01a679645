-- This step frees memory, or lets a turn go on that will. Redis refuses a script that may take memory
-- at its first write, once its memory is full, and asks no more after a write that takes none: this.
call('PERSIST', KEYS[1])
