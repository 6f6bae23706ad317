-- The part of the time that was heard and said in calls, in nanoseconds. Before, nobody counted it apart.
ALTER TABLE ledger ADD COLUMN talk INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger_sum ADD COLUMN talk INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger_sum ADD COLUMN held_talk INTEGER NOT NULL DEFAULT 0;
