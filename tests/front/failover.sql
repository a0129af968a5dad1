-- The newest texts of another node's server, read on one of this node's.
SET client_min_messages = error;
INSERT INTO jobstats.feed
SELECT (jsonb_populate_record(t, '{"server": "scratch-oss2"}')).*
FROM public.texts t WHERE t.server = 'scratch-oss1' ORDER BY t."time" DESC LIMIT 3;
