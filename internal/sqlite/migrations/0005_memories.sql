-- What the other runtimes that have worked a session want to find again: a JSON
-- object by their names, each in base64.
ALTER TABLE session ADD COLUMN others BLOB;
