-- The first schema. Points in time are microseconds of the store's clock; payloads are opaque.
-- A conversation's key is "<owner> <id>": a space is in neither, so that all of an owner is one
-- range of keys and no owner is the prefix of another's. What a turn writes is in as few B-trees as
-- can be, since each is a page more to bring to the disk.

CREATE TABLE store (
    partitions INTEGER NOT NULL
) STRICT;

-- The last number given out in each partition, for tokens; it never falls.
CREATE TABLE counter (
    partition INTEGER PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT;

-- A conversation in which something is pending or kept; an idle one has no row.
CREATE TABLE conversation (
    key TEXT PRIMARY KEY,
    partition INTEGER NOT NULL,
    -- The lease.
    token TEXT,
    expires INTEGER NOT NULL,
    -- When somebody must look again; null exactly when nothing is pending.
    wake INTEGER,
    backing_off INTEGER NOT NULL,
    -- The turn at its head, from its first start to its commit.
    turn TEXT,
    lead TEXT NOT NULL,
    admitted INTEGER NOT NULL,
    begun INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    followups INTEGER NOT NULL,
    -- Expiries of its lease since its last new step.
    expiries INTEGER NOT NULL,
    signal TEXT,
    signal_by TEXT,
    -- What superseding it takes along: what waits of everybody, and its own inbounds again.
    everyone INTEGER NOT NULL,
    rejoined INTEGER NOT NULL,
    -- The conversation was reset while the turn ran: it writes no state and no transcript.
    detached INTEGER NOT NULL,
    -- How many rows the other tables have of this conversation, so that no step has to count.
    waiting INTEGER NOT NULL,
    timers INTEGER NOT NULL,
    stateful INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    given INTEGER NOT NULL,
    -- The number of the newest transcript entry.
    entries INTEGER NOT NULL,
    -- The first and the last place in the inbox.
    head INTEGER NOT NULL,
    tail INTEGER NOT NULL,
    subscribed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX conversation_wake ON conversation (partition, wake) WHERE wake IS NOT NULL;
CREATE INDEX conversation_signal ON conversation (partition) WHERE signal IS NOT NULL;
CREATE INDEX conversation_subscribed ON conversation (key) WHERE subscribed = 1;

-- Inbounds that wait (part is null), that made the turn (0), or that its n-th take moved into it,
-- each in the order of their places.
CREATE TABLE inbound (
    conversation TEXT NOT NULL,
    place INTEGER NOT NULL,
    part INTEGER,
    name TEXT NOT NULL,
    author TEXT NOT NULL,
    payload BLOB NOT NULL,
    at INTEGER NOT NULL,
    -- Until when it is held back.
    after INTEGER NOT NULL,
    gather INTEGER NOT NULL,
    -- Name of the inbound that it continues.
    joins TEXT,
    PRIMARY KEY (conversation, place)
) STRICT, WITHOUT ROWID;

-- What the turn has recorded, in the order of places; dropped with the turn.
--   step   name, key, value
--   page   name = number, key = issue, value = intent, message_id
--   take   name = its key, key = part
--   carry  value
CREATE TABLE journal (
    conversation TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    place INTEGER NOT NULL,
    value BLOB NOT NULL,
    message_id TEXT,
    PRIMARY KEY (conversation, kind, name, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE timer (
    id INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    due INTEGER NOT NULL,
    occurrence INTEGER NOT NULL,
    inbound TEXT NOT NULL,
    author TEXT NOT NULL,
    payload BLOB NOT NULL,
    delay REAL NOT NULL,
    every REAL,
    catch_up TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX timer_name ON timer (conversation, name);

-- Beside the conversation's row, which every renewal writes again.
CREATE TABLE state (
    conversation TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The author of our own entries is "".
CREATE TABLE transcript (
    conversation TEXT NOT NULL,
    number INTEGER NOT NULL,
    author TEXT NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (conversation, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX transcript_author ON transcript (author) WHERE author <> '';

CREATE TABLE dead_letter (
    id INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    name TEXT NOT NULL,
    error TEXT NOT NULL,
    state BLOB,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX dead_letter_conversation ON dead_letter (conversation);

CREATE TABLE dead_inbound (
    id INTEGER PRIMARY KEY,
    dead_letter INTEGER NOT NULL,
    name TEXT NOT NULL,
    author TEXT NOT NULL,
    payload BLOB NOT NULL
) STRICT;

CREATE INDEX dead_inbound_dead_letter ON dead_inbound (dead_letter);

-- Answers that commits gave to inbounds.
CREATE TABLE answer (
    conversation TEXT NOT NULL,
    inbound TEXT NOT NULL,
    at INTEGER NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (conversation, inbound)
) STRICT, WITHOUT ROWID;

CREATE INDEX answer_at ON answer (at);

-- Inbound ids that were admitted, and when. They outlive their conversation's row. Discord's ids grow
-- with time, so that new ones come in at one end.
CREATE TABLE seen (
    inbound TEXT NOT NULL,
    conversation TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (inbound, conversation)
) STRICT, WITHOUT ROWID;

CREATE INDEX seen_at ON seen (at);

-- The first answer to each operation, by the minute in which it was given. They outlive their
-- conversation's row too.
CREATE TABLE operation (
    minute INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    op TEXT NOT NULL,
    at INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (minute, conversation, op)
) STRICT, WITHOUT ROWID;

-- A value, a counter, or (both null) a list. A scope's conversation or person is "" if it has none.
CREATE TABLE pair (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    conversation TEXT NOT NULL,
    person TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB,
    count INTEGER,
    -- When it is gone; null keeps it.
    until INTEGER
) STRICT;

CREATE UNIQUE INDEX pair_key ON pair (owner, conversation, person, key);
CREATE INDEX pair_person ON pair (person) WHERE person <> '';
CREATE INDEX pair_until ON pair (until) WHERE until IS NOT NULL;

CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    pair INTEGER NOT NULL,
    value BLOB NOT NULL
) STRICT;

CREATE INDEX item_pair ON item (pair);

CREATE TABLE usage (
    owner TEXT NOT NULL,
    day TEXT NOT NULL,
    name TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (owner, day, name)
) STRICT, WITHOUT ROWID;

-- What is being forgotten just now: an owner ('owner', ''), a conversation, or an author ('', 'author').
CREATE TABLE tombstone (
    owner TEXT NOT NULL,
    conversation TEXT NOT NULL,
    author TEXT NOT NULL,
    PRIMARY KEY (owner, conversation, author)
) STRICT, WITHOUT ROWID;

-- Ranges of shards. Expiries are milliseconds here, as they are shown.
CREATE TABLE shard (
    name TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    token TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT;

-- When the next identify of a bucket is granted.
CREATE TABLE gate (
    bucket INTEGER PRIMARY KEY,
    free INTEGER NOT NULL
) STRICT;
