CREATE OR REPLACE VIEW jobstats.front_nodes AS
SELECT node.name, node.node, node.accounting, node.version, node.targets, node.last_observation, node.refreshed, node.answered, node.left_out_since, node.problem
FROM jobstats_internal.nodes_of_front() node;
