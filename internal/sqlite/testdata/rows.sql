-- Rows that were written with each schema, after the migration of the number above them: of a person and server that
-- are told by "canary", and of somebody else.

-- 0001
INSERT INTO session (id, kind, guild, channel, user, user_name, private, runtime, state, title, url, memory, shared, steps, calls,
	input_tokens, cached_tokens, output_tokens, usd, unpriced, created, last_used, process) VALUES
	('canary-s1', 'discord', 'canary-guild', 'canary-channel', 'canary-user', 'Canary', 0, 'local_browser_agent', 'parked', 'canary title',
		'https://canary.example/', CAST('{"said":"canary memory"}' AS BLOB), 0, 3, 2, 100, 50, 20, 0.5, 0, 1000, 2000, 'p1'),
	('s2', 'discord', 'g2', 'c2', 'bob', 'Bob', 0, 'local_browser_agent', 'parked', 'Bob''s page', 'https://bob.example/', NULL, 0, 1, 1, 10,
		0, 5, 0.1, 0, 1000, 3000, 'p1'),
	('s3', 'discord', 'g2', 'c2', 'bob', 'Bob', 0, 'local_browser_agent', 'parked', 'shared', '', NULL, 0, 1, 1, 10, 0, 5, 0.1, 0, 1000, 3000,
		'p1');
INSERT INTO task (id, session, prompt, kind, guild, channel, user, user_name, private, runtime, model, max_steps, headed, state, answer,
	closed, reason, steps, calls, input_tokens, cached_tokens, output_tokens, usd, unpriced, asked, started, ended, process) VALUES
	('canary-t1', 'canary-s1', 'canary prompt', 'discord', 'canary-guild', 'canary-channel', 'canary-user', 'Canary', 0, 'local_browser_agent', 'plain:steps', 10, 0,
		'done', 'canary answer', 0, 'stopped by @Canary', 1, 1, 100, 50, 20, 0.5, 0, 1100, 1200, 1300, 'p1'),
	('t2', 's2', 'look at the weather', 'discord', 'g2', 'c2', 'bob', 'Bob', 0, 'local_browser_agent', 'plain:steps', 10, 0, 'failed', '', 0,
		'the page is gone', 1, 1, 10, 0, 5, 0.1, 0, 2100, 2200, 2300, 'p1'),
	('canary-t3', 's3', 'canary visits', 'discord', 'g2', 'c2', 'canary-user', 'Canary', 0, 'local_browser_agent', 'plain:steps', 10, 0, 'done',
		'canary saw', 0, '', 1, 1, 10, 0, 5, 0.1, 0, 2100, 2200, 2300, 'p1');
INSERT INTO picture (task, n, media_type, data) VALUES ('canary-t1', 0, 'image/png', CAST('canary picture' AS BLOB)), ('t2', 0, 'image/png', x'01');
INSERT INTO step (task, n, kind, phase, tool, input, label, text, failed, url, title, calls, input_tokens, cached_tokens, output_tokens, usd,
	unpriced, limited_by, closed, at) VALUES
	('canary-t1', 1, 'act', 'done', 'open', CAST('{"url":"canary"}' AS BLOB), 'open canary', 'canary text', 0, 'https://canary.example/', 'canary title',
		0, 0, 0, 0, 0, 0, '', 0, 1250),
	('t2', 1, 'act', 'done', 'open', NULL, 'open the weather', 'rain', 0, 'https://bob.example/', 'Weather', 0, 0, 0, 0, 0, 0, '', 0, 2250);
INSERT INTO view (task, n, media_type, data) VALUES ('canary-t1', 1, 'image/jpeg', CAST('canary view' AS BLOB)), ('t2', 1, 'image/jpeg', x'02');
INSERT INTO setting VALUES ('interaction.history.retentionDays', '14');

-- 0003
INSERT INTO ledger (at, day, task, session, guild, channel, user, purpose, model, state, calls, steps, tokens, money, time, unpriced) VALUES
	(1200, '2026-03-01', 'canary-t1', 'canary-s1', 'canary-guild', 'canary-channel', 'canary-user', 'browse', 'plain:steps', 'settled', 1, 1, 120, 500000000, 7, 0),
	(2200, '2026-03-01', 't2', 's2', 'g2', 'c2', 'bob', 'browse', 'plain:steps', 'settled', 1, 1, 15, 100000000, 7, 0);
INSERT INTO ledger_sum (level, id, day, calls, steps, tokens, money, time, held_calls, held_steps, held_tokens, held_money, held_time, unpriced)
	VALUES ('user', 'canary-user', '2026-03-01', 1, 1, 120, 500000000, 7, 0, 0, 0, 0, 0, 0),
	('guild', 'canary-guild', '2026-03-01', 1, 1, 120, 500000000, 7, 0, 0, 0, 0, 0, 0),
	('user', 'bob', '2026-03-01', 1, 1, 15, 100000000, 7, 0, 0, 0, 0, 0, 0);

-- 0004
INSERT INTO watch (id, kind, guild, channel, user, user_name, private, url, what, condition, every, until, state, reason, created, next,
	checked, told, failures, problem, scripts, seen, pending, last) VALUES
	('canary-w1', 'discord', 'canary-guild', 'canary-channel', 'canary-user', 'Canary', 0, 'https://canary.example/', 'canary waits', '{"kind":"says","text":"canary"}',
		60000000000, 9000, 'active', 'canary went', 1000, 2000, 1500, 0, 0, 'canary fell', 0, '{"title":"canary seen"}',
		'{"text":"canary pending"}', '{"text":"canary last"}'),
	('w2', 'discord', 'g2', 'c2', 'bob', 'Bob', 0, 'https://bob.example/', 'it changes', '{"kind":"changes"}', 60000000000, 9000, 'ended',
		'by Bob', 1000, 2000, 1500, 0, 0, '', 0, '{}', 'null', 'null');

-- 0005
UPDATE session SET others = CAST('{"native":"Y2FuYXJ5","canary":"Y2FuYXJ5"}' AS BLOB) WHERE id = 'canary-s1';

-- 0006
INSERT INTO left_out VALUES ('canary-guild', 'canary-user'), ('g2', 'bob');

-- 0007
INSERT INTO calls_begun (at) VALUES (4000);

-- 0009
INSERT INTO open_messages VALUES
	('canary-wk1', CAST('{"guild":"canary-guild","channel":"canary-channel","user":"canary-user"}' AS BLOB)),
	('wk2', CAST('{"channel":"c2","user":"bob"}' AS BLOB)),
	('wk3', CAST('{"channel":"c2","user":"bob","paused":{"origin":{"guild":"canary-guild"}}}' AS BLOB));

-- 0010
INSERT INTO calls_begun (at, guild, user) VALUES (5000, 'canary-guild', 'canary-user'), (6000, 'g2', 'bob');

-- 0012
UPDATE task SET files = CAST('[{"id":"f2","name":"canary.txt","type":"text/plain","size":1}]' AS BLOB), downloads = CAST('[{"id":"f1","name":"canary.pdf","type":"application/pdf","size":1}]' AS BLOB) WHERE id = 'canary-t1';

-- 0013
INSERT INTO audit (at, kind, guild, channel, user, session, task, data) VALUES
	(1250, 'consent_decided', 'canary-guild', 'canary-channel', 'canary-user', 'canary-s1', 'canary-t1', '{"origin":"https://canary.example","by":"Canary"}'),
	(2250, 'consent_decided', 'g2', 'c2', 'bob', 's2', 't2', '{"origin":"https://bob.example","by":"Bob"}'),
	(2260, 'consent_decided', 'g2', 'c2', 'bob', 's2', 't2', '{"origin":"https://bob.example","by":"@Canary"}'),
	(2262, 'consent_decided', 'g2', 'c2', 'bob', 's2', 't2', '{"origin":"https://bob.example","by":"@Once","byID":"canary-user"}'),
	(2264, 'signed_out', '', '', 'bob', '', '', '{"by":"@Bob","whose":"Bob, Canary","from":"203.0.113.7"}'),
	(2266, 'settings_changed', '', '', '', '', '', '{"changes":{"interaction.access.people":{"from":"bob","to":"bob canary-user"}}}'),
	(2268, 'settings_changed', '', '', '', '', '', '{"changes":{"interaction.access.guilds":{"from":"g2","to":"g2 canary-guild"}}}'),
	(2270, 'signed_in', '', '', 'canary-user', '', '', '{"with":"discord","from":"203.0.113.7"}');

-- 0014
UPDATE picture SET caption = 'a canary' WHERE task = 'canary-t1';

-- 0016
INSERT INTO guild_settings VALUES ('canary-guild', 1, '{"interaction.language":"de"}'), ('g2', 1, '{}');
INSERT INTO guild VALUES ('bot', 'canary-guild'), ('bot', 'g2');
