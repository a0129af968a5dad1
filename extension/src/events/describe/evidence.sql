-- How many texts of event $1 are kept, their bytes, until when all of them are, and how many others were read.
WITH kept AS (
    SELECT r.target_id, r."time", octet_length(r.body) AS bytes
    FROM jobstats_internal.evidence_spans($1, timestamptz '-infinity') s
    JOIN jobstats.raw r ON r.target_id = s.target_id AND r."time" >= s.since AND r."time" <= s.until
    UNION
    SELECT e.target_id, e."time", octet_length(e.body)
    FROM jobstats_internal.evidence_spans($1, timestamptz '-infinity') s
    JOIN jobstats.evidence e ON e.target_id = s.target_id AND e."time" >= s.since AND e."time" <= s.until
)
SELECT count(*) AS texts, coalesce(sum(k.bytes), 0)::bigint AS bytes,
    to_char(min(k."time") + jobstats_internal.evidence_kept_for(), text 'YYYY-MM-DD HH24:MI') AS until,
    greatest((
        SELECT count(DISTINCT (o.target_id, o."time"))
        FROM jobstats_internal.evidence_spans($1, timestamptz '-infinity') s
        JOIN jobstats.observations o ON o.target_id = s.target_id AND o."time" >= s.since AND o."time" <= s.until) - count(*), 0) AS others
FROM kept k
