-- So does a transaction that goes on looking at the time when it began, whatever has been converted since.
SET client_min_messages = warning;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM said_before;
SELECT pg_sleep(1.5);
\ir said.sql
COMMIT;
