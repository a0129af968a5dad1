-- A front's answers about targets on two nodes.
SELECT cluster, target, status, remedy FROM jobstats.health WHERE status = 'node' AND cluster IS NOT NULL;
SELECT count(*) AS series, count(DISTINCT line) AS distinct FROM regexp_split_to_table(jobstats_metrics(), E'\n') line WHERE line LIKE 'jobstats_target_status%OST0000%';
SELECT jobstats_attach('node2');
