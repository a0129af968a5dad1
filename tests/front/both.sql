-- A front's answers about targets on two nodes.
SELECT cluster, target, states, remedy FROM jobstats.health WHERE states = '{node}' AND cluster IS NOT NULL;
SELECT count(*) AS series, count(DISTINCT line) AS distinct FROM regexp_split_to_table(jobstats_metrics(), E'\n') line WHERE line LIKE 'jobstats_target_state%OST0000%';
SELECT jobstats_attach('node2');
