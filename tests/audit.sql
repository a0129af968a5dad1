-- Audits the complete store: there is no difference, and no observation is left out.
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE TEMPORARY TABLE disagreements AS
SELECT a.* FROM (SELECT min("time") - interval '1 second' AS since, max("time") AS until FROM jobstats.observations) span,
    jobstats_audit(span.since, span.until) a;
SELECT * FROM disagreements LIMIT 20;
DO $$
BEGIN
    ASSERT (SELECT count(*) > 0 FROM jobstats.observations), 'there is nothing to audit';
    ASSERT NOT EXISTS (SELECT FROM disagreements), 'what is stored disagrees with the raw text';
END
$$;
