-- Sends the texts of some servers after one time and up to another, and the texts of people and jobs, which all stores get.
SET client_min_messages = error;
INSERT INTO jobstats.feed
SELECT t.* FROM public.texts t
WHERE t.source <> 'lctl' OR t.server ~ :'servers' AND t."time" > :'since' AND t."time" <= :'until'
ORDER BY t.source = 'lctl', t."time", t.server;
