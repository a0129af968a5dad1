-- Creates a store that retains old days, for a site with two clusters whose nodes have different names.
UPDATE jobstats.settings SET retention = '1000 years', raw_retention = '1000 years', jobs_retention = '1000 years';
UPDATE jobstats.rollups SET retention = NULL;
INSERT INTO jobstats.nodes (pattern, scheduler) VALUES ('a*', 'alpha'), ('b*', 'beta');
