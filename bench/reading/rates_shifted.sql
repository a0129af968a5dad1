-- rates of all targets at 5 minutes, of six hours that begin at no full hour
-- ours
SELECT "time", name, operation, rate, coverage
FROM jobstats_rates(:since + interval '6 hours 3 minutes', :since + interval '12 hours 3 minutes', 'service_time,read_bytes,write_bytes,metadata', 'target', '5 minutes');
-- by hand
WITH span AS (
    SELECT :since + interval '6 hours 3 minutes' AS lower, :since + interval '12 hours 3 minutes' AS upper
), row AS (
    SELECT i.*, s.lower, s.upper, date_bin('5 minutes', greatest(i.since, s.lower), :since) AS step, i.since >= s.lower
        AND i."time" <= least(date_bin('5 minutes', i.since, :since) + interval '5 minutes', s.upper) AS inside
    FROM span s JOIN jobstats.increments i ON i."time" > s.lower AND i."time" < s.upper + interval '1 hour' AND i.since < s.upper
), done AS (
    SELECT r.target_id, r.step, sum(r.service_time) AS service_time, sum(r.read_bytes) AS read_bytes, sum(r.write_bytes) AS write_bytes,
        sum(r.metadata) AS metadata
    FROM (
        SELECT i.target_id, i.step, :service_time AS service_time, i.read_bytes, i.write_bytes, :metadata AS metadata
        FROM row i WHERE i.inside
        UNION ALL
        SELECT i.target_id, p.step, :service_time_share, div(i.read_bytes::numeric * p.until, p.width) - div(i.read_bytes::numeric * p.since, p.width),
            div(i.write_bytes::numeric * p.until, p.width) - div(i.write_bytes::numeric * p.since, p.width), :metadata_share
        FROM row i CROSS JOIN LATERAL (
            SELECT s.step, (1e6 * extract(epoch FROM i."time" - i.since))::bigint AS width,
                (1e6 * extract(epoch FROM greatest(s.step, i.since, i.lower) - i.since))::bigint AS since,
                (1e6 * extract(epoch FROM least(s.step + interval '5 minutes', i."time", i.upper) - i.since))::bigint AS until
            FROM generate_series(i.step, least(i."time", i.upper) - interval '1 microsecond', '5 minutes') s (step)
        ) p WHERE NOT i.inside
    ) r GROUP BY 1, 2
), seen AS (
    SELECT o.target_id, step, extract(epoch FROM sum(least(o."time", step + interval '5 minutes', s.upper)
        - greatest(o.since, step, s.lower)))::double precision AS seconds
    FROM span s JOIN jobstats.observations o ON o."time" > s.lower AND o.since < s.upper
    CROSS JOIN generate_series(date_bin('5 minutes', greatest(o.since, s.lower), :since),
        least(o."time", s.upper) - interval '1 microsecond', '5 minutes') step
    GROUP BY 1, 2
)
SELECT greatest(s.step, span.lower), t.name, o.operation, o.value / x.seconds,
    trunc(coalesce(x.seconds / extract(epoch FROM least(s.step + interval '5 minutes', span.upper) - greatest(s.step, span.lower)), 0)::numeric, 4)
FROM span
CROSS JOIN jobstats.targets t
CROSS JOIN generate_series(date_bin('5 minutes', span.lower, :since), span.upper - interval '1 microsecond', '5 minutes') s (step)
LEFT JOIN seen x ON x.target_id = t.target_id AND x.step = s.step
LEFT JOIN done d ON d.target_id = t.target_id AND d.step = s.step
CROSS JOIN LATERAL (VALUES ('service_time', coalesce(d.service_time, 0) / 1e6::double precision),
    ('read_bytes', coalesce(d.read_bytes, 0)), ('write_bytes', coalesce(d.write_bytes, 0)),
    ('metadata', CASE WHEN t.kind = 'MDT' THEN coalesce(d.metadata, 0) ELSE 0 END)) o (operation, value);
-- lag()
SELECT date_bin('5 minutes', "time", :since), target, sum(service_time) / 300e6, sum(read_bytes) / 300,
    sum(write_bytes) / 300, sum(metadata) / 300
FROM (
    SELECT "time", target,
        greatest(service_time - lag(service_time) OVER entry, 0) AS service_time,
        greatest(read_bytes_sum - lag(read_bytes_sum) OVER entry, 0) AS read_bytes,
        greatest(write_bytes_sum - lag(write_bytes_sum) OVER entry, 0) AS write_bytes,
        greatest(metadata - lag(metadata) OVER entry, 0) AS metadata
    FROM (SELECT c.*, :service_sums AS service_time, :metadata_calls AS metadata FROM counters c
        WHERE "time" > :since + interval '6 hours 3 minutes'
            AND "time" <= :since + interval '12 hours 3 minutes') c
    WINDOW entry AS (PARTITION BY target, entry ORDER BY "time")
) c GROUP BY 1, 2;
