-- settings.fold_uids_below: entries of users of the system become one for each user and target, and no sum changes.
\i store.sql
\i said.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'

-- Invalid limits.
SELECT said('UPDATE jobstats.settings SET fold_uids_below = -1');
SELECT said('UPDATE jobstats.settings SET fold_uids_below = NULL');
SELECT said('UPDATE jobstats.settings SET fold_uids_below = 4294967296');

-- The same of two clusters: one that does not fold, and one that folds after its first text. Programs of root and chrony on nodes, root's
-- I/O for a job in its prolog, a user, and unreadable identifiers. One program of root restarts at 8 minutes, and one came late.
CREATE FUNCTION feed(minute numeric, cluster text) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT feed.cluster, 'oss1', at(minute), mdt('fs-MDT0000', VARIADIC ARRAY[
    life('cron.0', at(-90), 10 * minute, 70 * minute),
    life('sshd.0', at(-90), 3 * minute, 9 * minute, minute),
    life('kworker.0', at(CASE WHEN minute < 8 THEN -90 ELSE 6 END), CASE WHEN minute < 8 THEN 100 + minute ELSE 2 END, 5),
    life(':0:n1', at(-90), minute, minute),
    life('chronyd.123', at(-90), minute, 2 * minute),
    life('17:0:n1', at(-90), 5 * minute, minute),
    life('17:1000:n1', at(-90), 6 * minute, minute),
    life('vi.1000', at(-90), 7 * minute, minute),
    life('what is this', at(-90), 8 * minute, minute)] || CASE WHEN minute >= 8 THEN ARRAY[life('late.0', at(7), 4, 40)] ELSE '{}' END)
$$;
DO $$ BEGIN
    PERFORM feed(minute, 'apart') FROM unnest('{0,4,8,16,12}'::numeric[]) minute;
    PERFORM feed(0, 'folded');
    UPDATE jobstats.settings SET fold_uids_below = 1000;
    PERFORM feed(minute, 'folded') FROM unnest('{4,8,16,12}'::numeric[]) minute;
END $$;
SELECT entry, since, until, reset, open, open_usecs, getattr FROM increments WHERE cluster = 'folded' AND observed = 8;
SELECT cluster, count(*) AS rows, count(DISTINCT entry) AS entries FROM increments GROUP BY cluster ORDER BY cluster;

-- Births, resets and activity are found in the original entries.
SELECT cluster, "time", entries, active, added, resets, unknown FROM observations WHERE "time" = 8 ORDER BY cluster;
SELECT minute(o."time") AS minute, o.folded_below FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
WHERE t.cluster = 'folded' ORDER BY 1;

-- All sums are the same, by user and by job, and the entry of a user describes it.
SELECT operation, uid, job, count(DISTINCT total) AS totals, max(total) AS total, sum(total) AS of_both
FROM (SELECT * FROM jobstats_totals(at(0), at(16), 'open,service_time', 'cluster,uid,job') r, dims(r.labels)) AS jobstats_totals GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT entry, uid, executable, status, workload, total FROM (SELECT * FROM jobstats_top(at(0), at(16), 'open', 'entry,uid,executable,status,workload', filter => 'cluster=folded') r, dims(r.labels)) AS jobstats_top
WHERE uid < 1000;

-- Stored rows are right, whatever the current setting; so are late text, and corrected rows.
SELECT * FROM jobstats_audit(at(-1), at(60));
UPDATE jobstats.settings SET fold_uids_below = 0;
SELECT * FROM jobstats_audit(at(-1), at(60));
SELECT feed(6, 'folded'), feed(6, 'apart');
UPDATE jobstats.increments SET open = open + 1 WHERE entry_id = (SELECT entry_id FROM jobstats.entries WHERE name LIKE '*.123 %');
SELECT count(*) > 0 AS found FROM jobstats_audit(at(-1), at(60));
SELECT cluster, changed FROM jobstats_reprocess(at(-1), at(60)) ORDER BY cluster;
SELECT * FROM jobstats_audit(at(-1), at(60));
SELECT entry, since, until, open FROM increments WHERE cluster = 'folded' AND observed = 8 AND entry LIKE '*%';
SELECT cluster, uid, total FROM (SELECT * FROM jobstats_totals(at(0), at(16), 'open', 'cluster,uid') r, dims(r.labels)) AS jobstats_totals ORDER BY uid, cluster;
