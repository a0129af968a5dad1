-- Numbers of answers are printed with their units.
\set ECHO all
CREATE EXTENSION jobstats;
\pset null NULL

-- Each kind of operation, as rate, as total and per call.
SELECT operation, jobstats_format(104234567, operation) AS rate, jobstats_format(104234567, operation, 'total') AS total,
    jobstats_format(0.0231, operation, 'per_call') AS per_call
FROM unnest('{write_bytes,read,open,metadata,service_time,open_time,weighted}'::text[]) operation;

-- The example of the page.
SELECT jobstats_format(104234567, 'write_bytes') AS rate, jobstats_format(8709e9, 'write_bytes', 'total') AS total,
    jobstats_format(0.0231, 'open', 'per_call') AS per_call;

-- Totals are numeric in answers.
SELECT jobstats_format(8709000000000::numeric, 'read_bytes', 'total') AS total;

-- NULL has no text, and NaN is shown as such.
SELECT jobstats_format(NULL, 'open') AS unknown, jobstats_format('NaN', 'open') AS nan, jobstats_format('-Infinity', 'open') AS least;

-- Everybody may call it.
CREATE ROLE regress_of_format;
SET ROLE regress_of_format;
SELECT jobstats_format(1500, 'open') AS rate;
RESET ROLE;
DROP ROLE regress_of_format;

-- Every operation of the list has a unit.
SELECT count(*) FROM jobstats_operations() WHERE jobstats_format(1, operation) IS NULL;

\set VERBOSITY sqlstate
SELECT jobstats_format(1, 'fly');
\set VERBOSITY default
SELECT jobstats_format(1, 'open', 'per_hour');
