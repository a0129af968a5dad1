-- Creates a store that retains old days, for a site with two clusters whose nodes have different names.
UPDATE jobstats.settings SET retention = '1000 years', raw_retention = '1000 years', jobs_retention = '1000 years';
UPDATE jobstats.rollups SET retention = NULL;
-- Damaged identifiers are partial only where the job comes first.
UPDATE jobstats.entry_formats SET format = '%j:%u:%H' WHERE format = '%u:%j:%H';
INSERT INTO jobstats.nodes (pattern, scheduler) VALUES ('a*', 'alpha'), ('b*', 'beta');
