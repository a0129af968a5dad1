-- Rights, rollups that are up to date but for a late text, and, where that is possible, chunks in columns.
SET client_min_messages = warning;
SELECT jobstats_grant_reader('backup: reader'), jobstats_grant_writer('backup: writer', 'small') \gset
GRANT SELECT ON jobstats.health TO "backup: guest";
CALL jobstats_maintain();
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'small', o.server, o."time" - interval '1 second', r.body
FROM jobstats.observations o JOIN jobstats.raw_text r ON r.target_id = o.target_id AND r."time" = o."time"
WHERE o."time" = (SELECT min(m."time") FROM jobstats.observations m WHERE m.target_id = o.target_id AND m."time" > now() - interval '20 hours');
DO $$
BEGIN
    ASSERT EXISTS (SELECT FROM jobstats.dirty), 'the late text has changed nothing';
    WHILE jobstats_internal.compress_before(now()) IS NOT NULL LOOP
    END LOOP;
END
$$;
SELECT coalesce(current_setting('timescaledb.license', true) = 'timescale', false) AS community \gset
\if :community
SELECT add_job('jobstats_internal.maintain_job', '10 minutes', scheduled => false) \gset
\endif
