-- The first schema. Points in time are microseconds of the store's clock; payloads are opaque.
-- A conversation's key is "<owner> <id>": a space is in neither, so that all of an owner is one
-- range of keys and no owner is the prefix of another's.

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
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
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
    -- The conversation was reset while the turn ran: it writes no state and no transcript.
    detached INTEGER NOT NULL,
    -- How many rows the other tables have of this conversation, so that no step has to count.
    waiting INTEGER NOT NULL,
    stateful INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    -- The number of the newest transcript entry; the kept ones are the kept - 1 before it, and it.
    entries INTEGER NOT NULL,
    subscribed INTEGER NOT NULL
) STRICT;

CREATE INDEX conversation_wake ON conversation (partition, wake) WHERE wake IS NOT NULL;
CREATE INDEX conversation_signal ON conversation (partition) WHERE signal IS NOT NULL;
CREATE INDEX conversation_subscribed ON conversation (key) WHERE subscribed = 1;

-- Inbounds that wait (part is null), that made the turn (0), or that its n-th take moved into it.
-- The order of ids is the order of admission.
CREATE TABLE inbound (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    part INTEGER,
    name TEXT NOT NULL,
    author TEXT NOT NULL,
    payload BLOB NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX inbound_conversation ON inbound (conversation, part);

-- What the turn has recorded, in this order; dropped with the turn.
--   step   name, key, value
--   page   name = number, key = issue, value = intent, message_id
--   take   name = its key, key = part
--   carry  value
CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    message_id TEXT
) STRICT;

CREATE UNIQUE INDEX journal_entry ON journal (conversation, kind, name, key);

-- Beside the conversation's row, which every renewal writes again.
CREATE TABLE state (
    conversation INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    value BLOB NOT NULL
) STRICT;

CREATE TABLE transcript (
    conversation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (conversation, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letter (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    error TEXT NOT NULL,
    state BLOB
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

-- Inbound ids that were admitted, and when. They outlive their conversation's row. Discord's ids grow
-- with time, so that new ones come in at one end.
CREATE TABLE seen (
    inbound TEXT NOT NULL,
    conversation TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (inbound, conversation)
) STRICT, WITHOUT ROWID;

CREATE INDEX seen_at ON seen (at);

-- The first answer to each operation, in the order given. They outlive their conversation's row too.
CREATE TABLE operation (
    id INTEGER PRIMARY KEY,
    op TEXT NOT NULL,
    conversation TEXT NOT NULL,
    at INTEGER NOT NULL,
    answer TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX operation_op ON operation (op, conversation);
