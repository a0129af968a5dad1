-- All increments, their details without what follows from the columns, which version 0.1 stored too.
SELECT count(*), md5(string_agg(r.row, E'\n' ORDER BY r.row COLLATE "C"))
FROM (
    SELECT (to_jsonb(i) || jsonb_build_object('detail', d.in_brief, 'entry_id', e.name))::text AS row
    FROM jobstats.increments i
    JOIN jobstats.entries e USING (entry_id)
    JOIN (
        SELECT c.target_id, c.observed, c.entry_id, jsonb_object_agg(c.key, c.total) AS totals
        FROM (
            SELECT i.target_id, i.observed, i.entry_id, j.key, sum(j.value::numeric) AS total
            FROM jobstats.increments i CROSS JOIN LATERAL jsonb_each(to_jsonb(i)) j
            WHERE jsonb_typeof(j.value) = 'number'
            GROUP BY i.target_id, i.observed, i.entry_id, j.key) c
        GROUP BY c.target_id, c.observed, c.entry_id) t USING (target_id, observed, entry_id)
    CROSS JOIN LATERAL jobstats_internal.detail_in_brief(i.detail, t.totals) AS d (in_brief)) r;
