-- Connects a session to the nodes of a server, whose processes are then all stopped: PROCESS is its postmaster.
\set totals 'SELECT name, round(coverage::numeric, 3) AS coverage FROM jobstats_totals(''2026-03-10 00:10Z'', ''2026-03-10 02:50Z'', ''write'', by => ''kind'') ORDER BY name'
UPDATE jobstats.settings SET node_timeout = '5 seconds';
-- Queries that go to all nodes at once.
BEGIN;
SELECT count(*) > 0 AS is_read FROM jobstats.increments;
\! kill -STOP $PROCESS $(pgrep -P $PROCESS)
SELECT jobstats_internal.limit_wait();
SELECT count(*) > 0 AS is_read FROM jobstats.increments;
ROLLBACK;
-- The connections are gone.
:totals;
\! kill -CONT $PROCESS $(pgrep -P $PROCESS)
SELECT count(*) > 0 AS is_read FROM jobstats.increments;
\! kill -STOP $PROCESS $(pgrep -P $PROCESS)
SET application_name = 'waits';
:totals;
