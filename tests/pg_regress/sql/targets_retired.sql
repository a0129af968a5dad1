-- A target that is gone for good is retired: it is neither awaited nor missed until its next text.
\i reading.sql
\set ECHO all
\pset null '(null)'

-- One transaction, so that now() does not move. "ago" is a time that many seconds before it.
BEGIN;
CREATE FUNCTION world.ago(seconds numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() - seconds * interval '1 second' $$;
-- Three targets, observed every two minutes: two of them up to a minute ago, the third up to 21 minutes ago.
DO $$ BEGIN
    PERFORM observe('', target, 'oss1', ARRAY(SELECT ago(last + n * 120) FROM generate_series(0, 30) AS n))
        FROM (VALUES ('scratch-OST0000', 60), ('scratch-OST0001', 60), ('scratch-OST0002', 1260)) AS t (target, last);
    PERFORM act('', 'scratch-OST0000', 'dd.0', ago(180), ago(60), '{"write": 10, "write_bytes": 12000, "write_usecs": 1000}');
    PERFORM act('', 'scratch-OST0002', 'dd.0', ago(1380), ago(1260), '{"write": 10, "write_bytes": 12000, "write_usecs": 1000}');
END $$;
SELECT target, states FROM jobstats.health ORDER BY target;
-- It lowers the coverage: a window of 540 s in which two of three are observed, and one of 1740 s that has 540 s of it.
SELECT seconds, coverage, trunc(2 / 3.0, 4) AS expected FROM jobstats_rates(operations => 'write_bytes', by => '');
SELECT seconds, coverage, trunc((2 * 1740 + 540) / (3 * 1740.0), 4) AS expected
FROM jobstats_rates(ago(1800), operations => 'write_bytes', by => '');
SELECT name, rate, coverage FROM jobstats_rates(operations => 'write_bytes');
SELECT target FROM jobstats_now();

SELECT jobstats_alter_target('scratch-OST0002', retired => true);
SELECT name, retired = ago(1260) AS since_last_observation FROM jobstats.targets ORDER BY name;
SELECT target, states, remedy FROM jobstats.health ORDER BY target;
SELECT seconds, coverage FROM jobstats_rates(operations => 'write_bytes', by => '');
SELECT seconds, coverage FROM jobstats_rates(ago(1800), operations => 'write_bytes', by => '');
-- Its usage is still shown, at the rate of its observed time.
SELECT name, rate, 12000 / 540.0::float AS expected, coverage FROM jobstats_rates(ago(1800), operations => 'write_bytes', filter => 'target=*2');
SELECT name, extract(epoch FROM now() - "time") AS ago, rate, coverage
FROM generate_series(1860, 660, -600) n, jobstats_rates(ago(n), ago(n - 600), operations => 'write_bytes')
ORDER BY name, "time";
SELECT name, rate, coverage FROM jobstats_rates(operations => 'write_bytes');
SELECT target FROM jobstats_balance();
\set VERBOSITY terse
SELECT count(*) AS rows FROM jobstats_rates(operations => 'write_bytes', by => '', filter => 'target=*2');
\set VERBOSITY default
SELECT name, coverage FROM jobstats_totals(ago(1800), operations => 'write_bytes', by => 'target,server') ORDER BY name;
SELECT target FROM jobstats_now();
-- The past is unchanged.
SELECT target FROM jobstats_now(at => ago(1260));
SELECT line FROM regexp_split_to_table(jobstats_metrics(), '\n') AS line WHERE line ~ '0002|state=.* 1$';
-- Again it stays as it is.
SELECT jobstats_alter_target('scratch-OST0002', NULL, retired => true);
SELECT retired = ago(1260) AS since_last_observation FROM jobstats.targets WHERE name = 'scratch-OST0002';

-- Its next text takes it back; a text that is older than its last observation does not.
SELECT target, action FROM jobstats_ingest('', 'oss1', ago(60), E'obdfilter.scratch-OST0002.job_stats=\njob_stats:\n');
SELECT name, retired FROM jobstats.targets ORDER BY name;
SELECT name, rate, coverage FROM jobstats_rates(operations => 'write_bytes');
SELECT target, action FROM jobstats_ingest('', 'oss1', ago(30), E'obdfilter.scratch-OST0002.job_stats=\njob_stats:\n');
SELECT jobstats_alter_target('scratch-OST0002', retired => true);
SELECT target, action FROM jobstats_ingest('', 'oss1', ago(45), E'obdfilter.scratch-OST0002.job_stats=\njob_stats:\n');
SELECT states FROM jobstats.health WHERE target = 'scratch-OST0002';
SELECT target, action FROM jobstats_ingest('', 'oss1', ago(10), E'obdfilter.scratch-OST0002.job_stats=\njob_stats:\n');
SELECT states FROM jobstats.health WHERE target = 'scratch-OST0002';
COMMIT;

-- A target that was never observed is not expected any more.
INSERT INTO jobstats.targets (cluster, name, kind) VALUES ('west', 'home-MDT0000', 'MDT');
SELECT jobstats_alter_target('home-MDT0000', 'west', retired => true);
SELECT retired BETWEEN now() - interval '1 minute' AND now() AS just_now FROM jobstats.targets WHERE cluster = 'west';

-- Targets that do not exist.
SELECT jobstats_alter_target('scratch-OST0003', retired => true);
\echo :LAST_ERROR_SQLSTATE
SELECT jobstats_alter_target('scratch-OST0000', 'west', retired => true);
SELECT jobstats_alter_target(NULL, retired => true);
\echo :LAST_ERROR_SQLSTATE
-- Only the owner of the store retires and renames, whatever the role may call and read.
CREATE ROLE regress_targets;
SET ROLE regress_targets;
SELECT jobstats_alter_target('scratch-OST0000', retired => true);
SELECT jobstats_alter_target('scratch-OST0000', rename_to => 'scratch-OST0009');
RESET ROLE;
DO $$ BEGIN PERFORM jobstats_grant_reader('regress_targets'); END $$;
GRANT EXECUTE ON FUNCTION jobstats_alter_target TO regress_targets;
SET ROLE regress_targets;
SELECT jobstats_alter_target('scratch-OST0000', retired => true);
SELECT jobstats_alter_target('scratch-OST0000', rename_to => 'scratch-OST0009');
SELECT count(*) FROM jobstats.expected;
INSERT INTO jobstats.expected VALUES ('', 'oss1', NULL);
RESET ROLE;
DROP OWNED BY regress_targets;
DROP ROLE regress_targets;
