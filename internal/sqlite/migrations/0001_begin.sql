CREATE TABLE session (
	id            TEXT PRIMARY KEY,
	kind          TEXT NOT NULL,
	guild         TEXT NOT NULL,
	channel       TEXT NOT NULL,
	user          TEXT NOT NULL,
	user_name     TEXT NOT NULL,
	private       INTEGER NOT NULL,
	runtime       TEXT NOT NULL,
	state         TEXT NOT NULL,
	title         TEXT NOT NULL,
	url           TEXT NOT NULL,
	memory        BLOB,
	shared        INTEGER NOT NULL,
	steps         INTEGER NOT NULL,
	calls         INTEGER NOT NULL,
	input_tokens  INTEGER NOT NULL,
	cached_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	usd           REAL NOT NULL,
	unpriced      INTEGER NOT NULL,
	created       INTEGER NOT NULL, -- all times are microseconds since 1970, 0 = not yet
	last_used     INTEGER NOT NULL,
	process       TEXT NOT NULL     -- who wrote this row last, see process.go
) STRICT;

CREATE INDEX session_by_use ON session (last_used);
CREATE INDEX session_by_origin ON session (user, channel, last_used);

CREATE TABLE task (
	id            TEXT PRIMARY KEY,
	session       TEXT NOT NULL REFERENCES session (id),
	prompt        TEXT NOT NULL,
	kind          TEXT NOT NULL,
	guild         TEXT NOT NULL,
	channel       TEXT NOT NULL,
	user          TEXT NOT NULL,
	user_name     TEXT NOT NULL,
	private       INTEGER NOT NULL,
	runtime       TEXT NOT NULL,
	model         TEXT NOT NULL,
	max_steps     INTEGER NOT NULL,
	headed        INTEGER NOT NULL,
	state         TEXT NOT NULL,
	answer        TEXT NOT NULL,
	closed        INTEGER NOT NULL,
	reason        TEXT NOT NULL,
	steps         INTEGER NOT NULL,
	calls         INTEGER NOT NULL,
	input_tokens  INTEGER NOT NULL,
	cached_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	usd           REAL NOT NULL,
	unpriced      INTEGER NOT NULL,
	asked         INTEGER NOT NULL,
	started       INTEGER NOT NULL,
	ended         INTEGER NOT NULL,
	process       TEXT NOT NULL
) STRICT;

CREATE INDEX task_by_time ON task (asked);
CREATE INDEX task_by_session ON task (session, asked);
CREATE INDEX task_unfinished ON task (state) WHERE state IN ('queued', 'running');

-- What the answer of a task shows.
CREATE TABLE picture (
	task       TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
	n          INTEGER NOT NULL,
	media_type TEXT NOT NULL,
	data       BLOB NOT NULL,
	PRIMARY KEY (task, n)
) STRICT;

CREATE TABLE step (
	task          TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
	n             INTEGER NOT NULL,
	kind          TEXT NOT NULL,
	phase         TEXT NOT NULL,
	tool          TEXT NOT NULL,
	input         BLOB,
	label         TEXT NOT NULL,
	text          TEXT NOT NULL,
	failed        INTEGER NOT NULL,
	url           TEXT NOT NULL,
	title         TEXT NOT NULL,
	calls         INTEGER NOT NULL,
	input_tokens  INTEGER NOT NULL,
	cached_tokens INTEGER NOT NULL,
	output_tokens INTEGER NOT NULL,
	usd           REAL NOT NULL,
	unpriced      INTEGER NOT NULL,
	limited_by    TEXT NOT NULL,
	closed        INTEGER NOT NULL,
	at            INTEGER NOT NULL,
	PRIMARY KEY (task, n)
) STRICT;

-- How the page looked after a step.
CREATE TABLE view (
	task       TEXT NOT NULL,
	n          INTEGER NOT NULL,
	media_type TEXT NOT NULL,
	data       BLOB NOT NULL,
	PRIMARY KEY (task, n),
	FOREIGN KEY (task, n) REFERENCES step (task, n) ON DELETE CASCADE
) STRICT;

CREATE TABLE setting (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;

-- How often settings were saved.
CREATE TABLE setting_version (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL
) STRICT;

INSERT INTO setting_version VALUES (1, 0);
