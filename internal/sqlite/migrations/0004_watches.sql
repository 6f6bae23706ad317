-- Pages that are looked at again and again for somebody; see package watches.
CREATE TABLE watch (
	id        TEXT PRIMARY KEY,
	kind      TEXT NOT NULL,
	guild     TEXT NOT NULL,
	channel   TEXT NOT NULL,
	user      TEXT NOT NULL,
	user_name TEXT NOT NULL,
	private   INTEGER NOT NULL,
	discord   INTEGER GENERATED ALWAYS AS (kind = 'discord') VIRTUAL,
	url       TEXT NOT NULL,
	what      TEXT NOT NULL,
	condition TEXT NOT NULL, -- JSON
	every     INTEGER NOT NULL, -- nanoseconds
	until     INTEGER NOT NULL,
	state     TEXT NOT NULL,
	reason    TEXT NOT NULL,
	created   INTEGER NOT NULL,
	next      INTEGER NOT NULL,
	checked   INTEGER NOT NULL,
	told      INTEGER NOT NULL,
	failures  INTEGER NOT NULL,
	problem   TEXT NOT NULL,
	scripts   INTEGER NOT NULL,
	seen      TEXT NOT NULL, -- JSON
	pending   TEXT NOT NULL, -- JSON; null without one
	last      TEXT NOT NULL -- JSON; null without one
);
CREATE INDEX watch_owner ON watch (state, discord, user);
