-- Answers of reading functions and views: one store, its standby and a front print the same. Numbers of targets, entries and events differ
-- by node and are left out.
\set ON_ERROR_STOP off
\pset format unaligned
\pset null NULL
SET timezone = 'UTC';
\set window '\'2026-03-10 00:10Z\', \'2026-03-10 02:50Z\''
SELECT job AS large FROM jobstats.jobs WHERE ended BETWEEN '2026-03-10 01:00Z' AND '2026-03-10 02:00Z' ORDER BY nodes DESC, job LIMIT 1 \gset

SELECT * FROM jobstats_top(:window);
SELECT * FROM jobstats_top(:window, 'read_bytes', by => 'account,user', untracked => true);
SELECT * FROM jobstats_top(:window, 'metadata', by => 'job,target', n => 40);
SELECT * FROM jobstats_top('2026-03-10 00:00Z', '2026-03-10 03:00Z', 'write_bytes', by => 'node,executable', n => 40);
SELECT * FROM jobstats_totals(:window);
SELECT * FROM jobstats_totals(:window, by => 'job') ORDER BY name, operation;
SELECT * FROM jobstats_totals(:window, by => 'entry', filter => 'target=*OST0001,*MDT0000') ORDER BY name, operation LIMIT 100;
SELECT * FROM jobstats_totals(:window, 'write_bytes', by => 'cluster,filesystem,kind,group,partition,status,workload');
SELECT * FROM jobstats_rates(:window, 'write_bytes,metadata,service_time', step => '30 minutes');
SELECT * FROM jobstats_rates(:window, 'write_bytes,metadata,service_time', by => 'server', step => '7 minutes');
SELECT * FROM jobstats_rates(:window, 'read_bytes', by => 'user', step => '1 hour', exclude => '{"user": ["ada"]}');
SELECT * FROM jobstats_summary(:window, by => 'uid');
SELECT * FROM jobstats_summary(:window, by => 'job');
SELECT * FROM jobstats_balance(:window);
SELECT * FROM jobstats_densities(:window, 'write_bytes', step => '1 hour');
SELECT * FROM jobstats_io_sizes(:window, by => 'user');
SELECT * FROM jobstats_queues(:window, step => '1 hour');
SELECT * FROM jobstats_untracked(:window);
SELECT * FROM jobstats_space('2026-03-10 02:50Z');
SELECT * FROM jobstats_space('2026-03-10 02:50Z', 'account');
SELECT * FROM jobstats.used ORDER BY day, filesystem, kind, id;
SELECT * FROM jobstats_changes(:window, baseline_since => '2026-03-09 22:00Z', baseline_until => '2026-03-10 00:40Z');
SELECT * FROM jobstats_baseline(:window, by => 'target');
SELECT * FROM jobstats_baseline(:window);
SELECT * FROM jobstats_findings(:window);
SELECT * FROM jobstats_verdict(:window, by => 'user');
SELECT * FROM jobstats_now(n => 10, at => '2026-03-10 02:50Z');
SELECT * FROM jobstats_job_usage(:'large'::text);
SELECT * FROM jobstats_jobs('-infinity', filter => jsonb_build_object('job', :'large'));
SELECT * FROM jobstats_job(:'large');
SELECT * FROM jobstats_compare(ARRAY[:'large', '1002010']) LIMIT 100;
SELECT scheduler, job, user_name, account, targets, read_bytes, write_bytes, read, write, opens, metadata, service_time, operations
FROM jobstats.job_summaries ORDER BY scheduler, job;
SELECT * FROM jobstats_job_usage(:'large', 'node') WHERE operation LIKE 'attributed%';
SELECT since, first, complete, targets FROM jobstats_internal.kept();
SELECT event, filesystem, began, ended, targets, servers, severity FROM jobstats_events('2026-03-09Z', '2026-03-11Z') ORDER BY event, began;
SELECT t.cluster, t.target, t.server FROM jobstats_targets('2026-03-10 02:50Z') t ORDER BY t.cluster, t.target;
SELECT count(*) FROM jobstats_internal.work('2026-03-10 02:50Z');
SELECT count(DISTINCT e.job) FROM jobstats_internal.entries('2026-03-10 02:50Z') e WHERE e.job IS NOT NULL;
SELECT target, kind, server, states, last_observation, usual_interval FROM jobstats.health WHERE target IS NOT NULL AND states <> '{node}' ORDER BY target, states;
SELECT r.target, r.job, count(*), round(sum(r.read_bytes)::numeric, 3), min(r.since) FROM jobstats.rates r WHERE r.until < '2026-03-10 02:00Z' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT r.account, count(*), round(sum(r.write)::numeric, 3), min(r.since) FROM jobstats.rates_10m r GROUP BY 1 ORDER BY 1;
SELECT count(*), sum(i.read_bytes), sum(i.open) FROM jobstats.increments_1h i;
SELECT s.server, s.target, s.name, s.value FROM jobstats.samples s ORDER BY s.server, s.target, s.name, s.labels LIMIT 100;
SELECT line FROM regexp_split_to_table(jobstats_metrics(), E'\n') line WHERE line ~ '_(status|total)\{' ORDER BY line;
SELECT q.hour, q.target, q.observations, q.ok, q.gaps FROM jobstats.quality q ORDER BY q.hour, q.target;

-- A reader, a reader with access to their own jobs only, and one who sees no names.
SELECT uid FROM jobstats.users WHERE user_name = (SELECT user_name FROM jobstats.jobs WHERE job = :'large') \gset
SELECT pg_is_in_recovery() AS standby \gset
\if :standby
\else
SELECT jobstats_grant_reader('front_reader'), jobstats_grant_own('front_own', :uid), jobstats_grant_reader('front_nameless', names => false) \gset
\endif
SET ROLE front_reader;
SELECT * FROM jobstats_top(:window, by => 'user', n => 3);
SELECT count(DISTINCT name) FROM jobstats.entries WHERE uid = :uid;
SELECT count(*) > 0 AS has_health FROM jobstats.health WHERE states = '{silent}';
SELECT * FROM jobstats.texts;
SET ROLE front_own;
SELECT * FROM jobstats_top(:window, by => 'user,job', n => 100);
SELECT job, user_name, read_bytes FROM jobstats_jobs('-infinity', n => 3);
SELECT * FROM jobstats.entries;
SET ROLE front_nameless;
SELECT rank, name, total FROM jobstats_top(:window, by => 'account', n => 100);
SELECT rank, operation, formatted, share, total FROM jobstats_top(:window, by => 'user');
RESET ROLE;
