-- The accounting of a cluster: raw number, label, cluster, start and end in minutes, user, account.
CREATE FUNCTION texts.run(job text, label text, scheduler text, started numeric, ended numeric, uid integer, account text, nodes text DEFAULT 'n[01-09]')
RETURNS text LANGUAGE sql AS $$
SELECT concat_ws('|', job, label, scheduler, extract(epoch FROM at(started - 1))::bigint, extract(epoch FROM at(started))::bigint,
    coalesce(extract(epoch FROM at(ended))::bigint::text, 'Unknown'), uid, 'user' || uid, account,
    CASE WHEN ended IS NULL THEN 'RUNNING' ELSE 'COMPLETED' END, nodes) || E'\n'
$$;
CREATE FUNCTION texts.account(minute numeric, runs text) RETURNS text LANGUAGE sql AS $$
SELECT i.action FROM jobstats_ingest('', 'slurm', at(minute), source => 'slurm',
    body => translate(E'JobIDRaw|JobID|Cluster|Submit|Start|End|UID|User|Account|State|NodeList\n' || runs, '|', chr(31))) i
$$;
