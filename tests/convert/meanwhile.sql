-- While the store is converted and fed it says of what nobody feeds the same as before, and of the rest nothing that the
-- raw text does not say.
SET client_min_messages = warning;
SELECT w.what, w.value AS before, n.value AS now FROM said_before w FULL JOIN said() n USING (what, value)
WHERE w.what IS NULL OR n.what IS NULL;
DO $$ BEGIN ASSERT NOT EXISTS (TABLE said_before EXCEPT ALL SELECT * FROM said()), 'a reader misses something'; END $$;
DO $$ BEGIN ASSERT NOT EXISTS (SELECT * FROM said() EXCEPT ALL TABLE said_before), 'a reader sees too much'; END $$;
\ir ../stress/meanwhile.sql
