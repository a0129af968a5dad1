-- For tests of the store: the extension, the store, texts, a clock, and views of the stored rows.
\ir new_store.sql
\ir texts.sql

-- Minute 0 of every test is a full hour, three to four hours ago.
CREATE TABLE texts.clock AS SELECT date_trunc('hour', now()) - interval '3 hours' AS zero;
CREATE FUNCTION texts.at(minute numeric) RETURNS timestamptz LANGUAGE sql STABLE AS $$
SELECT zero + minute * interval '1 minute' FROM texts.clock
$$;
CREATE FUNCTION texts.minute("time" timestamptz) RETURNS numeric LANGUAGE sql STABLE AS $$
SELECT trim_scale(extract(epoch FROM "time" - zero) / 60) FROM texts.clock
$$;

CREATE VIEW texts.increments AS
SELECT t.cluster, t.name AS target, e.name AS entry, minute(i.since) AS since, minute(i."time") AS until,
    minute(i.observed) AS observed, i.reset, i.write, i.write_bytes, i.punch, i.open, i.open_usecs, i.getattr, i.detail
FROM jobstats.increments i JOIN jobstats.targets t USING (target_id) JOIN jobstats.entries e USING (entry_id)
ORDER BY t.cluster, t.name, i.observed, e.name COLLATE "C", i."time", i.since;

CREATE VIEW texts.observations AS
SELECT t.cluster, t.name AS target, o.server, minute(o.since) AS since, minute(o."time") AS "time",
    o.entries, o.active, o.added, o.resets, o.removed, o.carried, o.unknown, o.problems
FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
ORDER BY t.cluster, t.name, o."time";

CREATE VIEW texts.rejects AS
SELECT cluster, server, target, minute("time") AS "time", line, reason, replace(left(text, 60), E'\n', '⏎') AS text
FROM jobstats.rejects
ORDER BY jobstats.rejects."time", target, line, reason, jobstats.rejects.text;

-- Every row that is stored of one cluster and not of the other; how a text came and when it was received apart.
CREATE FUNCTION texts.differences(a text, b text) RETURNS TABLE (cluster text, relation text, stored jsonb)
LANGUAGE sql STABLE AS $$
WITH rows AS (
    SELECT t.cluster, 'increments' AS relation, to_jsonb(i) - 'target_id' || jsonb_build_object('target', t.name) AS stored
    FROM jobstats.increments i JOIN jobstats.targets t USING (target_id)
    UNION ALL
    SELECT t.cluster, 'observations', to_jsonb(o) - 'target_id' - 'received' || jsonb_build_object('target', t.name)
    FROM jobstats.observations o JOIN jobstats.targets t USING (target_id)
    UNION ALL
    SELECT t.cluster, 'raw', to_jsonb(r) - 'target_id' || jsonb_build_object('target', t.name)
    FROM jobstats.raw_text r JOIN jobstats.targets t USING (target_id)
    UNION ALL
    SELECT t.cluster, 'target_increments', to_jsonb(w) - 'target_id' || jsonb_build_object('target', t.name)
    FROM jobstats.target_increments w JOIN jobstats.targets t USING (target_id)
    UNION ALL
    SELECT q.cluster, 'server_increments', to_jsonb(q) - 'cluster' FROM jobstats.server_increments q
)
(SELECT a, relation, stored FROM rows WHERE rows.cluster = a EXCEPT ALL SELECT a, relation, stored FROM rows WHERE rows.cluster = b)
UNION ALL
(SELECT b, relation, stored FROM rows WHERE rows.cluster = b EXCEPT ALL SELECT b, relation, stored FROM rows WHERE rows.cluster = a)
ORDER BY 1, 2, 3
$$;
