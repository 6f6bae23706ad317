-- Whose calls they were: a limit holds for each server and each person. Of those begun before, nobody knows.
ALTER TABLE calls_begun ADD COLUMN guild TEXT NOT NULL DEFAULT '';
ALTER TABLE calls_begun ADD COLUMN user TEXT NOT NULL DEFAULT '';
