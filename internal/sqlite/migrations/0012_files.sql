-- What came with a task, and what its pages offered for download: JSON lists of sessions.File. The default is null.
ALTER TABLE task ADD COLUMN files BLOB NOT NULL DEFAULT x'6E756C6C';
ALTER TABLE task ADD COLUMN downloads BLOB NOT NULL DEFAULT x'6E756C6C';
