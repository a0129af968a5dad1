-- Compares the answers about idle clusters.
SELECT w.what, w.value AS before, n.value AS now FROM said_before w FULL JOIN said() n USING (what, value)
WHERE w.what IS NULL OR n.what IS NULL;
DO $$ BEGIN ASSERT NOT EXISTS (TABLE said_before EXCEPT ALL SELECT * FROM said()), 'a reader misses something'; END $$;
DO $$ BEGIN ASSERT NOT EXISTS (SELECT * FROM said() EXCEPT ALL TABLE said_before), 'a reader sees too much'; END $$;
