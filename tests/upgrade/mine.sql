-- What a user has built on top of a view of the store.
CREATE VIEW public.mine AS SELECT workload, sum(write_bytes) AS write_bytes FROM jobstats.rates GROUP BY workload;
