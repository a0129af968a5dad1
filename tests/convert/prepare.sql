-- Creates a store with everything that a conversion must keep: rollups without increments, an idle cluster, a cluster that eight feeders go
-- on feeding, and users' objects.
\ir ../stress/prepare.sql
SET client_min_messages = warning;

-- Seven weeks ago; then retention takes all but the rollups.
SELECT jobstats_setup(raw_retention => '100 days', retention => '100 days') IS NOT NULL;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'long ago', 'n1', at(minute) - interval '49 days', ost('fs-OST0000', record('1:1000:n', minute, minute * 4096), record('2:1001:n', 1, minute))
    || stats('obdfilter.fs-OST0000.stats', at(minute) - interval '49 days', at(-60) - interval '49 days', jsonb_build_object('write_bytes', minute * 5000 + 1))
FROM generate_series(0, 600, 20) AS minute;
CALL jobstats_maintain();
SELECT jobstats_setup(raw_retention => '3 days', retention => '4 days') IS NOT NULL;
CALL jobstats_maintain();

CREATE VIEW mine AS SELECT "time", entry_id, target_id, write_bytes FROM jobstats.increments WHERE write_bytes > 0;
CREATE VIEW mine_by_job WITH (security_barrier) AS
SELECT e.job, sum(m.write_bytes) FROM mine m JOIN jobstats.entries e USING (entry_id) GROUP BY e.job;
CREATE VIEW of_rollup AS SELECT bucket, write_bytes FROM jobstats.rollup_1d;
CREATE INDEX mine ON jobstats.observations (server, "time");
COMMENT ON VIEW mine IS 'Of a user.';
DO $$ BEGIN CREATE ROLE regress_convert; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
SELECT jobstats_grant_reader('regress_convert');
GRANT INSERT, DELETE ON jobstats.observations TO regress_convert WITH GRANT OPTION;
GRANT UPDATE (server) ON jobstats.raw TO regress_convert;

-- Saves the answers about idle clusters, up to now, so that midnight makes no difference.
CREATE TABLE asked AS SELECT now() AS until, date_trunc('day', now()) AS today;
CREATE FUNCTION said() RETURNS TABLE (what text, value jsonb) LANGUAGE plpgsql STABLE AS $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY['raw', 'observations', 'increments', 'rollup_10m', 'rollup_1h', 'rollup_1d',
        'increments_10m', 'increments_1h', 'increments_1d', 'target_snapshots', 'target_increments', 'rollup_10m_targets', 'rollup_1h_targets',
        'rollup_1d_targets'] LOOP
        RETURN QUERY EXECUTE format(
            'SELECT %L, jsonb_build_object(''rows'', count(*), ''all'', sum(hashtextextended(to_jsonb(r)::text, 0)))
            FROM jobstats.%I r JOIN jobstats.targets t USING (target_id) WHERE t.cluster = ANY ($1)', relation, relation)
            -- Maintenance adds the newest data to rollups.
            USING CASE WHEN relation ~ '^rollup_\d+.$' THEN '{long ago}' ELSE '{in order,long ago}' END::text[];
    END LOOP;
    RETURN QUERY SELECT 'server_snapshots', to_jsonb(s) FROM jobstats.server_snapshots s WHERE s.cluster = 'in order';
    RETURN QUERY SELECT 'server_increments', to_jsonb(s) FROM jobstats.server_increments s WHERE s.cluster = 'in order';
    RETURN QUERY SELECT 'unaccounted', to_jsonb(a) FROM asked, jobstats_untracked(asked.today - interval '60 days', asked.today, filter => 'cluster="in order","long ago"') a;
    -- The window ends with the last observation, and begins with the clock: its coverage is another each time.
    RETURN QUERY SELECT 'totals', to_jsonb(a) - 'coverage' FROM asked, jobstats_totals(asked.until - interval '60 days', asked.until, 'write_bytes', 'cluster,job', filter => 'cluster="in order","long ago"') a;
    RETURN QUERY SELECT 'rates', to_jsonb(a) FROM asked, jobstats_rates(asked.today - interval '60 days', asked.today, 'write_bytes', 'target', '1 day', filter => 'cluster="long ago"') a;
END
$$;
CREATE FUNCTION rights() RETURNS TABLE (what text, value text) LANGUAGE sql STABLE AS $$
SELECT c.relname, a.privilege_type || a.is_grantable FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = 'jobstats'::regnamespace AND a.grantee = 'regress_convert'::regrole AND NOT c.relispartition
    -- The Community edition has this one after the conversion.
    AND c.relname <> 'realtime_10m'
UNION ALL
SELECT c.relname || '.' || t.attname, a.privilege_type FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
WHERE c.relnamespace = 'jobstats'::regnamespace AND a.grantee = 'regress_convert'::regrole AND NOT c.relispartition
UNION ALL
SELECT indexname, regexp_replace(indexdef, ' ON (ONLY )?', ' ON ') FROM pg_indexes
WHERE schemaname = 'jobstats' AND tablename IN ('raw', 'observations', 'increments')
UNION ALL
SELECT c.relname, c.reloptions::text || obj_description(c.oid) FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'v'
$$;
CREATE TABLE said_before AS SELECT * FROM said();
CREATE TABLE rights_before AS SELECT * FROM rights();
DO $$
BEGIN
    ASSERT (SELECT count(*) = 0 FROM jobstats.increments JOIN jobstats.targets USING (target_id) WHERE cluster = 'long ago'),
        'increments of long ago are still there';
    ASSERT (SELECT count(*) > 50 FROM jobstats.rollup_10m JOIN jobstats.targets USING (target_id) WHERE cluster = 'long ago'),
        'hardly anything is kept of long ago';
    ASSERT (SELECT count(*) > 50 FROM jobstats.rollup_10m_targets JOIN jobstats.targets USING (target_id) WHERE cluster = 'long ago'),
        'hardly anything is kept of whole targets of long ago';
    ASSERT (SELECT count(*) > 50 FROM said() WHERE what LIKE 'server_%'), 'no service was fed';
END
$$;
