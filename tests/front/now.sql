-- Answers about the present, except ages.
SET client_min_messages = error;
SELECT t.cluster, t.target, t.server, t.since, t."time", t.usual_interval, t.entries, t.problems, t.added, t.resets, t.removed, t.before, t.after
FROM jobstats_targets() t ORDER BY t.cluster, t.target;
SELECT n.* FROM (SELECT jsonb_pretty(to_jsonb(n) - 'age') AS row FROM jobstats_now(n => 3) n) n ORDER BY n.row COLLATE "C";
SELECT t.* FROM jobstats_totals(:'live', by => 'target') t ORDER BY t.name, t.operation COLLATE "C";
SELECT line FROM regexp_split_to_table(jobstats_metrics(), E'\n') line WHERE line !~ '^#|_(age|delay|lag)_|_delay_|rejects|maintenance|^jobstats_node_up' ORDER BY line COLLATE "C";
