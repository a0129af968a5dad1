-- Holds a lock for about as long as locks.sql waits for it.
\set length random(2000, 4000)
BEGIN;
LOCK TABLE jobstats.locks IN ROW EXCLUSIVE MODE;
\sleep :length us
COMMIT;
