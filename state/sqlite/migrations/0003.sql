-- How far each process came with its renewals, so that it notices when the file was set back.
CREATE TABLE beat (
    process TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
