-- What is stored of the rules of filters and of nodemaps in a case (:case), as tests/proof/gauges.awk prints it. A server that has given its targets
-- back said nothing of their services last.
SELECT server, name, concat_ws(' ', labels ->> 'service', labels ->> 'rule', labels ->> 'stats', labels ->> 'operation'), coalesce(counter, value)
FROM (SELECT *, max("time") OVER (PARTITION BY server) AS last FROM jobstats.samples WHERE cluster = :'case') said
WHERE "time" = last AND name ~ '^(tbf|nodemap)_';
