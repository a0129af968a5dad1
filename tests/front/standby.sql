-- Queries that a standby answers although a front does not, and statements that it refuses: all that write.
\set VERBOSITY sqlstate
\set ON_ERROR_STOP off
\pset format unaligned
\pset footer off
SELECT count(*) AS disagreements FROM jobstats_audit('2026-03-10Z', '2026-03-10 03:00Z');
SELECT count(*) > 5 AS held FROM jobstats_personal_data((SELECT min(uid) FROM jobstats.users WHERE uid > 20000));
SELECT count(*) > 0 AS explained FROM jobstats.events e, jobstats_explain(e.event_id);
SELECT count(*) > 0 AS helped FROM jobstats_help();
SELECT jsonb_typeof(jobstats_alerts()) AS alerts;
SELECT count(*) > 0 AS parsed FROM jobstats.raw_text r, jobstats_parse(r.body) WHERE r."time" < '2026-03-10 00:10Z';

INSERT INTO jobstats.feed (cluster, server, body) VALUES ('alpha', 'oss1', 'obdfilter.scratch-OST0000.job_stats=');
SELECT * FROM jobstats_ingest('alpha', 'oss1', now(), 'obdfilter.scratch-OST0000.job_stats=');
SELECT jobstats_setup();
CALL jobstats_maintain();
CALL jobstats_detect();
CALL jobstats_convert();
SELECT * FROM jobstats_reprocess('2026-03-10Z', '2026-03-11Z');
SELECT jobstats_reidentify();
SELECT * FROM jobstats_forget_user((SELECT min(uid) FROM jobstats.users WHERE uid > 20000));
SELECT jobstats_alter_target('scratch-OST0000', 'alpha', retired => true);
SELECT jobstats_drop_targets('{scratch-OST0000}');
SELECT jobstats_confirm_event((SELECT min(event_id) FROM jobstats.events), 'real');
SELECT jobstats_silence(now(), now() + interval '1 hour', 'scratch');
SELECT jobstats_grant_writer('front_reader');
SELECT jobstats_grant_reader('front_reader');
SELECT jobstats_grant_own('front_own', 20001);
SELECT jobstats_attach('node0', host => '/nowhere', dbname => 'nothing');
