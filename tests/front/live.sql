-- Repeats the last texts of some servers every quarter of an hour, as if read from a given time on, so that no server is late or silent
-- soon.
SET client_min_messages = error;
INSERT INTO jobstats.feed
SELECT (jsonb_populate_record(n.text, jsonb_build_object('time', timestamptz :'live' + 5 * (n."time" - timestamptz '2026-03-10 02:50Z')))).*
FROM (
    SELECT t AS text, t.server, t."time"
    FROM public.texts t
    WHERE coalesce(t.source, 'lctl') = 'lctl' AND t.server ~ :'servers' AND t."time" > timestamptz '2026-03-10 02:50Z'
) n
ORDER BY n."time", n.server;
