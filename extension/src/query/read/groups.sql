-- The names that groups have or, if any had others, those at a time ($2).
SELECT team.gid, team.group_name
FROM @groups@ team
