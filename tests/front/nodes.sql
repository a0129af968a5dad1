-- How the nodes of a front are.
SELECT name, accounting, targets, left_out_since IS NULL AS shown, problem FROM jobstats.front_nodes;
SELECT target, server, last_observation, remedy IS NULL AS well FROM jobstats.health WHERE states = '{node}';
SELECT line FROM regexp_split_to_table(jobstats_metrics(), E'\n') line WHERE line ~ '^jobstats_node_up';
