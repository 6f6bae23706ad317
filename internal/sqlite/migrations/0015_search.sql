-- What tasks are found by: what was asked and answered, what was done and on which pages. What pages said is not among
-- it, and nothing of private tasks.
CREATE VIEW task_words AS
SELECT
	id AS task,
	prompt || char(10) || answer || char(10) || reason || char(10) || CASE
		WHEN state IN ('queued', 'running') THEN ''
		ELSE coalesce((
			SELECT group_concat(substr(label, 1, 300) || char(10) || substr(title, 1, 300) || char(10) || substr(url, 1, 300), char(10))
			FROM step WHERE step.task = task.id AND kind IN ('act', 'notice') AND phase = 'done'), '')
	END AS words
FROM task WHERE NOT private;

CREATE TABLE searchable (
	id    INTEGER PRIMARY KEY,
	task  TEXT NOT NULL UNIQUE REFERENCES task (id) ON DELETE CASCADE,
	words TEXT NOT NULL
) STRICT;
INSERT INTO searchable (task, words) SELECT task, words FROM task_words;

CREATE VIRTUAL TABLE history USING fts5 (
	words, content = 'searchable', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
-- What is deleted is overwritten in the index, too.
INSERT INTO history (history, rank) VALUES ('secure-delete', 1);
INSERT INTO history (history) VALUES ('rebuild');

CREATE TRIGGER searchable_inserted AFTER INSERT ON searchable BEGIN
	INSERT INTO history (rowid, words) VALUES (new.id, new.words);
END;
CREATE TRIGGER searchable_deleted AFTER DELETE ON searchable BEGIN
	INSERT INTO history (history, rowid, words) VALUES ('delete', old.id, old.words);
END;
CREATE TRIGGER searchable_updated AFTER UPDATE ON searchable BEGIN
	INSERT INTO history (history, rowid, words) VALUES ('delete', old.id, old.words);
	INSERT INTO history (rowid, words) VALUES (new.id, new.words);
END;

CREATE TRIGGER task_inserted AFTER INSERT ON task BEGIN
	INSERT INTO searchable (task, words) SELECT task, words FROM task_words WHERE task = new.id;
END;
-- A task is written again with each step. Its steps are added at its end, once.
CREATE TRIGGER task_updated AFTER UPDATE ON task
WHEN (new.prompt, new.answer, new.reason, new.state) IS NOT (old.prompt, old.answer, old.reason, old.state) BEGIN
	UPDATE searchable SET words = (SELECT words FROM task_words WHERE task = new.id) WHERE task = new.id;
END;
-- What is taken out of a step is taken out here.
CREATE TRIGGER step_updated AFTER UPDATE ON step
WHEN old.phase = 'done' AND (new.label, new.title, new.url) IS NOT (old.label, old.title, old.url) BEGIN
	UPDATE searchable SET words = (SELECT words FROM task_words WHERE task = new.task) WHERE task = new.task;
END;
