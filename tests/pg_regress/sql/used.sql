-- jobstats_space(): whose files fill a file system.
\i store.sql
\set ECHO all
\set VERBOSITY terse
\pset null '(null)'
-- A list: [id, inodes, kbytes, …].
CREATE FUNCTION acct(target text, kind text, VARIADIC usage bigint[]) RETURNS text LANGUAGE sql AS $$
SELECT format(E'osd-ldiskfs.%s.quota_slave.acct_%s=\n%s_accounting:\n', target, kind, CASE kind WHEN 'user' THEN 'usr' WHEN 'group' THEN 'grp' ELSE 'prj' END)
    || coalesce(string_agg(format(E'- id:      %s\n  usage:   { inodes:  %s, kbytes:  %s }\n', usage[3 * n + 1], usage[3 * n + 2], usage[3 * n + 3]), '' ORDER BY n), '')
FROM generate_series(0, cardinality(usage) / 3 - 1) n
$$;
CREATE FUNCTION feed("time" timestamptz, VARIADIC texts text[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO jobstats.feed (cluster, server, "time", body) VALUES ('', 'oss1', "time", array_to_string(texts, ''))
$$;
-- A day and an hour of it.
CREATE FUNCTION of_day(n integer, hour numeric DEFAULT 0) RETURNS timestamptz LANGUAGE sql AS $$
SELECT date_trunc('day', now()) + n * interval '1 day' + hour * interval '1 hour'
$$;
CREATE VIEW first AS SELECT of_day(0)::date - f.day AS days_ago, t.name, f.kind, f.id, f.kbytes FROM jobstats.used_first f JOIN jobstats.targets t USING (target_id) ORDER BY 1, 2, 3, 4;
CREATE VIEW sums AS SELECT of_day(0)::date - u.day AS days_ago, u.filesystem, u.kind, u.id, u.kbytes, u.inodes, u.targets FROM jobstats.used u ORDER BY 1, 2, 3, 4;

-- Days are summed as soon as they are over.
UPDATE jobstats.settings SET refresh_lag = '0', raw_retention = '4 days';

-- Before any feed.
SELECT * FROM jobstats_space();
INSERT INTO jobstats.users (uid, user_name, gid) VALUES (1000, 'ada', 100), (1001, 'bob', 100);
INSERT INTO jobstats.groups (gid, group_name) VALUES (100, 'physics'), (101, 'chemistry');
INSERT INTO jobstats.job_ids (scheduler, job, runs, started, ended, last_started, uid, account) VALUES
    ('', '1', 1, of_day(-9), of_day(-8), of_day(-9), 1000, 'old'), ('', '2', 1, of_day(-7), of_day(-6), of_day(-7), 1000, 'p1'),
    ('', '3', 1, of_day(-7), NULL, of_day(-7), 1001, 'p1');

-- Space is the sum of all targets, inodes count on MDTs only: on OSTs these are objects.
SELECT feed(now() - interval '20 ms', acct('fs-MDT0000', 'user', 0, 10, 4, 1000, 300, 100, 1001, 20, 10), acct('fs-OST0000', 'user', 1000, 900, 50000, 1001, 70, 700),
    acct('fs-OST0001', 'user', 1001, 80, 90000, 1002, 1, 1), acct('fs-MDT0000', 'group', 100, 320, 110), acct('fs-OST0000', 'project', 7, 1, 4096));
SELECT name, formatted, bytes, inodes, targets, of_targets, labels FROM jobstats_space();
SELECT name, bytes, inodes FROM jobstats_space(by => 'cluster,filesystem,uid,user,account');
SELECT name, added_bytes, added_inodes, "time" < now() AS read FROM jobstats_space(filter => 'uid=1000 gid=100');
SELECT name, bytes, inodes FROM jobstats_space(by => 'account');
SELECT name, bytes, inodes FROM jobstats_space(by => 'target');
SELECT name, bytes FROM jobstats_space(by => 'user,target', filter => 'user=b*');
SELECT name, bytes, inodes, targets, of_targets FROM jobstats_space(by => 'gid,group');
SELECT name, bytes, targets, of_targets, labels FROM jobstats_space(by => 'project', filter => 'target=fs-OST0000');
SELECT name, bytes FROM jobstats_space(filter => 'account=p1 group=phys* filesystem=fs');
SELECT name, bytes FROM jobstats_space(filter => 'filesystem=home');
SELECT * FROM jobstats_space(by => 'job');
SELECT * FROM jobstats_space(by => 'user,project');
SELECT * FROM jobstats_space(by => 'group,account');
SELECT * FROM jobstats_space(now() - interval '1 day', 'target');

-- A newer list takes the place of the older one, owners who have gone included; an older one, one of the future and a damaged one do not.
SELECT feed(now() - interval '10 ms', acct('fs-OST0001', 'user', 1001, 80, 80000)), feed(now() - interval '15 ms', acct('fs-OST0001', 'user', 1001, 1, 1)),
    feed(now() + interval '1 hour', acct('fs-OST0001', 'user', 1001, 2, 2)),
    feed(now() - interval '5 ms', acct('fs-OST0001', 'user', 1001, 3, 3) || '- id:  x');
SELECT name, bytes FROM jobstats_space(by => 'uid,target', filter => 'target=fs-OST0001');
SELECT reason, text FROM rejects;
-- An empty list means that no user has any space; it is a valid list.
SELECT feed(now() - interval '9 ms', acct('fs-OST0002', 'user', VARIADIC '{}'));
SELECT name, targets, of_targets FROM jobstats_space(filter => 'uid=1000');

-- For a day, the first value of each target counts, also if it comes late. It is summed when the day is over.
SELECT feed(of_day(-2, 5), acct('fs-OST0000', 'user', 1000, 1, 500)), feed(of_day(-2, 3), acct('fs-OST0000', 'user', 1000, 1, 300, 1003, 1, 9)),
    feed(of_day(-2, 4), acct('fs-OST0000', 'user', 1000, 1, 400)), feed(of_day(-2, 6), acct('fs-MDT0000', 'user', 1000, 30, 20)),
    feed(of_day(-1, 6), acct('fs-OST0000', 'user', 1000, 1, 700), acct('fs-MDT0000', 'user', 1000, 40, 20, 1001, 5, 8));
SELECT * FROM first WHERE days_ago > 0;
SELECT jobstats_internal.sum_used();
SELECT * FROM sums;
SELECT * FROM first WHERE days_ago > 0;
SELECT jobstats_internal.sum_used();
-- Another target's list of that day is added; an earlier one of the same target comes too late.
SELECT feed(of_day(-2, 8), acct('fs-OST0001', 'user', 1000, 1, 1000)), feed(of_day(-2, 1), acct('fs-OST0000', 'user', 1000, 1, 1));
SELECT jobstats_internal.sum_used();
SELECT * FROM sums WHERE days_ago = 2;

-- A past day, and the difference since. For days without lists the day before counts, for a week.
SELECT name, bytes, inodes, targets, of_targets, "time" = of_day(-2, 3) AS first FROM jobstats_space(of_day(-2, 23), 'uid');
-- If a target is missing on one of the days, the difference is unknown; a new target had zero.
SELECT name, bytes, added_bytes, added_inodes, targets, of_targets FROM jobstats_space(of_day(-1, 1), 'uid', of_day(-2, 1));
SELECT feed(of_day(-1, 7), acct('fs-OST0001', 'user', 1000, 1, 1500), acct('fs-OST0002', 'user', 1000, 1, 10)), jobstats_internal.sum_used();
SELECT name, bytes, added_bytes, added_inodes, targets, of_targets FROM jobstats_space(of_day(-1, 1), 'uid', of_day(-2, 1));
SELECT name, bytes, added_bytes, targets FROM jobstats_space(by => 'uid', since => of_day(-1));
SELECT count(*) FROM jobstats_space(of_day(-3));
SELECT name, bytes FROM jobstats_space(of_day(-2), 'account');
-- Of the jobs that ran at that time, the latest start gives the account, whatever ended since.
INSERT INTO jobstats.job_ids (scheduler, job, runs, started, ended, last_started, uid, account) VALUES
    ('', '4', 1, of_day(-4), of_day(-1), of_day(-4), 1003, 'older'), ('', '5', 1, of_day(-3), of_day(-1, -6), of_day(-3), 1003, 'newer'),
    ('', '6', 1, of_day(-2, -2), of_day(-2, -1), of_day(-2, -2), 1003, 'done');
SELECT name FROM jobstats_space(of_day(-2), 'account', filter => 'uid=1003');

-- Many owners; sums beyond 64 bits.
CREATE FUNCTION many(kbytes text, step integer) RETURNS text LANGUAGE sql AS $$
SELECT E'osd-zfs.big-OST0000.quota_slave.acct_user=\nusr_accounting:\n'
    || string_agg(format(E'- id: %s\n  usage: { inodes: 1, kbytes: %s }\n', n, coalesce(kbytes, n::text)), '' ORDER BY n)
FROM generate_series(step, 30000, step) n
$$;
SELECT feed(now() - interval '8 ms', many('9223372036854775807', 1), acct('big-OST0001', 'user', 1, 1, 9223372036854775807));
SELECT name, bytes FROM jobstats_space(by => 'filesystem,uid', filter => 'uid=1 filesystem=big');
UPDATE jobstats.used_lists SET day = day - 2 WHERE target_id IN (SELECT target_id FROM jobstats.targets WHERE filesystem = 'big');
UPDATE jobstats.used_first SET day = day - 2 WHERE target_id IN (SELECT target_id FROM jobstats.targets WHERE filesystem = 'big');
SELECT jobstats_internal.sum_used();
SELECT * FROM sums WHERE filesystem = 'big' AND id = 1;
-- The next list has every second of them.
SELECT feed(now() - interval '7 ms', many(NULL, 2));
SELECT count(*), sum(kbytes) = sum(id) AS is_newest FROM jobstats.used_now WHERE target_id = (SELECT target_id FROM jobstats.targets WHERE name = 'big-OST0000');

-- A retired target is not part of the file system any more. Retention deletes days older than sums by day.
SELECT jobstats_alter_target('fs-OST0002', retired => true) IS NOT NULL AS retired;
SELECT targets, of_targets FROM jobstats_space(filter => 'uid=1000 filesystem=fs');
UPDATE jobstats.rollups SET dropped = of_day(-1) WHERE level = '1d';
SELECT jobstats_internal.forget_samples() > 0 AS forgotten;
SELECT min(days_ago), max(days_ago) FROM sums;

-- A list that is older than raw text is kept is taken only if it follows the newest one, as other text.
SELECT feed(of_day(-3, 5), acct('old-OST0000', 'user', 1000, 1, 5));
UPDATE jobstats.settings SET raw_retention = '2 days';
SELECT feed(of_day(-3, 6), acct('old-OST0000', 'user', 1000, 1, 6));
SELECT feed(of_day(-3, 4), acct('old-OST0000', 'user', 1000, 1, 4), acct('old-OST0001', 'user', 1000, 1, 4));
SELECT name, bytes FROM jobstats_space(by => 'target', filter => 'filesystem=old');
SELECT target, reason, text FROM rejects WHERE target LIKE 'old%';
-- One of a time that has not come yet hides no true one.
SELECT feed(now() + interval '4 minutes', acct('old-OST0002', 'user', 1000, 1, 7)), feed(now(), acct('old-OST0002', 'user', 1000, 1, 8)),
    feed(now() - interval '1 minute', acct('old-OST0002', 'user', 1000, 1, 9));
SELECT bytes FROM jobstats_space(by => 'target', filter => 'target=old-OST0002');
