-- jobstats_operations(): the list that columns, comments and documentation follow.
\set ECHO all
CREATE EXTENSION jobstats;
SELECT operation, kind, unit, mdt, ost, metadata, service_time, doubles, since FROM jobstats_operations();
SELECT operation, system_calls, meaning FROM jobstats_operations();
SELECT operation, unit, mdt, ost, system_calls FROM jobstats_operations() WHERE operation IN ('open', 'getattr', 'write_bytes');
SELECT jobstats_setup() IS NOT NULL AS ready \gset
-- Each has its column, and requests have one for the time spent.
SELECT o.operation FROM jobstats_operations() o WHERE NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = 'jobstats.increments'::regclass AND a.attname = o.operation);
SELECT o.operation FROM jobstats_operations() o WHERE o.kind = 'requests' AND NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = 'jobstats.increments'::regclass AND a.attname = o.operation || '_usecs');
