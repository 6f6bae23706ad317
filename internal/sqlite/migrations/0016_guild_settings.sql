-- What the managers of a Discord server have set for it: a JSON object of values by key.
CREATE TABLE guild_settings (
	guild   TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	data    TEXT NOT NULL
) WITHOUT ROWID;

-- The servers that an account of a bot is on, so that what is kept of one that it leaves while clank is off is deleted.
CREATE TABLE guild (
	account TEXT NOT NULL,
	guild   TEXT NOT NULL,
	PRIMARY KEY (account, guild)
) WITHOUT ROWID;
