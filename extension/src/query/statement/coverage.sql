SELECT scope.unit_group, scope.step@dimensions@,
    coalesce(sum(scope.observed), 0)::double precision / 1000000 AS observed,
    count(*) AS targets, coalesce(sum(scope.idle), 0)::double precision AS idle, bool_or(scope.mdt) AS mdt, bool_or(scope.target_kind = 'OST') AS ost
FROM scope
GROUP BY scope.unit_group, scope.step@dimensions@
