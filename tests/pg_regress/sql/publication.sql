-- While a publication has all tables, PostgreSQL refuses to change rows without a replica identity.
\i store.sql
\set ECHO all
SET client_min_messages = error;
CREATE PUBLICATION everything FOR ALL TABLES;
-- The tables and chunks of the store without a key, and without all columns in its place.
CREATE VIEW keyless AS
SELECT c.oid::regclass AS keyless FROM pg_class c
WHERE (c.relnamespace = 'jobstats'::regnamespace AND c.relkind IN ('r', 'p') OR c.relname ~ '^_(hyper|materialized_hypertable)_' AND c.relkind = 'r') AND NOT (c.relreplident = 'f'
    OR c.relreplident = 'd' AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid));
TABLE keyless;

CREATE FUNCTION read(minute numeric, calls bigint) RETURNS bigint LANGUAGE sql AS $$
WITH fed AS (
    INSERT INTO jobstats.feed (server, "time", body)
    SELECT 'oss1', at(minute), ost('fs-OST0000', record('901:2001:n01', calls, calls * 4096), record('cp.2002', calls, calls * 4096), record('sync.0', calls, calls * 4096))
    RETURNING 1)
SELECT count(*) FROM fed
$$;
CREATE FUNCTION account(minute numeric, state text, ended text) RETURNS text LANGUAGE sql AS $$
SELECT i.action FROM jobstats_ingest('', 'slurm', at(minute), source => 'slurm',
    body => translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|State\n'
        || concat_ws('|', '901', '901', 'c', extract(epoch FROM at(-2))::bigint, extract(epoch FROM at(-1))::bigint, ended, '2001', 'ada', 'physics', state) || E'\n', '|', chr(31))) i
$$;
CREATE FUNCTION names(minute numeric, name text) RETURNS text LANGUAGE sql AS $$
SELECT i.action FROM jobstats_ingest('', 'login1', at(minute), source => 'passwd', body => format(E'%s:x:2001:100::/home:/bin/sh\nbob:x:2002:100::/home:/bin/sh\n', name)) i
$$;
CREATE FUNCTION space(minute numeric, kbytes integer) RETURNS bigint LANGUAGE sql AS $$
WITH fed AS (
    INSERT INTO jobstats.feed (server, "time", body) VALUES ('oss1', at(minute), format(E'osd-ldiskfs.fs-OST0000.quota_slave.acct_user=\nusr_accounting:\n'
        '- id:      2001\n  usage:   { inodes:  3, kbytes:  %s }\n', kbytes))
    RETURNING 1)
SELECT count(*) FROM fed
$$;
SELECT names(0, 'countess'), names(20, 'ada'), account(0, 'RUNNING', 'Unknown'), account(20, 'COMPLETED', extract(epoch FROM at(15))::bigint::text);
SELECT read(0, 1), read(10, 3), read(40, 9), space(1, 4), space(41, 5);
CALL jobstats_maintain();
-- Late text divides an increment that rollups have summed.
SELECT read(25, 4);
SELECT jobstats_setup(raw_retention => '3 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT jobstats_alter_target('fs-OST0000', rename_to => 'scratch-OST0000');
INSERT INTO jobstats.entry_formats SELECT max(priority) + 1, '%u@%e' FROM jobstats.entry_formats;
SELECT jobstats_reidentify();
UPDATE jobstats.increments SET write = 7 WHERE write = 1;
SELECT sum(changed + deleted + inserted) > 0 AS put_right FROM jobstats_reprocess(at(-1), at(60));
CREATE ROLE regress_publication;
SELECT jobstats_grant_writer('regress_publication', sources => s.sources) IS NOT NULL AS granted FROM (VALUES ('{lctl}'::text[]), ('{slurm}')) AS s (sources);
DELETE FROM jobstats.writers;
DROP OWNED BY regress_publication;
DROP ROLE regress_publication;
UPDATE jobstats.settings SET fold_uids_below = 1;
UPDATE jobstats.sweep SET people_forgotten = NULL, ended = NULL;
CALL jobstats_maintain();
SELECT trace, "rows" FROM jobstats_forget_user(2001) WHERE "rows" > 0;
CALL jobstats_maintain();
-- Retention deletes where it cannot drop.
INSERT INTO jobstats.rejects ("time", received, cluster, reason) VALUES (now(), now() - interval '1 year', '', 'old');
INSERT INTO jobstats.maintenance VALUES ('old', now() - interval '1 year', '0', 0);
INSERT INTO jobstats.increments ("time", since, observed, entry_id, target_id, reset) SELECT at(-7 * 24 * 60), at(-7 * 24 * 60 - 1), at(-7 * 24 * 60), 1, 1, false;
SELECT jobstats_setup(retention => '4 days') IS NOT NULL AS ready;
CALL jobstats_maintain();
SELECT step, problem FROM jobstats.maintenance WHERE problem IS NOT NULL;
SELECT count(*) FROM jobstats.rejects WHERE reason = 'old';
TABLE keyless;
-- Without an identity no row changes, not even an UPDATE of zero rows; setup restores it.
ALTER TABLE jobstats.to_match REPLICA IDENTITY DEFAULT;
TABLE keyless;
\set VERBOSITY terse
DELETE FROM jobstats.to_match;
SELECT jobstats_setup() IS NOT NULL AS ready;
DELETE FROM jobstats.to_match;

-- Another role's table in the schema does not belong to the store.
SET client_min_messages = error;
CREATE ROLE regress_publication_other;
GRANT USAGE, CREATE ON SCHEMA jobstats TO regress_publication_other;
CREATE TABLE jobstats.notes_of_other (t text);
ALTER TABLE jobstats.notes_of_other OWNER TO regress_publication_other;
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT relreplident FROM pg_class WHERE oid = 'jobstats.notes_of_other'::regclass;
DROP TABLE jobstats.notes_of_other;
DROP OWNED BY regress_publication_other;
DROP ROLE regress_publication_other;
