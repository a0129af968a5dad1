-- The extension and an empty store, where the database is not already the copy of one.
SELECT to_regnamespace('jobstats') IS NULL AS is_empty \gset
\if :is_empty
CREATE EXTENSION jobstats;
DO $$ BEGIN PERFORM jobstats_setup(); END $$;
\endif
