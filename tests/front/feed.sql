-- The texts of some servers, and those of people and jobs, which all stores get.
SET client_min_messages = error;
INSERT INTO jobstats.feed SELECT t.* FROM public.texts t WHERE t.source <> 'lctl' OR t.server ~ :'servers' ORDER BY t.source = 'lctl', t."time", t.server;
