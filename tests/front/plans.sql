-- The plans of questions, each after its name and how many foreign scans of a node it may take. Node 0 knows the names.
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
SET client_min_messages = log;
\set window '\'2026-03-10 00:10Z\', \'2026-03-10 02:50Z\''
\o /dev/null
\warn question 5 top
SELECT * FROM jobstats_top(:window, by => 'job');
\warn question 4 top of users
SELECT * FROM jobstats_top('2026-03-10 00:00Z', '2026-03-10 02:00Z', by => 'user');
\warn question 3 totals
SELECT * FROM jobstats_totals(:window);
\warn question 3 rates
SELECT * FROM jobstats_rates(:window, '{write_bytes}', by => 'target', step => '1 hour');
\warn question 5 summary
SELECT * FROM jobstats_summary(:window, by => 'uid');
\warn question 7 balance
SELECT * FROM jobstats_balance(:window);
\warn question 4 densities
SELECT * FROM jobstats_densities(:window, 'write_bytes');
\warn question 4 unaccounted
SELECT * FROM jobstats_untracked(:window);
\warn question 5 changes
SELECT * FROM jobstats_changes(:window, baseline_since => '2026-03-09 22:00Z', baseline_until => '2026-03-10 00:40Z');
\warn question 4 usual
SELECT * FROM jobstats_baseline('2026-03-10 00:00Z', '2026-03-10 02:00Z');
\warn question 9 findings
SELECT * FROM jobstats_findings(:window);
\warn question 5 top of one node
SELECT * FROM jobstats_top(:window, by => 'job', filter => 'target=*OST0005');
