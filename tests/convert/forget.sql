-- Somebody is forgotten meanwhile, who did nothing: it takes the locks of one who did.
SET client_min_messages = warning;
SELECT count(*) FROM jobstats_forget_user(424242);
SELECT pg_sleep(5);
