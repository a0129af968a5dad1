-- Locks: a role without rights on the store cannot block a feed or maintenance, and a blocking role is named.
\i store.sql
\set ECHO all
CREATE ROLE regress_feeder LOGIN;
SELECT jobstats_grant_writer('regress_feeder');
GRANT USAGE ON SCHEMA texts TO regress_feeder;

-- A feed and a maintenance leave no lock whose key others could take.
BEGIN;
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', ost('fs-OST0000', record('a.1', 1, 4096)));
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', ost('fs-OST0000', record('a.1', 2, 8192)));
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
-- The rest of the transaction may not stay idle for long, unless the session sets its own limit.
SHOW idle_in_transaction_session_timeout;
ROLLBACK;
SHOW idle_in_transaction_session_timeout;
BEGIN;
SET LOCAL idle_in_transaction_session_timeout = '5min';
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', ost('fs-OST0000'));
SHOW idle_in_transaction_session_timeout;
SHOW lock_timeout;
ROLLBACK;

-- A text has a limited number of targets.
SELECT string_agg(ost('fs-OST' || lpad(to_hex(n), 4, '0')), '') AS many FROM generate_series(0, 1000) n \gset
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', :'many');
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM jobstats.targets;
UPDATE jobstats.settings SET max_targets = 1001;
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', :'many');
SELECT count(*) FROM jobstats.targets;
-- Additional parameters cost these statements no time, for any number of targets.
UPDATE jobstats.settings SET max_targets = 2;
SELECT target, action FROM jobstats_ingest('', 'oss2', now(), ost('fs-OST2000') || (
    SELECT string_agg(format(E'osd-zfs.fs-OST200%s.kbytesfree=1\n', n) || stats(format('obdfilter.fs-OST300%s.stats', n), now(), now(), '{"punch": 1}'), '')
    FROM generate_series(0, 3) n));
SELECT count(*) FROM jobstats.targets WHERE name > 'fs-OST2';
SELECT target, reason FROM jobstats.rejects WHERE server = 'oss2';

-- What a setup, a step of maintenance or a feed locks is put back where it is missing.
DELETE FROM jobstats.locks;
SELECT jobstats_internal.lock_store();
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_setup() IS NOT NULL AS ready;
SELECT name ~ '^announcement \d+$' AS announcement, count(*) FROM jobstats.locks GROUP BY 1 ORDER BY 1;
CALL jobstats_maintain();

DROP OWNED BY regress_feeder;
DROP ROLE regress_feeder;
