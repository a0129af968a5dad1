-- Writes rows that are new or have changed.
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, @names@, extra, updated, provenance, source)
SELECT f.scheduler, f.job, f.label, f.submitted, @values@, f.extra::jsonb, f.updated, f.provenance::jsonb, $1
FROM unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::timestamptz[], $8::text[], @arrays@)
    AS f (scheduler, job, label, submitted, extra, updated, provenance, @names@)
ON CONFLICT (scheduler, job, label, submitted, started) DO UPDATE
SET @updates@, extra = excluded.extra, source = excluded.source, updated = excluded.updated, provenance = excluded.provenance
