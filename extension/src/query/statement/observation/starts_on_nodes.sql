SELECT edge.target_id, edge.since AS begins, edge.earliest AS "time", NULL::timestamptz AS previous, edge.beyond, edge.latest FROM edge WHERE edge.earliest IS NOT NULL
UNION ALL
SELECT edge.target_id, baseline."time", baseline."time", baseline.previous, edge.beyond, edge.latest
FROM edge JOIN baseline ON baseline.target_id = edge.target_id AND baseline."time" > edge.earliest
