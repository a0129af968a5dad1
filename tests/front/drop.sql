-- Drops the targets of some servers.
\set ON_ERROR_STOP on
SELECT array_agg(t.name) AS gone FROM jobstats.targets t
WHERE EXISTS (SELECT FROM jobstats.observations o WHERE o.target_id = t.target_id AND o.server ~ :'servers') \gset
SELECT count(jobstats_alter_target(n.name, 'alpha', retired => true)) FROM unnest(:'gone'::text[]) AS n (name);
SELECT jobstats_drop_targets(:'gone'::text[], 'alpha');
