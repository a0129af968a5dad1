\set step :step + 1
INSERT INTO jobstats.feed (cluster, server, "time", body)
SELECT 'at once', 'n1', texts.at(minute), body FROM work WHERE feeder = :client_id AND step = :step;
