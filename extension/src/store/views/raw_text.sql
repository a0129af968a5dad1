CREATE OR REPLACE VIEW jobstats.raw_text AS
SELECT r."time", r.target_id, r.server, @extschema@.jobstats_unpack(r.body) AS body,
    @extschema@.jobstats_unpack(r.carried) AS carried
FROM jobstats.raw r;
