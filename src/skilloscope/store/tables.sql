-- The tables of a new store.
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    json TEXT NOT NULL
);
CREATE TABLE analysis (
    settings INTEGER NOT NULL REFERENCES settings (id),
    problem TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    reason TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('searched', 'imported')),
    alternatives INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    seconds REAL NOT NULL,
    created INTEGER NOT NULL,
    lines BLOB NOT NULL,
    digest BLOB,
    PRIMARY KEY (settings, problem)
) WITHOUT ROWID;
