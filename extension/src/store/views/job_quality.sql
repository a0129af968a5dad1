-- The status of the usage of each entry in (since, until], which lies within a UTC day, from rollups. Numbers unknown to accounting have
-- no row in entry_jobs, since a user could invent a million of them. So the coverage of accounting is looked up here.
CREATE OR REPLACE FUNCTION jobstats.entry_status(since timestamptz, until timestamptz) RETURNS TABLE (
    cluster text, entry_id bigint, name text, job text, uid bigint, node text, class text, pattern text, status text, job_no bigint,
    calls numeric, bytes numeric
)
LANGUAGE sql STABLE ROWS 1000 SET search_path = pg_catalog, pg_temp SET jit = off
AS $status$
WITH summed AS MATERIALIZED (
    SELECT FROM jobstats.rollups r
    WHERE r.level = '1d' AND entry_status.until - entry_status.since >= interval '24 hours' AND entry_status.until <= r.refreshed
),
active AS MATERIALIZED (
    SELECT t.cluster, i.entry_id, least(min(i.first), max(i.last)) AS first, max(i.last) AS last, sum(i.calls) AS calls, sum(i.bytes) AS bytes
    FROM (
        SELECT i.target_id, i.entry_id, i.first, i.last, @calls@ AS calls, coalesce(i.read_bytes, 0) + coalesce(i.write_bytes, 0) AS bytes
        FROM jobstats.rollup_1d i
        WHERE i.bucket > entry_status.since AND i.bucket <= entry_status.until AND EXISTS (SELECT FROM summed)
        UNION ALL
        SELECT i.target_id, i.entry_id, i.first, i.last, @calls@, coalesce(i.read_bytes, 0) + coalesce(i.write_bytes, 0)
        FROM jobstats.rollup_10m i
        WHERE i.bucket > entry_status.since AND i.bucket <= entry_status.until AND NOT EXISTS (SELECT FROM summed)
    ) i
    JOIN jobstats.targets t ON t.target_id = i.target_id
    GROUP BY t.cluster, i.entry_id
),
identified AS MATERIALIZED (
    SELECT a.cluster, a.entry_id, a.first, a.last, a.calls, a.bytes, e.name, e.job, e.uid, split_part(e.node, text '.', 1) AS node,
        e.status AS identifier, j.status AS matched, j.job_no
    FROM active a
    JOIN jobstats.entries e ON e.entry_id = a.entry_id
    LEFT JOIN jobstats.entry_jobs j ON j.entry_id = a.entry_id AND e.job IS NOT NULL
        AND j.valid_from < entry_status.until AND j.valid_to >= entry_status.until
),
class AS MATERIALIZED (
    SELECT k.pattern, jobstats_internal.as_like(ARRAY[k.pattern]) AS fits, k.class, k.scheduler FROM jobstats.nodes k
),
placed AS MATERIALIZED (
    SELECT n.node, k.pattern, k.class, k.scheduler
    FROM (SELECT DISTINCT i.node FROM identified i WHERE i.node IS NOT NULL) n
    CROSS JOIN LATERAL (
        SELECT k.pattern, k.class, k.scheduler FROM class k
        WHERE n.node LIKE ANY (k.fits)
        ORDER BY length(k.pattern) DESC, k.pattern LIMIT 1) k
),
-- The accounting that is read. It counts for seven days after it was last read: a cluster that is gone must not leave all numbers in doubt.
accounting AS MATERIALIZED (
    SELECT c.cluster, c.source, min(c.since) AS since, max(c.until) + interval '7 days' AS until
    FROM jobstats.covered c
    GROUP BY c.cluster, c.source
)
SELECT i.cluster, i.entry_id, i.name, i.job, i.uid, i.node, p.class, p.pattern,
    CASE
        WHEN i.job IS NULL AND i.identifier IN ('malformed', 'claimed') THEN i.identifier
        WHEN i.job IS NULL THEN 'without job'
        -- A part of the identifier is missing, or cut off: then it may be text that a user has chosen as the job.
        WHEN i.matched = 'known' AND i.identifier IN ('partial', 'truncated') THEN 'partial'
        WHEN i.matched IS NOT NULL THEN i.matched
        -- The accounting of each scheduler that the number may be of has been read for all of the time.
        WHEN (
            SELECT bool_and(EXISTS (
                SELECT FROM (
                    SELECT s.since, s.until FROM jobstats.covered s
                    WHERE s.cluster = c.cluster AND s.source = c.source AND s.until >= i.last
                    ORDER BY s.until LIMIT 1) s
                WHERE s.since <= i.first
                    -- These schedulers account for a job only when it has ended.
                    AND (c.source NOT IN ('lsf', 'gridengine') OR NOT EXISTS (
                        SELECT FROM jobstats.rollup_10m r
                        WHERE r.entry_id = i.entry_id AND r.bucket > s.until - interval '1 day'))))
            FROM accounting c
            WHERE c.since <= i.last AND c.until >= i.first AND (p.scheduler IS NULL OR c.cluster IN (p.scheduler, ''))
        ) THEN 'unconfirmed'
        ELSE 'uncovered'
    END,
    i.job_no, i.calls, i.bytes
FROM identified i
LEFT JOIN placed p ON p.node = i.node
$status$;
COMMENT ON FUNCTION jobstats.entry_status(timestamptz, timestamptz) IS
'Internal: the job, as far as known, of each entry that was active in a span within a UTC day.';

-- The entries and usage of a span by status, with likely causes of unknown jobs. An urgent remedy has a row in health.
CREATE OR REPLACE FUNCTION jobstats.status_quality(since timestamptz, until timestamptz) RETURNS TABLE (
    cluster text, status text, entries bigint, calls numeric, bytes numeric, share double precision, example text, remedy text, urgent boolean
)
LANGUAGE sql STABLE ROWS 10 SET search_path = pg_catalog, pg_temp SET jit = off
AS $quality$
WITH entry AS MATERIALIZED (
    SELECT e.*, e.uid >= s.system_uids_below AS is_user, coalesce(k.uid::text, k.user_name) AS owner, coalesce(k.user_name, k.uid::text) AS owner_name
    FROM jobstats.entry_status(status_quality.since, status_quality.until) e
    CROSS JOIN jobstats.settings s
    LEFT JOIN jobstats.job_ids k ON k.job_no = e.job_no
),
whole AS MATERIALIZED (
    SELECT e.cluster, count(*) AS entries, sum(e.calls) AS calls, count(DISTINCT e.owner) AS owners, min(e.owner_name) AS owner,
        count(DISTINCT e.job) FILTER (WHERE e.status = 'unconfirmed') AS numbers,
        -- A single user, who can make any number, does not count as many.
        count(DISTINCT e.uid) FILTER (WHERE e.status = 'unconfirmed' AND e.is_user) > 1
            OR bool_or(e.status = 'unconfirmed' AND e.uid IS NULL) AS of_many
    FROM entry e
    GROUP BY e.cluster
),
-- Patterns of nodes whose class does not fit the jobs seen there; per kind the worst one.
misplaced AS MATERIALIZED (
    SELECT DISTINCT ON (n.cluster, n.status) n.*
    FROM (
        SELECT e.cluster, e.pattern, e.class, CASE e.class WHEN 'compute' THEN 'without job' ELSE 'known' END AS status,
            count(*) FILTER (WHERE e.job_no IS NOT NULL) AS jobs, count(*) FILTER (WHERE e.status = 'without job' AND e.is_user) AS others,
            min(e.name) FILTER (WHERE CASE e.class WHEN 'compute' THEN e.status = 'without job' AND e.is_user ELSE e.job_no IS NOT NULL END) AS example
        FROM entry e
        WHERE e.class <> 'transfer'
        GROUP BY e.cluster, e.pattern, e.class
    ) n
    WHERE CASE n.class WHEN 'compute' THEN n.others >= 10 AND n.others > n.jobs ELSE n.jobs >= 10 AND n.jobs > n.others END
    ORDER BY n.cluster, n.status, greatest(n.jobs, n.others) DESC, n.pattern
),
accounting AS MATERIALIZED (
    SELECT min(c.since) AS since, max(c.until) AS until, coalesce(bool_or(c.source = 'slurm'), false) AS is_slurm,
        coalesce(bool_or(c.source IN ('lsf', 'gridengine')), false) AS is_late
    FROM jobstats.covered c
),
counted AS (
    SELECT e.cluster, e.status, count(*) AS entries, sum(e.calls) AS calls, sum(e.bytes) AS bytes, min(e.name) AS example,
        min(e.job) AS job, bool_or(e.node IS NOT NULL) AS has_node
    FROM entry e
    GROUP BY e.cluster, e.status
)
SELECT c.cluster, c.status, c.entries, c.calls, c.bytes, (c.calls / nullif(w.calls, 0))::double precision, c.example,
    jobstats_internal.escaped(CASE
        WHEN c.status = 'known' AND m.class IS NOT NULL THEN format(
            'Jobs run on nodes of class %s, for example %s. If these are compute nodes: UPDATE jobstats.nodes SET class = ''compute'' WHERE pattern = %L;',
            m.class, m.example, m.pattern)
        WHEN c.status = 'without job' AND m.class IS NOT NULL THEN format(
            'Most identifiers of users on nodes of class compute have no job, for example %s. If these are login nodes: UPDATE jobstats.nodes SET class = ''login'' WHERE pattern = %L; if not, their processes lack the variable that jobid_var names.',
            m.example, m.pattern)
        WHEN c.status = 'ambiguous' THEN format('Jobs of different users had the same number at the same time, for example in %s%s. %s', c.example,
            coalesce(', because ' || k.schedulers || ' use the same numbers', ''),
            CASE WHEN c.has_node THEN format(
                'Assign the nodes to their scheduler, as in INSERT INTO jobstats.nodes (pattern, scheduler) VALUES (''n*'', %L); then run SELECT jobstats_reidentify();',
                k.one)
            ELSE 'Add the node to identifiers: put %H into jobid_name.' END)
        WHEN c.status = 'unconfirmed' AND w.owners <= 1 AND w.numbers >= 10 AND w.of_many AND a.is_slurm THEN format(
            'Accounting has %s, and lacks %s active job numbers, for example %s. If Slurm has PrivateData=jobs, sacct shows only the jobs of its own user: sacctmgr -i add user NAME account=root adminlevel=Operator',
            coalesce('only the jobs of ' || w.owner, 'no jobs'), w.numbers, c.example)
        WHEN c.status = 'unconfirmed' THEN format(
            'Accounting was read for this time and does not have these jobs (numbers: %s, for example %s). Their identifiers are damaged or forged, or the accounting of their cluster is not read: SELECT cluster, source, max(until) FROM jobstats.covered GROUP BY 1, 2;',
            w.numbers, c.example)
        WHEN c.status = 'uncovered' AND a.since IS NULL THEN
            'No accounting has been read. Feed it from the scheduler: source slurm, pbs, lsf, gridengine or flux.'
        WHEN c.status = 'uncovered' AND a.since >= status_quality.until THEN format(
            'Accounting has been read from %s on. Feed earlier days to know their jobs.', date_trunc('second', a.since))
        WHEN c.status = 'uncovered' AND a.until < least(status_quality.until, now()) - interval '1 hour' THEN format(
            'Accounting has been read up to %s. Check the shipper that reads it.', date_trunc('second', a.until))
        WHEN c.status = 'uncovered' AND a.is_late THEN
            'Accounting lists these jobs after their end. If they ended long ago, check the times in jobstats.covered.'
        WHEN c.status = 'uncovered' THEN
            'Accounting was not read for all of this time: jobstats.covered has the times covered. Feed the rest.'
        WHEN c.status = 'claimed' THEN 'If entry and job are of one person, accounting and clients number users differently; otherwise a user exports others'' job numbers.'
        WHEN c.status = 'malformed' AND 2 * c.entries > w.entries THEN jobstats_internal.ids_remedy(ARRAY(
            SELECT e.name FROM entry e WHERE e.cluster = c.cluster AND e.status = 'malformed' ORDER BY e.name LIMIT 100))
        WHEN c.status = 'malformed' THEN format(
            'These identifiers match no format, for example %s. If some clients have another jobid_name, add its format to jobstats.entry_formats, then run SELECT jobstats_reidentify();',
            c.example)
    END),
    CASE c.status
        WHEN 'known' THEN m.class IS NOT NULL
        WHEN 'without job' THEN m.class IS NOT NULL
        WHEN 'unconfirmed' THEN w.of_many AND w.numbers >= 10 AND 20 * c.entries >= w.entries
        WHEN 'ambiguous' THEN c.entries >= 10 AND 20 * c.entries >= w.entries
        ELSE false
    END
FROM counted c
JOIN whole w ON w.cluster = c.cluster
CROSS JOIN accounting a
LEFT JOIN misplaced m ON m.cluster = c.cluster AND m.status = c.status
LEFT JOIN LATERAL (
    SELECT string_agg(i.scheduler, ' and ' ORDER BY i.scheduler) FILTER (WHERE i.several) AS schedulers, min(i.scheduler) AS one
    FROM (SELECT i.scheduler, count(*) OVER () > 1 AS several FROM jobstats.job_ids i WHERE i.job = c.job GROUP BY i.scheduler) i
) k ON c.status = 'ambiguous'
$quality$;
COMMENT ON FUNCTION jobstats.status_quality(timestamptz, timestamptz) IS
'Internal: the rows of the view job_quality for a span within a UTC day.';

-- Of each day on which something was observed.
CREATE OR REPLACE VIEW jobstats.job_quality AS
SELECT d.start AS day, q.cluster, q.status, q.entries, q.calls, q.bytes, q.share, q.example, q.remedy
FROM (
    SELECT DISTINCT day.start
    FROM jobstats.observed_spans o
    CROSS JOIN LATERAL generate_series(date_bin(interval '24 hours', o.since, timestamptz 'epoch'),
        o.until - interval '1 microsecond', interval '24 hours') AS day (start)
) d
CROSS JOIN LATERAL jobstats.status_quality(d.start, d.start + interval '24 hours') q
