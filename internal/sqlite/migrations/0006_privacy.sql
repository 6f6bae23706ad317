-- People who do not want to be heard in the calls of a server; see package voice/privacy.
CREATE TABLE left_out (
	guild TEXT NOT NULL,
	user  TEXT NOT NULL,
	PRIMARY KEY (guild, user)
) WITHOUT ROWID;
