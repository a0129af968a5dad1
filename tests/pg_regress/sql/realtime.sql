-- jobstats.rates_realtime: the same on every edition, from a continuous aggregate where TimescaleDB has them.
\i store.sql
\set ECHO all
UPDATE texts.clock SET zero = date_bin('1 day', now(), 'epoch') - interval '1 day' + interval '8 hours';
INSERT INTO jobstats.users VALUES (1000, 'anna');
SELECT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('jobstats.realtime_10m') AND relkind = 'v') AS aggregated \gset
-- Refreshes it, where there is one, up to an hour after zero.
CREATE PROCEDURE refresh() LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('client_min_messages', 'warning', false);
    IF to_regclass('jobstats.realtime_10m') IS NOT NULL THEN
        CALL refresh_continuous_aggregate('jobstats.realtime_10m', at(-60), at(60));
    END IF;
END
$$;
CREATE VIEW shown AS
SELECT r.since - at(0) AS since, r.until - at(0) AS until, r.bucket - at(0) AS bucket, r.target, r.uid, r.user_name, r.write, r.write_bytes
FROM jobstats.rates_realtime r ORDER BY r.since, r.target, r.uid;
-- What view and increments differ in.
CREATE VIEW differences AS
SELECT date_bin('10 minutes', i."time" - interval '1 microsecond', 'epoch') AS since, t.name AS target, e.uid, sum(i.write_bytes) AS write_bytes
FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) JOIN jobstats.entries e USING (entry_id) WHERE i.write_bytes > 0 GROUP BY 1, 2, 3
EXCEPT
SELECT r.since, r.target, r.uid, round(r.write_bytes * extract(epoch FROM least(r.until, t.last_observation) - r.since)::numeric)
FROM jobstats.rates_realtime r JOIN jobstats.targets t ON t.name = r.target WHERE r.write_bytes > 0;

-- Two jobs of one user, one of another, and usage without a user, every five minutes, except the text of 0:20.
INSERT INTO jobstats.feed (server, "time", body)
SELECT 'oss1', at(m), ost('fs-OST0000', record('1:1000:n1', 2 * m, m * 600000), record('2:1000:n2', m, m * 600), record('3:1001:n1', m, m * 60),
    record('tar', m, m * 6))
FROM generate_series(0, 65, 5) AS m WHERE m <> 20;
SELECT * FROM shown WHERE since <= '10 minutes' OR since >= '50 minutes';
CALL refresh();
SELECT count(*) FROM differences;
CALL jobstats_maintain();
SELECT count(*) FROM differences;
SELECT count(*) FROM shown;

-- Late text changes refreshed buckets: at the latest after the next refresh. New text shows at once.
RESET client_min_messages;
INSERT INTO jobstats.feed (server, "time", body) VALUES
    ('oss1', at(20), ost('fs-OST0000', record('1:1000:n1', 45, 13300000), record('2:1000:n2', 20, 12000), record('3:1001:n1', 20, 1200), record('tar', 20, 120))),
    ('oss1', at(75), ost('fs-OST0000', record('1:1000:n1', 150, 45000000), record('2:1000:n2', 75, 45000), record('3:1001:n1', 75, 4500), record('tar', 75, 450)));
SELECT * FROM shown WHERE since >= '70 minutes';
CALL refresh();
SELECT * FROM shown WHERE since BETWEEN '10 minutes' AND '20 minutes' AND uid = 1000;
SELECT count(*) FROM differences;

-- It knows whose entries are, whatever changes that.
UPDATE jobstats.entry_formats SET format = '%j:%g:%h' WHERE format LIKE '%\%u%';
SELECT jobstats_reidentify() > 0 AS changed;
SELECT count(*) FROM differences;
SELECT DISTINCT uid FROM shown;
UPDATE jobstats.entry_formats SET format = '%j:%u:%h' WHERE format LIKE '%\%g%';
SELECT jobstats_reidentify() > 0 AS changed;
CALL refresh();
SET client_min_messages = warning;
SELECT count(*) > 0 AS forgotten FROM jobstats_forget_user(1000);
RESET client_min_messages;
SELECT DISTINCT uid IS NOT NULL AND uid NOT IN (1000, 1001) AS pseudonym, uid = 1001 AS other FROM shown ORDER BY 1, 2;
SELECT count(*) FROM differences;

-- Dropped, setup brings it back.
SET client_min_messages = warning;
DROP VIEW shown, differences;
DO $$
BEGIN
    IF to_regclass('jobstats.realtime_10m') IS NOT NULL THEN
        DROP MATERIALIZED VIEW jobstats.realtime_10m CASCADE;
    ELSE
        DROP VIEW jobstats.rates_realtime;
    END IF;
END
$$;
RESET client_min_messages;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT (to_regclass('jobstats.realtime_10m') IS NOT NULL) = :'aggregated' AS back, count(*) > 0 AS shows FROM jobstats.rates_realtime;

-- Its policies follow the settings, and no refresh reaches what retention takes.
SELECT jobstats_setup(raw_retention => '5 days', retention => '20 days', compress_after => '9 days') IS NOT NULL AS ready;
\if :aggregated
SELECT array_agg(coalesce(j.config ->> 'start_offset', j.config ->> 'drop_after', j.config ->> 'compress_after')::interval ORDER BY j.proc_name)
    = '{9 days, 19 days, 20 days}' AS followed
FROM timescaledb_information.jobs j WHERE j.hypertable_name = 'realtime_10m' \gset
\else
\set followed t
\endif
SELECT :'followed' AS followed;
-- Maintenance accepts them.
CALL jobstats_maintain();
SELECT problem FROM jobstats.maintenance WHERE step = 'all' AND problem IS NOT NULL;
