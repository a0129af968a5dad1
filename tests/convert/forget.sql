-- Meanwhile an inactive user is forgotten, which takes the same locks as for an active one.
SET client_min_messages = warning;
SELECT count(*) FROM jobstats_forget_user(424242);
SELECT pg_sleep(5);
