-- The next text: the increment is from the one before.
SET ROLE "upgrade: writer";
INSERT INTO jobstats.feed (cluster, server, "time", body)
VALUES ('gap', 'oss9', date_trunc('hour', now()) - interval '18 hours',
    E'obdfilter.gap-OST0000.job_stats=\njob_stats:\n- job_id:          a.1\n  snapshot_time:   1700000000\n'
    '  write_bytes:     { samples:         107, unit: bytes, min:    4096, max:    4096, sum:          438272 }\n'
    '  punch:           { samples:           0, unit:  reqs }\n');
RESET ROLE;
DO $$
BEGIN
    ASSERT (SELECT sum(i.write) = 6 FROM jobstats.increments i JOIN jobstats.targets t USING (target_id)
        WHERE t.name = 'gap-OST0000' AND i."time" > date_trunc('hour', now()) - interval '19 hours'), 'the increment is wrong';
END
$$;
