-- What a front answers while nodes are away.
SELECT kind, round(coverage::numeric, 3) AS coverage FROM jobstats_totals('2026-03-10 00:10Z', '2026-03-10 02:50Z', '{write}', by => '{kind}') ORDER BY kind;
SELECT t.target, round(t.coverage::numeric, 3) AS coverage
FROM jobstats_totals('2026-03-10 00:10Z', '2026-03-10 02:50Z', '{write_bytes}', by => '{target}', target => '{*OST0001,*OST0002}') t ORDER BY t.target;
SELECT count(*) > 0 AS has_names FROM jobstats_top('2026-03-10 00:10Z', '2026-03-10 02:50Z', by => '{user_name}') WHERE user_name IS NOT NULL;
