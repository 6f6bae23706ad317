-- What a picture shows, for people who cannot see it.
ALTER TABLE picture ADD COLUMN caption TEXT NOT NULL DEFAULT '';
