-- Returns the first rule that the settings would break, and what to do about it; no row if they keep all rules. A
-- parameter that is NULL leaves a setting as it is. A stored retention of a rollup, or a stored
-- compress_after, is raised where it is too short; a requested value must be possible. Each value was checked by itself
-- before.
WITH setting AS (
    SELECT coalesce($1, s.raw_retention) AS raw_retention, coalesce($2, s.retention) AS retention,
        coalesce($3, s.rejects_retention) AS rejects_retention, coalesce($4, s.chunk_interval) AS chunk_interval,
        coalesce($5, s.compress_after) AS compress_after, coalesce($6, s.refresh_lag) AS refresh_lag
    FROM jobstats.settings s
),
level AS (
    SELECT l.level, l.width, w.wanted, coalesce(w.wanted, l.retention) AS retention
    FROM jobstats.rollups l
    JOIN (VALUES ('10m', $7), ('1h', $8), ('1d', $9)) AS w (level, wanted) ON w.level = l.level
),
-- The minimum retention of the data that a rollup sums; NULL is for ever.
below AS (
    SELECT l.level, l.width, l.wanted,
        CASE WHEN count(*) FILTER (WHERE f.level IS NOT NULL AND f.retention IS NULL) = 0
            THEN greatest(s.retention, max(f.retention)) END AS kept
    FROM level l
    CROSS JOIN setting s
    LEFT JOIN level f ON f.width < l.width
    GROUP BY l.level, l.width, l.wanted, s.retention
),
rule AS (
    SELECT 1 AS number, s.retention < s.raw_retention AS broken,
        format('retention (%s) is shorter than raw_retention (%s)', s.retention, s.raw_retention) AS problem,
        'Text must not outlive its observation: set a longer retention or a shorter raw_retention.' AS hint
    FROM setting s
    UNION ALL
    SELECT 2, s.retention < s.refresh_lag + interval '1 day',
        format('retention (%s) is shorter than refresh_lag (%s) plus a day', s.retention, s.refresh_lag),
        'Increments must be retained until the daily rollup has summed them: set a longer retention or a shorter refresh_lag.'
    FROM setting s
    UNION ALL
    SELECT 3, s.chunk_interval > s.retention,
        format('chunk_interval (%s) is longer than retention (%s)', s.chunk_interval, s.retention),
        'Chunks are dropped as a whole: set a shorter chunk_interval.'
    FROM setting s
    UNION ALL
    SELECT 4, $5 < s.raw_retention,
        format('compress_after (%s) is shorter than raw_retention (%s)', s.compress_after, s.raw_retention),
        'Late text changes rows younger than raw_retention, and compressed rows are slow to change: set a longer compress_after.'
    FROM setting s
    UNION ALL
    SELECT 5, b.wanted < least(b.kept, interval '100 years') OR b.wanted < interval '100 years' AND b.kept IS NULL,
        format('rollup_%s_retention (%s) is shorter than the retention of its source (%s)', b.level, b.wanted, coalesce(b.kept::text, 'for ever')),
        'A rollup must be retained as long as increments and finer rollups, or longer: set a longer time, or shorten those too.'
    FROM below b
)
SELECT r.problem, r.hint FROM rule r WHERE r.broken ORDER BY r.number, r.problem LIMIT 1
