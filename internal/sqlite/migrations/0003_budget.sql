-- What was spent: one row for each call of a model, each step and each while
-- that a task ran. Money is in billionths of a US dollar, time in nanoseconds.
CREATE TABLE ledger (
	id       INTEGER PRIMARY KEY,
	at       INTEGER NOT NULL,
	day      TEXT    NOT NULL,
	task     TEXT    NOT NULL,
	session  TEXT    NOT NULL,
	guild    TEXT    NOT NULL,
	channel  TEXT    NOT NULL,
	user     TEXT    NOT NULL,
	purpose  TEXT    NOT NULL,
	model    TEXT    NOT NULL,
	state    TEXT    NOT NULL,
	calls    INTEGER NOT NULL,
	steps    INTEGER NOT NULL,
	tokens   INTEGER NOT NULL,
	money    INTEGER NOT NULL,
	time     INTEGER NOT NULL,
	unpriced INTEGER NOT NULL
) STRICT;

CREATE INDEX ledger_guild ON ledger (guild, day, user);
CREATE INDEX ledger_day ON ledger (day);
CREATE INDEX ledger_held ON ledger (id) WHERE state = 'held';
CREATE INDEX ledger_calls ON ledger (id) WHERE calls > 0;

-- The sums of the ledger at each level, kept with it in one transaction, so that
-- a check reads five rows however long the ledger is.
CREATE TABLE ledger_sum (
	level       TEXT    NOT NULL,
	id          TEXT    NOT NULL,
	day         TEXT    NOT NULL,
	calls       INTEGER NOT NULL,
	steps       INTEGER NOT NULL,
	tokens      INTEGER NOT NULL,
	money       INTEGER NOT NULL,
	time        INTEGER NOT NULL,
	held_calls  INTEGER NOT NULL,
	held_steps  INTEGER NOT NULL,
	held_tokens INTEGER NOT NULL,
	held_money  INTEGER NOT NULL,
	held_time   INTEGER NOT NULL,
	unpriced    INTEGER NOT NULL,
	PRIMARY KEY (level, day, id)
) STRICT, WITHOUT ROWID;
