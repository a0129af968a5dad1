-- The rows of submissions, as JSON; `number` is the position of the submission. Of one that has more than $2 bytes the rows are NULL.
SELECT r.number, CASE WHEN sum(octet_length(r.form)) OVER (PARTITION BY r.number) <= $2 THEN r.form END AS form
FROM (
    SELECT k.number - 1 AS number, jsonb_strip_nulls(to_jsonb(f))::text AS form
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS k (submission, number)
    CROSS JOIN LATERAL jsonb_to_record(k.submission) AS s (scheduler text, job text, label text, submitted bigint)
    JOIN jobstats.jobs j ON j.scheduler = s.scheduler AND j.job = s.job AND j.label = s.label
        AND j.submitted IS NOT DISTINCT FROM timestamptz 'epoch' + s.submitted * interval '1 microsecond'
    CROSS JOIN LATERAL (
        SELECT (extract(epoch FROM j.started) * 1000000)::bigint AS started, (extract(epoch FROM j.ended) * 1000000)::bigint AS ended,
            j.uid, j.user_name, j.gid, j.group_name, j.account, j."partition", j.qos, j.job_name, j.state, j.nodes, j.node_list, j.cpus,
            j.exit_code, j.parent, j.extra, (extract(epoch FROM j.updated) * 1000000)::bigint AS updated, j.provenance
    ) f
) r
