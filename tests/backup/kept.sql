-- Lists dependent objects and timestamps.
\pset format unaligned
\pset footer off
SELECT count(*), round(sum(write_bytes)) FROM reports.bytes;
SELECT * FROM reports.top ORDER BY total DESC, name;
SELECT * FROM reports.readings ORDER BY name;
SELECT md5(string_agg(o::text, ' ' ORDER BY o.target_id, o."time")) FROM jobstats.observations o;
SELECT md5(string_agg(m::text, ' ' ORDER BY m.began, m.step)) FROM jobstats.maintenance m;
TABLE jobstats.rollups ORDER BY width;
-- Maintenance sets its clock wherever it is called.
SELECT to_jsonb(r) - text 'clock' FROM jobstats.refresh r;
SELECT md5(string_agg(d::text, ' ' ORDER BY d.dirty_id)) FROM jobstats.dirty d;
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') AS timescale \gset
\if :timescale
SELECT hypertable_schema = 'jobstats' AS own, count(*), count(*) FILTER (WHERE is_compressed) AS in_columns
FROM timescaledb_information.chunks GROUP BY 1 ORDER BY 1;
SELECT proc_schema, proc_name, owner, schedule_interval, scheduled FROM timescaledb_information.jobs
WHERE proc_name LIKE 'jobstats%' ORDER BY proc_name;
\endif
SELECT coalesce(current_setting('timescaledb.license', true) = 'timescale', false) AS community \gset
\if :community
SELECT * FROM reports.received ORDER BY bucket;
SELECT * FROM reports.received_1h ORDER BY bucket;
\endif
