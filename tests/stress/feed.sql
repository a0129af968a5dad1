\set step :step + 1
-- Not all that is written is committed at once: maintenance meets feeds that are half done.
BEGIN;
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'at once', 'n1', texts.at(minute), body FROM work WHERE feeder = :client_id AND step = :step;
\sleep 30 ms
COMMIT;
