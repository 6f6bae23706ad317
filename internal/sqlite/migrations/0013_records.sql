-- What people did to the installation.
CREATE TABLE audit (
	id      INTEGER PRIMARY KEY,
	at      INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	guild   TEXT NOT NULL,
	channel TEXT NOT NULL,
	user    TEXT NOT NULL,
	session TEXT NOT NULL,
	task    TEXT NOT NULL,
	data    TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX step_by_time ON step (at);
CREATE INDEX task_by_start ON task (started);
CREATE INDEX task_by_end ON task (ended);

-- What happened, in the terms of other programs. Of private tasks it tells neither words nor pages.
CREATE VIEW record AS
SELECT
	ended AS at,
	CASE WHEN state IN ('failed', 'interrupted') THEN 'browser_browse_failed' ELSE 'browser_browse_call' END AS kind,
	guild, channel, user, session, id AS task,
	json_patch(
		json_object(
			'sessionKey', session, 'source', kind, 'runtime', runtime,
			'provider', CASE WHEN instr(model, ':') THEN substr(model, 1, instr(model, ':') - 1) ELSE '' END,
			'model', substr(model, instr(model, ':') + 1), 'state', state, 'steps', steps,
			'hitStepLimit', json(CASE WHEN state = 'limited' AND steps >= max_steps AND max_steps > 0 THEN 'true' ELSE 'false' END),
			'screenshotCount', (SELECT count(*) FROM picture WHERE picture.task = task.id),
			'inputTokens', input_tokens, 'outputTokens', output_tokens, 'totalCostUsd', usd,
			'costKnown', json(CASE WHEN unpriced THEN 'false' ELSE 'true' END),
			'durationMs', CASE WHEN started > 0 THEN (ended - started) / 1000 ELSE 0 END,
			'waitedMs', (CASE WHEN started > 0 THEN started ELSE ended END - asked) / 1000),
		-- json_patch leaves out what is null.
		json_object(
			'currentUrl', CASE WHEN NOT private THEN
				(SELECT url FROM step WHERE step.task = task.id AND url <> '' ORDER BY n DESC LIMIT 1) END,
			'errorName', CASE WHEN state IN ('failed', 'interrupted') THEN state END,
			'errorMessage', CASE WHEN state IN ('failed', 'interrupted') AND NOT private THEN reason END,
			'reason', CASE WHEN state IN ('limited', 'stopped') THEN reason END)) AS data
FROM task WHERE state NOT IN ('queued', 'running')
UNION ALL
SELECT
	started, 'browser_agent_session_turn', guild, channel, user, session, id,
	json_object('sessionKey', session, 'source', kind, 'runtime', runtime, 'model', substr(model, instr(model, ':') + 1))
FROM task WHERE started > 0 AND runtime = 'local_browser_agent'
UNION ALL
SELECT
	step.at, 'browser_tool_step', guild, channel, user, session, task.id,
	json_patch(
		json_object('sessionKey', session, 'runtime', runtime, 'step', n, 'tool', tool,
			'failed', json(CASE WHEN failed THEN 'true' ELSE 'false' END)),
		json_object(
			'label', CASE WHEN NOT private THEN label END,
			'currentUrl', CASE WHEN NOT private AND url <> '' THEN url END))
FROM step JOIN task ON task.id = step.task WHERE step.kind = 'act' AND step.phase = 'done'
UNION ALL
SELECT at, kind, guild, channel, user, session, task, data FROM audit;
