-- Lists each dashboard query once, as Grafana fills it in for a window with data. Queries about the present have ages.
\set ON_ERROR_STOP off
\set ECHO queries
\pset format unaligned
SET timezone = 'UTC';
\set dashboards `echo '['; sed -s '$s/$/,/' dashboards/*.json | sed '$s/,$//'; echo ']'`
SELECT job AS large FROM jobstats.jobs WHERE ended BETWEEN '2026-03-10 01:00Z' AND '2026-03-10 02:00Z' ORDER BY nodes DESC, job LIMIT 1 \gset
SELECT DISTINCT regexp_replace(regexp_replace(replace(replace(replace(replace(replace(replace(q.query #>> '{}',
    '$__timeFrom()', quote_literal('2026-03-10 00:10Z')), '$__timeTo()', quote_literal('2026-03-10 02:50Z')), '${step:sqlstring}', quote_literal('10 minutes')),
    '${rank:sqlstring}', quote_literal('service_time')), '${operation:sqlstring}', quote_literal('write')), '${job:sqlstring}', quote_literal(:'large')),
    '\$\{(cluster|filesystem|kind|target):sqlstring\}', quote_literal('*'), 'g'), '\$\{(account|user):sqlstring\}', 'NULL', 'g')
FROM jsonb_array_elements(:'dashboards'::jsonb) d (dashboard)
CROSS JOIN LATERAL (
    SELECT jsonb_path_query(d.dashboard, '$.**.rawSql') UNION ALL SELECT jsonb_path_query(d.dashboard, '$.templating.list[*] ? (@.type == "query").query')
) q (query)
WHERE q.query #>> '{}' !~ 'jobstats[.]health' \gexec
