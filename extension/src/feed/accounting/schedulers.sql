-- Notes up to when texts have named jobs of schedulers.
INSERT INTO jobstats.schedulers AS s (scheduler, newest) SELECT n.scheduler, $2 FROM unnest($1::text[]) AS n (scheduler)
ON CONFLICT (scheduler) DO UPDATE SET newest = excluded.newest WHERE s.newest < excluded.newest
