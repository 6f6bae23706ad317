-- Where a chat shows work under way: after a crash the next run corrects those messages. The data is the front end's.
CREATE TABLE open_messages (
	work TEXT PRIMARY KEY,
	data BLOB NOT NULL
) WITHOUT ROWID;
