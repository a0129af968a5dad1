-- jobstats_help(): one line for each function that users call.
\set ECHO all
CREATE EXTENSION jobstats;
SELECT * FROM jobstats_help();

-- No line is over 100 columns with its frame, and no function is left out, nor is it at the end because the list of the order
-- has forgotten it.
SELECT name, what FROM jobstats_help() WHERE (SELECT max(length(name)) FROM jobstats_help()) + length(what) + 5 > 100;
SELECT p.oid::regprocedure
FROM pg_extension e
JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
WHERE e.extname = 'jobstats' AND p.pronamespace = 'public'::regnamespace
    AND p.proname NOT IN (SELECT h.name FROM jobstats_help() h WHERE h.what IS NOT NULL);
SELECT h.name FROM jobstats_help() WITH ORDINALITY AS h (name, what, position) ORDER BY h.position DESC LIMIT 1;

-- A topic is explained as a whole.
SELECT * FROM jobstats_help('format');
SELECT * FROM jobstats_help('filter');
SELECT name FROM jobstats_help('rate');
SELECT name FROM jobstats_help('jobstats_counter_rate');
SELECT name FROM jobstats_help('%');
SELECT name FROM jobstats_help('tpo');
SELECT name FROM jobstats_help('jobstats_ratse');
SELECT max(length(line)) <= 72 AS fits
FROM jobstats_help('') h, regexp_split_to_table(h.what, '\n') line;

-- Every role may call it, on any search path.
CREATE ROLE regress_help_guest;
SET ROLE regress_help_guest;
SET search_path = '';
SELECT count(*) > 30 AS everything FROM public.jobstats_help();
RESET ROLE;
DROP ROLE regress_help_guest;
