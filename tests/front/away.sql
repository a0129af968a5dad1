-- What a front answers while nodes are away.
SELECT name, round(coverage::numeric, 3) AS coverage FROM jobstats_totals('2026-03-10 00:10Z', '2026-03-10 02:50Z', 'write', by => 'kind') ORDER BY name;
SELECT t.name, round(t.coverage::numeric, 3) AS coverage
FROM jobstats_totals('2026-03-10 00:10Z', '2026-03-10 02:50Z', 'write_bytes', by => 'target', filter => 'target=*OST0001,*OST0002') t ORDER BY t.name;
SELECT count(*) > 0 AS has_names FROM jobstats_top('2026-03-10 00:10Z', '2026-03-10 02:50Z', by => 'user') WHERE name !~ '^[0-9]+$';
