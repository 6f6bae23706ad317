-- What the calls of a task may cost, in US dollars, as it was asked for; 0 is no limit of its own.
ALTER TABLE task ADD COLUMN max_usd REAL NOT NULL DEFAULT 0;
