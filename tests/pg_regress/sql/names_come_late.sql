-- Jobs with only the name of the user, and late names of users and groups: the answers do not depend on the order of texts, nor on
-- maintenance in between.
\i store.sql
\set ECHO all
\pset null '(null)'

-- Each order of five texts has a separate target, job and user.
CREATE TABLE sent AS
SELECT o, kind, row_number() OVER (PARTITION BY o ORDER BY md5(o || kind)) AS step
FROM generate_series(71, 99) AS o, unnest('{lctl,pbs,ada,eve,group}'::text[]) AS kind;
CREATE FUNCTION texts_of(o integer, kind text) RETURNS TABLE (minute integer, body text, source text) LANGUAGE sql STABLE AS $$
SELECT m, ost('fs-OST00' || o, record(format('70%s', o), m, m * 1024) || record(format('70%s:20%1$s:n1', o), m, m * 2048)
    || record(format('70%s:30%1$s:n1', o), m, m * 4096)), 'lctl'
FROM unnest('{0,10}'::integer[]) AS m WHERE kind = 'lctl'
UNION ALL
SELECT 20, format(E'11/03/2025 09:00:00;E;70%s.pbs1;user=ada%1$s group=staff%1$s account="bio%1$s" jobname=x queue=q ctime=%s start=%s '
    'exec_host=n1/0 end=%s Exit_status=0\n', o, extract(epoch FROM at(-30))::bigint, extract(epoch FROM at(-20))::bigint,
    extract(epoch FROM at(15))::bigint), 'pbs' WHERE kind = 'pbs'
UNION ALL
SELECT 30, format(E'ada%s:x:20%1$s:50%1$s::/:\n', o), 'passwd' WHERE kind = 'ada'
UNION ALL
SELECT 30, format(E'eve%s:x:30%1$s:50%1$s::/:\n', o), 'passwd' WHERE kind = 'eve'
UNION ALL
SELECT 30, format(E'staff%s:x:50%1$s:\n', o), 'group' WHERE kind = 'group'
$$;
CREATE VIEW owners AS
SELECT replace(j.job, s.o::text, '#') AS job, i.uid - s.o AS uid, string_agg(concat_ws(' ', replace(e.name, s.o::text, '#'), m.status, m.job_no = i.job_no), ', ' ORDER BY e.name) AS entries, s.o
FROM sent s
JOIN jobstats.jobs j ON j.job = '70' || s.o
LEFT JOIN jobstats.job_ids i ON i.job = j.job
LEFT JOIN jobstats.entries e ON e.job = j.job
LEFT JOIN jobstats.entry_jobs m ON m.entry_id = e.entry_id
WHERE s.kind = 'pbs' GROUP BY s.o, j.job, i.uid;
CREATE VIEW answers AS
SELECT target, string_agg(concat_ws(' ', replace(job, o, '#'), replace(uid::text, o, '#'), replace(user_name, o, '#'), replace(gid::text, o, '#'), replace(group_name, o, '#'),
    replace(account, o, '#'), total), ', ' ORDER BY total) AS answer
FROM (SELECT * FROM jobstats_totals(at(-60), at(60), 'write_bytes', 'target,job,uid,user,gid,group,account') r, dims(r.labels)) AS jobstats_totals CROSS JOIN right(target, 2) AS o
GROUP BY target;
CREATE VIEW sums AS
SELECT target, string_agg(concat_ws(' ', replace(uid::text, o, '#'), replace(user_name, o, '#'), replace(group_name, o, '#'), total), ', ' ORDER BY total) AS answer
FROM (SELECT * FROM jobstats_totals(at(-60), at(60), 'write_bytes', 'target,uid,user,group') r, dims(r.labels)) AS jobstats_totals CROSS JOIN right(target, 2) AS o
GROUP BY target;

SELECT count(DISTINCT d.kinds) AS orders FROM (SELECT string_agg(kind, ',' ORDER BY step) AS kinds FROM sent GROUP BY o) d;
SELECT format('INSERT INTO jobstats.feed (server, "time", body, source) SELECT kind || o, at(minute), body, source FROM sent CROSS JOIN texts_of(o, kind) WHERE step = %s', step),
    'CALL jobstats_maintain()' FROM generate_series(1, 5) AS step \gexec
SELECT answer, count(*) FROM answers GROUP BY answer;
SELECT answer, count(*) FROM sums GROUP BY answer;
SELECT job, uid, entries, count(*) FROM owners GROUP BY 1, 2, 3;
SELECT reason FROM jobstats.rejects;
TABLE jobstats.to_resolve;

-- Known names do not cause matching again, nor do jobs whose accounting has the number of the user.
UPDATE jobstats.jobs SET uid = 2081 WHERE job = '7081';
INSERT INTO jobstats.feed (server, "time", body, source) VALUES ('late', at(60), E'ada80:x:2080:5080::/:\nlady:x:2081:5081::/:\nbob:x:2082:5082::/:\n', 'passwd');
SELECT uid, user_name FROM jobstats.to_resolve ORDER BY 1, 2;
SELECT jobstats_internal.queue_unmatched() >= 0 AS queued;
SELECT job FROM jobstats.to_match;
-- A name of two users matches neither.
INSERT INTO jobstats.feed (server, "time", body, source) VALUES ('late', at(70), E'ada80:x:9999:5080::/:\n', 'passwd');
CALL jobstats_maintain();
SELECT job, uid, user_name FROM jobstats.job_ids WHERE job IN ('7080', '7082') ORDER BY job;
