-- Target counters next to the counters of entries: jobstats_untracked(), and shares of the target in jobstats_top().
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
CREATE FUNCTION whole(target text, minute numeric, counts jsonb, start numeric DEFAULT -60, server text DEFAULT 'mds1') RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
VALUES ('', server, at(minute), stats(CASE WHEN target LIKE '%MDT%' THEN 'mdt.' || target || '.md_stats' ELSE 'obdfilter.' || target || '.stats' END,
    at(minute), at(start), counts))
$$;
CREATE FUNCTION jobs(target text, minute numeric, opens numeric) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
VALUES ('', 'mds1', at(minute), mdt(target, life('7:1000:n01', at(-30), opens, opens * 10)))
$$;
CREATE VIEW wholes AS
SELECT t.name AS target, minute(i.since) AS since, minute(i."time") AS until, i.exports, i.reset, i.open, i.open_usecs, i.getattr, i.write_bytes, i.create
FROM jobstats.target_increments i JOIN jobstats.targets t USING (target_id) ORDER BY 1, 2;
CREATE FUNCTION beside(since numeric, until numeric, operations text DEFAULT NULL)
RETURNS TABLE (name text, operation text, total numeric, accounted numeric, untracked numeric, share double precision, coverage double precision)
LANGUAGE sql AS $$
SELECT u.name, u.operation, u.total, u.accounted, u.untracked, u.share, u.coverage FROM jobstats_untracked(at(since), at(until), operations) u
$$;

-- Before any feed.
SELECT * FROM jobstats_untracked();
SELECT jobs('fs-MDT0000', m, 10 * m) FROM generate_series(0, 20, 5) AS m;
SELECT * FROM beside(0, 20);

-- A target opens four files a minute that its entries do not: a reading each 5 minutes, which the feed cuts at ten minutes.
SELECT whole('fs-MDT0000', m, jsonb_build_object('open', 14 * m + 3, 'open_usecs', 140 * m)) FROM generate_series(0, 15, 5) AS m;
SELECT * FROM wholes;
SELECT * FROM beside(0, 15);
SELECT * FROM beside(0, 10, 'open,open_time,getattr,metadata');
-- The window ends in the middle of an interval, at which the two are divided in the same way.
SELECT * FROM beside(1, 13, 'open');
-- Coverage below 98 % leaves the untracked part unknown.
SELECT * FROM beside(0, 20, 'open');
SELECT minute(u."time"), u.total, u.accounted, u.untracked FROM jobstats_untracked(at(0), at(15), 'open', step => '5 min') u;
SELECT name, total, labels FROM jobstats_untracked(at(0), at(15), 'open', 'filesystem,kind');
SELECT name, total FROM jobstats_untracked(at(0), at(15), 'open', '', filter => 'kind=OST');

-- The same reading again, and another one of the same time.
SELECT whole('fs-MDT0000', 10, '{"open": 143, "open_usecs": 1400}');
SELECT whole('fs-MDT0000', 10, '{"open": 144, "open_usecs": 1400}');
-- A late reading divides the next increment. A reading whose counters do not fit in between has a wrong clock.
SELECT whole('fs-MDT0000', 7, '{"open": 100, "open_usecs": 900}');
SELECT * FROM wholes;
SELECT whole('fs-MDT0000', 8, '{"open": 90, "open_usecs": 900}');
SELECT target, "time", reason FROM rejects;
-- The sums of ten minutes, hours and days equal the increments.
CREATE VIEW sums_differ AS
SELECT r.level, r.bucket, r.target_id, r.observed_usecs, r.open, i.observed_usecs AS should_be, i.open AS opens FROM (
    SELECT '10 minutes' AS level, * FROM jobstats.rollup_10m_targets UNION ALL
    SELECT '1 hour', * FROM jobstats.rollup_1h_targets UNION ALL
    SELECT '1 day', * FROM jobstats.rollup_1d_targets) r
FULL JOIN (
    SELECT l.level, jobstats_internal.bucket(l.level::interval, i."time" - interval '1 us') + interval '1 us' AS bucket, i.target_id,
        sum(i.observed_usecs) AS observed_usecs, sum(i.open) AS open
    FROM jobstats.target_increments i, (VALUES ('10 minutes'), ('1 hour'), ('1 day')) AS l (level) GROUP BY 1, 2, 3) i
USING (level, bucket, target_id)
WHERE (r.observed_usecs, r.open) IS DISTINCT FROM (i.observed_usecs, i.open);
SELECT * FROM sums_differ;

-- The target restarts on another server, by its start_time. A gap of many hours is known by hours.
SELECT whole('fs-MDT0000', 30, '{"open": 5}', 20, 'mds2');
SELECT whole('fs-MDT0001', m, jsonb_build_object('open', (m / 10)::integer + 70), -900) FROM unnest('{-600,-180}'::numeric[]) AS m;
SELECT target, since, until, reset, open FROM wholes WHERE until > 15 OR target = 'fs-MDT0001';
SELECT * FROM sums_differ;

-- On an OST the requests of a metadata server are subtracted, where its connection identifies it.
CREATE FUNCTION ost(minute numeric, creates bigint, by_mds bigint, uuid text) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body)
VALUES ('', 'oss1', at(minute), stats('obdfilter.fs-OST0000.stats', at(minute), at(-60), jsonb_build_object('create', creates, 'write_bytes', 4096 * minute))
    || stats('obdfilter.fs-OST0000.exports.10.0.0.1@o2ib.stats', at(minute), at(-60), jsonb_build_object('create', by_mds))
    || 'obdfilter.fs-OST0000.exports.10.0.0.1@o2ib.uuid=' || uuid || E'\n')
$$;
SELECT ost(m, 100 * m + 1, 90 * m, 'fs-MDT0000-mdtlov_UUID') FROM generate_series(0, 10, 5) AS m;
SELECT * FROM wholes WHERE target = 'fs-OST0000';
SELECT ost(15, 1600, 1350, '4a5e0b21-client');
SELECT * FROM wholes WHERE target = 'fs-OST0000' AND until > 10;

-- A text that lacks the connection is no reading. What happened counts when it is there again.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '', 'oss1', at(m), stats('obdfilter.fs-OST0001.stats', at(m), at(-60), jsonb_build_object('create', 100 * m + 1))
    || CASE WHEN m = 5 THEN '' ELSE stats('obdfilter.fs-OST0001.exports.10.0.0.1@o2ib.stats', at(m), at(-60), jsonb_build_object('create', 90 * m + 1))
    || E'obdfilter.fs-OST0001.exports.10.0.0.1@o2ib.uuid=fs-MDT0000-mdtlov_UUID\n' END
FROM generate_series(0, 10, 5) AS m;
SELECT * FROM wholes WHERE target = 'fs-OST0001';
-- Another server does not know the connections of the first one, or would make up some.
INSERT INTO jobstats.feed (cluster, server, "time", body)
VALUES ('', 'oss2', at(15), stats('obdfilter.fs-OST0001.stats', at(15), at(-60), '{"create": 1600}'));
SELECT since, until, "create" FROM wholes WHERE target = 'fs-OST0001' AND since >= 10;
SELECT "time", target, reason FROM rejects WHERE target = 'fs-OST0001';

-- A late text has a counter that the next one lacks by damage: the following ones are compared again.
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT '', 'mds4', at(m), stats('mdt.c-MDT0000.md_stats', at(m), at(-60), jsonb_build_object('open', m + 1))
    || CASE WHEN m = 10 THEN 'mkdir 1x' ELSE format('mkdir %s', m * m + 1) END || E' samples [reqs]\n'
FROM unnest('{0,10,15,20,5}'::integer[]) WITH ORDINALITY AS sent (m, n) ORDER BY n;
CREATE VIEW mkdirs AS
SELECT minute(i.since) AS since, minute(i."time") AS until, i.open, i.mkdir
FROM jobstats.target_increments i JOIN jobstats.targets t USING (target_id) WHERE t.name = 'c-MDT0000' ORDER BY 1;
SELECT * FROM mkdirs;
SELECT * FROM sums_differ;
SELECT count(*) FROM jobstats_audit(at(-1), at(60)) WHERE what = 'whole target';

-- Damaged increments and sums are found, and computed again from the readings.
CREATE FUNCTION audited() RETURNS TABLE (target text, minutes numeric[]) LANGUAGE sql AS $$
SELECT a.target, array_agg(DISTINCT minute(a."time")) FROM jobstats_audit(at(-900), at(60)) a WHERE a.what = 'whole target' GROUP BY 1
$$;
CREATE FUNCTION reprocessed(since numeric, until numeric, targets text)
RETURNS TABLE (target text, computed bigint, skipped bigint, changed bigint, first numeric, last numeric, deleted bigint, inserted bigint) LANGUAGE sql AS $$
SELECT r.name, r.computed, r.skipped, r.changed, minute(r.first), minute(r.last), r.deleted, r.inserted FROM jobstats_reprocess(at(since), at(until), 'target=' || targets) r
$$;
BEGIN;
CREATE TEMPORARY TABLE truth ON COMMIT DROP AS TABLE jobstats.target_increments;
UPDATE jobstats.target_increments i SET open = i.open + 7 FROM jobstats.targets t WHERE t.target_id = i.target_id AND t.name = 'fs-MDT0000' AND minute(i."time") = 7;
UPDATE jobstats.target_increments i SET "time" = i."time" - interval '1 minute'
FROM jobstats.targets t WHERE t.target_id = i.target_id AND t.name = 'fs-OST0001' AND minute(i."time") = 15;
DELETE FROM jobstats.target_increments i USING jobstats.targets t WHERE t.target_id = i.target_id AND t.name IN ('fs-OST0000', 'fs-MDT0001');
UPDATE jobstats.rollup_10m_targets SET open = 1;
UPDATE jobstats.rollup_1d_targets SET observed_usecs = 1, resets = 2;
SELECT * FROM audited();
SELECT * FROM reprocessed(-900, 60, 'fs-*');
SELECT * FROM audited();
SELECT d.target_id FROM (TABLE truth EXCEPT TABLE jobstats.target_increments) d;
-- A reading that is gone leaves a longer increment, and is carried no further.
DELETE FROM jobstats.target_snapshots r USING jobstats.targets t WHERE t.target_id = r.target_id AND t.name = 'c-MDT0000' AND minute(r."time") = 5;
SELECT * FROM audited();
SELECT * FROM reprocessed(5, 10, 'c-*');
SELECT * FROM audited();
SELECT * FROM mkdirs;
SELECT * FROM reprocessed(-900, 60, '*') WHERE changed > 0;
SELECT * FROM sums_differ;
ROLLBACK;

-- In a ranking: the share of the target's total, and a row for untracked usage.
SELECT rank, name, operation, total, round(rate::numeric, 4) AS rate, share, share_of_target, coverage
FROM jobstats_top(at(0), at(10), 'open', 'uid', untracked => true, filter => 'filesystem=fs kind=MDT');
SELECT rank, name, total, share_of_target
FROM jobstats_top(at(0), at(10), 'open', 'target,uid', untracked => true, filter => 'kind=MDT target=fs-MDT0000');
-- Not where entries are chosen, or servers.
SELECT rank, name, total, share_of_target FROM jobstats_top(at(0), at(10), 'open', 'uid', untracked => true, filter => 'uid=1000');
SELECT rank, name, total, share_of_target FROM jobstats_top(at(0), at(10), 'open', 'server', untracked => true);

-- A text with both, as lctl prints it for several patterns; and damaged ones, which do not affect the rest.
INSERT INTO jobstats.feed (cluster, server, "time", body)
VALUES ('', 'mds3', at(0), stats('mdt.b-MDT0000.md_stats', at(0), at(-60), '{"open": 1}') || mdt('b-MDT0000', life('7:1000:n01', at(-30), 1, 10))),
    ('', 'mds3', at(5), E'mdt.b-MDT0000.md_stats=\nsnapshot_time 1.2.3 secs\nopen 2 samples [usecs] 1 2 x 4\nnonsense\nopen 9999999999999999999999 samples [reqs]\n'
        || mdt('b-MDT0000', life('7:1000:n01', at(-30), 3, 30)));
SELECT entry, since, until, open FROM texts.increments WHERE target = 'b-MDT0000';
SELECT "time", target, line, reason, text FROM rejects WHERE target = 'b-MDT0000' OR target IS NULL;

-- A writer may feed target counters of its own targets only.
CREATE ROLE regress_mds;
SELECT jobstats_grant_writer('regress_mds', target => 'b-*') \gset
GRANT USAGE ON SCHEMA texts TO regress_mds;
GRANT SELECT ON texts.clock TO regress_mds;
SET ROLE regress_mds;
SELECT whole('fs-MDT0000', 12, '{"open": 160}');
RESET ROLE;
DROP OWNED BY regress_mds;
DROP ROLE regress_mds;
SELECT target, reason FROM rejects WHERE reason = 'not yours';

-- Health names file systems with much untracked usage in the last summed hour. These are not targets, so metrics leave them out.
UPDATE jobstats.rollups SET refreshed = date_bin('10 minutes', now(), 'epoch') WHERE level = '10m';
INSERT INTO jobstats.rollup_10m_targets (bucket, target_id, observed_usecs, resets, exports, open)
SELECT r.refreshed - n * interval '10 minutes', t.target_id, 600000000, 0, 0, 200
FROM jobstats.rollups r, generate_series(0, 5) n, jobstats.targets t WHERE r.level = '10m' AND t.name IN ('b-MDT0000', 'fs-MDT0000');
UPDATE jobstats.targets t SET filesystem = NULL WHERE t.name = 'b-MDT0000';
SELECT target, states, regexp_replace(remedy, '(\d+-\d+-\d+ )?\d+:\d+(:\d+\+00)?', '…', 'g') AS remedy FROM jobstats.health WHERE states = '{ids}' ORDER BY remedy;
SELECT line FROM regexp_split_to_table(jobstats_metrics(), '\n') line WHERE line ~ 'status="ids"\} 1';

SELECT * FROM jobstats_untracked(at(0), at(10), 'open', 'user');
SELECT * FROM jobstats_untracked(at(0), at(10), 'opens');
