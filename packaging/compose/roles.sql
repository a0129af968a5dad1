-- The roles of compose.yaml, in the database that POSTGRES_DB names. Only the containers' own network reaches it.
CREATE ROLE shipper LOGIN PASSWORD 'shipper';
SELECT jobstats_grant_writer('shipper', 'small');
CREATE ROLE grafana LOGIN PASSWORD 'grafana';
SELECT jobstats_grant_reader('grafana');
-- Maintenance, by the Community edition of TimescaleDB, which the image has.
SELECT coalesce(current_setting('timescaledb.license', true), '') = 'timescale' AS community \gset
\if :community
SELECT public.add_job('jobstats_internal.maintain_job', '10 minutes');
\endif
