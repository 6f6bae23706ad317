-- What the filters of the page of activity read, and what they choose from.
CREATE INDEX task_by_guild ON task (guild, asked);
CREATE INDEX task_by_user ON task (user, asked);
CREATE INDEX task_facets ON task (guild, user, runtime, model, asked, user_name);
