-- What came with a task, and what its pages offered for download: JSON lists of sessions.File.
ALTER TABLE task ADD COLUMN files BLOB NOT NULL DEFAULT 'null';
ALTER TABLE task ADD COLUMN downloads BLOB NOT NULL DEFAULT 'null';
