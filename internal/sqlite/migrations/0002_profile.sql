-- The browser profile that a session works with; empty if it has none that lasts.
ALTER TABLE session ADD COLUMN profile TEXT NOT NULL DEFAULT '';
