-- The update as the manual has it, by a session that has used the old version.
\set VERBOSITY terse
SELECT count(*) FROM jobstats_problems('no job_stats') \gset

-- Without jobstats_setup() neither feeds nor questions are taken.
BEGIN;
ALTER EXTENSION jobstats UPDATE;
DO $$
DECLARE
    statement text;
    hint text;
BEGIN
    FOREACH statement IN ARRAY ARRAY['SELECT texts.feed(18, 102)', 'SELECT * FROM jobstats_top()'] LOOP
        BEGIN
            EXECUTE statement;
            RAISE 'not refused: %', statement;
        EXCEPTION WHEN object_not_in_prerequisite_state THEN
            GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
            -- The feed of 0.1.0 looks for a function that has other arguments now, and takes the extension for missing.
            ASSERT hint LIKE '%SELECT jobstats_setup();', hint;
        END;
    END LOOP;
END
$$;
ROLLBACK;

-- Views whose columns have other names now are made anew. Where others depend on them, all that is said, and nothing changes.
BEGIN;
ALTER EXTENSION jobstats UPDATE;
DO $$
DECLARE
    message text;
    outdated boolean;
BEGIN
    PERFORM jobstats_setup();
    RAISE 'a view of a user was dropped, or left on an old one';
EXCEPTION WHEN dependent_objects_still_exist THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    SELECT count(*) = 1 INTO outdated FROM pg_attribute a WHERE a.attrelid = 'jobstats.rates'::regclass AND a.attname = 'time';
    ASSERT message LIKE '%: view mine' OR message LIKE '%: view public.mine', message;
    ASSERT outdated, 'views have changed though setup failed';
END
$$;
ROLLBACK;
DROP VIEW public.mine;

BEGIN;
ALTER EXTENSION jobstats UPDATE;
CREATE TEMPORARY TABLE said AS SELECT jobstats_setup() AS text;
COMMIT;
SELECT count(*) FROM jobstats_problems('no job_stats') \gset
\ir mine.sql
DO $$
BEGIN
    ASSERT has_table_privilege('upgrade: reader', 'jobstats.rates', 'SELECT'), 'the reader cannot read what was made anew';
    ASSERT (SELECT text LIKE '%SELECT * FROM public.jobstats_reprocess(%' FROM said), 'nothing is said of jobstats_reprocess()';
    ASSERT jobstats_setup() NOT LIKE '%jobstats_reprocess(%', 'jobstats_reprocess() is spoken of again';
    ASSERT EXISTS (SELECT FROM public.mine WHERE workload = 'a' OR write_bytes > 0), 'what was built on top is gone';
    -- What was stored at intervals of over six hours is known to be coarse.
    ASSERT (SELECT count(*) > 0 FROM jobstats.coarse), 'coarse increments are not noted';
    ASSERT (SELECT user_name = 'anna' FROM jobstats.users), 'the name of a user is gone';
    ASSERT (SELECT count(*) > 0 AND bool_and(sources = '{lctl}') FROM jobstats.writers), 'writers may feed more than they could';
    ASSERT has_table_privilege('upgrade: reader', 'jobstats.rollup_1h', 'SELECT'), 'the reader cannot read what is new';
END
$$;
