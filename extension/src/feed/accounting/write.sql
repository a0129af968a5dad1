-- Writes rows that are new or have changed.
INSERT INTO jobstats.jobs (scheduler, job, label, submitted, @names@, extra, updated, provenance, source)
SELECT f.scheduler, f.job, f.label, f.submitted, @values@, f.extra::jsonb, f.updated, f.provenance::jsonb, $24
FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], @arrays@, $21::text[], $22::timestamptz[], $23::text[])
    AS f (scheduler, job, label, submitted, @names@, extra, updated, provenance)
ON CONFLICT (scheduler, job, label, submitted, started) DO UPDATE
SET @updates@, extra = excluded.extra, source = excluded.source, updated = excluded.updated, provenance = excluded.provenance
