-- Statements for docs/observability.md, one at a time. Put values in place of the words in capitals.

-- Open calls, the oldest first. Leave a condition out to see more.
SELECT c.id, c.pseudonym, c.turn AS questions, c.version, c.instance, c.expires_at,
  to_timestamp(w.created_at / 1000.0) AS began, pg_try_advisory_xact_lock_shared(c.instance) AS instance_is_gone,
  c.turn <= (SELECT count(*) FROM mrtr_linear.operation_outputs o
    WHERE o.workflow_uuid = c.id AND o.function_name = 'DBOS.recv') AS runs
FROM mrtr_linear.mrtr_calls c JOIN mrtr_linear.workflow_status w ON w.workflow_uuid = c.id
WHERE NOT c.done AND c.pseudonym = 'PSEUDONYM' AND c.target = 'TOOL'
  AND to_timestamp(w.created_at / 1000.0) < now() - interval '10 minutes'
ORDER BY began LIMIT 100;

-- End one call
WITH ended AS (
  UPDATE mrtr_linear.mrtr_calls SET turn = turn + 2, done = true, body = NULL, expires_at = now() + interval '1 minute'
  WHERE id = 'CALL' AND NOT done RETURNING id, instance)
SELECT id, pg_notify('mrtr_linear_' || instance, 'end ' || id) FROM ended;

-- PostgreSQL: leases, the oldest first
SELECT id, pseudonym, lease_until, lease_until <= now() AS is_lost FROM mrtr_ledger
WHERE lease IS NOT NULL AND result IS NULL ORDER BY lease_until LIMIT 100;

-- PostgreSQL: release one
DELETE FROM mrtr_ledger WHERE id = 'TOKEN' AND lease IS NOT NULL AND result IS NULL RETURNING id;
