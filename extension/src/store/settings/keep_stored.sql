-- Raises retentions to the age of the stored data plus a day, but not above the retention of the rollups that sum it.
UPDATE jobstats.settings AS setting
SET raw_retention = greatest(setting.raw_retention, least(stored.raw + interval '1 day', rollup.retention)),
    retention = greatest(setting.retention, least(greatest(stored.raw, stored.observed) + interval '1 day', rollup.retention)),
    rejects_retention = greatest(setting.rejects_retention, stored.rejects + interval '1 day')
FROM (
    SELECT now() - (SELECT min(r."time") FROM jobstats.raw AS r) AS raw,
        now() - (SELECT min(o."time") FROM jobstats.observations AS o) AS observed,
        now() - (SELECT min(r.received) FROM jobstats.rejects AS r) AS rejects
) AS stored,
    (SELECT min(r.retention) AS retention FROM jobstats.rollups AS r) AS rollup
