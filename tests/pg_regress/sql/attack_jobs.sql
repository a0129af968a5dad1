-- A hostile or broken sender of accounting can only write jobs of its own scheduler.
\i store.sql
\i processor.sql
\set ECHO all
SET client_min_messages = error;
CREATE FUNCTION fed(body text, cluster text DEFAULT '', OUT action text, OUT entries integer, OUT added integer, OUT problems integer) LANGUAGE sql AS $$
SELECT action, entries, added, problems FROM jobstats_ingest(cluster, 'slurm1', now(), body, source => 'slurm')
$$;
CREATE FUNCTION reasons() RETURNS TABLE (rows bigint, reason text, texts bigint) LANGUAGE sql AS $$
WITH gone AS (DELETE FROM jobstats.rejects RETURNING reason, text)
SELECT count(*), reason, count(text) FILTER (WHERE text !~ '^and [0-9]+ more$') FROM gone GROUP BY reason ORDER BY reason
$$;
CREATE FUNCTION rows(format text, number integer) RETURNS text LANGUAGE sql AS $$
SELECT E'JobIDRaw|JobID|Cluster|Submit|Start|End|User|State|JobName\n' || string_agg(replace(format, '#', n::text), '') FROM generate_series(1, number) n
$$;

-- A million invalid lines, and a value of megabytes.
SELECT * FROM fed(rows(E'secret #\n', 1000000));
SELECT * FROM reasons();
SELECT * FROM fed(rows(E'#|#|c|1700000000|1700000001|1700000002|ada|COMPLETED|' || repeat('x', 1000000) || E'\n', 3));
SELECT * FROM fed(rows(E'#|#|c|1700000000|1700000001|1700000002|ada|COMPLETED|' || repeat('x', 2000000) || E'\n', 3) || E'4|4|c|1700000000|1700000001|1700000002|ada|COMPLETED|x\n');
SELECT job, length(job_name) FROM jobstats.jobs ORDER BY job;
-- Numbers and labels that are too long for an index.
SELECT * FROM fed(rows(repeat('7', 3000) || E'|#|c|1700000000|1700000001|1700000002|ada|COMPLETED|x\n', 2));
SELECT * FROM fed(rows('#|' || repeat('7', 3000) || E'|c|1700000000|1700000001|1700000002|ada|COMPLETED|x\n', 2));
SELECT * FROM fed(rows('#|#|' || repeat('c', 3000) || E'|1700000000|1700000001|1700000002|ada|COMPLETED|x\n', 2));
SELECT * FROM reasons();
-- One job that began a hundred thousand times, in one text and in many.
SELECT * FROM fed((SELECT E'JobIDRaw|Submit|Start|End\n' || string_agg(format(E'9|1700000000|%s|%s\n', 1700000000 + 100 * n, 1700000050 + 100 * n), '')
    FROM generate_series(1, 100020) n) || E'10|1700000000|1700000100|1700000150\n');
SELECT * FROM fed((SELECT E'JobIDRaw|Submit|Start|End\n' || string_agg(format(E'9|1700000000|%s|%s\n', 1500000000 + 100 * n, 1500000050 + 100 * n), '')
    FROM generate_series(1, 900) n));
SELECT job, count(*) FROM jobstats.jobs WHERE job IN ('9', '10') GROUP BY job ORDER BY job;
SELECT * FROM reasons();
-- The runs of a number are looked up one by one, however many it has: each was submitted anew, as no scheduler does.
BEGIN;
SELECT idx_tup_fetch AS before FROM pg_stat_xact_user_tables WHERE relid = 'jobstats.jobs'::regclass \gset
SELECT * FROM fed((SELECT E'JobIDRaw|Submit|Start|End\n' || string_agg(format(E'11|%s|%1$s|%s\n', 1700000000 + 100 * n, 1700000050 + 100 * n), '')
    FROM generate_series(1, 2000) n));
SELECT idx_tup_fetch - :before < 5000 AS few_rows_read FROM pg_stat_xact_user_tables WHERE relid = 'jobstats.jobs'::regclass;
ROLLBACK;
-- A job with too many stored rows to merge is rejected alone.
SELECT * FROM fed((SELECT E'JobIDRaw|Submit|Start|State|NodeList\n' || string_agg(format(E'8|1700000000|%s|RUNNING|%s\n', 1700001000 + n, repeat('n', 20000)), '')
    FROM generate_series(0, 49) n) || E'7|1700000000|1700001000|RUNNING|n1\n');
SELECT job, count(*) FROM jobstats.jobs WHERE job IN ('7', '8') GROUP BY 1;
SELECT * FROM reasons();
-- A text of the future would count for ever.
SELECT action FROM jobstats_ingest('', 'slurm1', '2199-01-01', rows(E'5#|5#|c|1700000000|1700000001|1700000002|eve|RUNNING|x\n', 1), source => 'slurm');
SELECT * FROM reasons();
-- A line that might be a header with any delimiter is not looked at for long, whatever it is sent as.
SELECT processor() AS before \gset
SELECT * FROM fed('JobIDRaw!#$%&()*+,-./:;<=>?@[]^_{|}~!!' || repeat('a', 200000000));
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', 'JobIDRaw!#$%&()*+,-./:;<=>?@[]^_{|}~!!' || repeat('a', 200000000));
SELECT processor() - :before < 20 AS soon;
SELECT * FROM reasons();
-- Times at the limits.
SELECT * FROM fed(rows(E'#|#|c|1|7258118399|Unknown|ada|RUNNING|x\n', 1) || E'2|2|c|99999999999|18446744073709551615|-1|ada|RUNNING|x\n');
SELECT job, submitted, started, ended FROM jobstats.jobs WHERE job IN ('1', '2') AND job_name = 'x' ORDER BY job;
SELECT * FROM reasons();
-- Names that are SQL, HTML, text of a terminal, JSON or no text.
SELECT * FROM fed(rows(E'5#|5#|c|1700000000|1700000001|1700000002|''); DROP TABLE jobstats.jobs; --|<script>|"}]\\u0000\u001b[31m\n', 1));
SELECT job, user_name, state, job_name FROM jobstats.jobs WHERE job = '51';
SELECT action, entries FROM jobstats_ingest('', 'slurm1', now(), source => 'slurm', body_zstd =>
    '\x28b52ffd0458c901004a6f624944526177005374617274007c0a') ;
\echo :LAST_ERROR_SQLSTATE
-- A sender that is bound to a cluster cannot name another one: its rows belong to its cluster.
SELECT * FROM fed(rows(E'1|1|c|1700000000|1700000001|1700000002|eve|FAILED|stolen\n', 1), 'mine');
SELECT * FROM fed(rows(E'1|1||1700000000|1700000001|1700000002|eve|FAILED|mine\n', 1), 'mine');
SELECT scheduler, job, user_name FROM jobstats.jobs WHERE user_name = 'eve';
SELECT * FROM reasons();
-- Text of other sources is not read, and text of this source is not read as theirs.
SELECT * FROM fed(E'ada:secret:2:1:secret:/h:/s\n');
SELECT * FROM fed(ost('fs-OST0000', record('a.1', 1, 4096)));
INSERT INTO jobstats.feed (server, body) VALUES ('oss1', rows(E'1|1|c|1700000000|1700000001|1700000002|secret|FAILED|x\n', 1));
INSERT INTO jobstats.feed (server, body, source) VALUES ('pbs1', rows(E'1|1|c|1700000000|1700000001|1700000002|secret|FAILED|x\n', 1), 'pbs');
SELECT * FROM reasons();
-- A stored row that was damaged later is an error, not a wrong row.
UPDATE jobstats.jobs SET provenance = '{"values": 1}' WHERE job = '51';
SELECT * FROM fed(rows(E'5#|5#|c|1700000000|1700000001|1700000002|x|COMPLETED|x\n', 1));
\echo :LAST_ERROR_SQLSTATE
-- It can be cancelled.
SET statement_timeout = '300ms';
SELECT * FROM fed(rows(E'1#|1#|c|1700000000|1700000001|1700000002|ada|COMPLETED|x\n', 300000));
\echo :LAST_ERROR_SQLSTATE
