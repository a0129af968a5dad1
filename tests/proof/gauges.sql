-- Prints the stored TBF rules and nodemap counters of a case (:case), in the form of tests/proof/gauges.awk. A server that has given its
-- targets back no longer reports its services.
SELECT server, name, concat_ws(' ', labels ->> 'service', labels ->> 'rule', labels ->> 'stats', labels ->> 'operation'), coalesce(counter, value)
FROM (SELECT *, max("time") OVER (PARTITION BY server) AS last FROM jobstats.samples WHERE cluster = :'case') said
WHERE "time" = last AND name ~ '^(tbf|nodemap)_';
