-- A store that keeps days long past, of a site with two clusters whose nodes have names of their own.
UPDATE jobstats.settings SET retention = '1000 years', raw_retention = '1000 years', jobs_retention = '1000 years';
UPDATE jobstats.rollups SET retention = NULL;
INSERT INTO jobstats.nodes (pattern, scheduler) VALUES ('a*', 'alpha'), ('b*', 'beta');
