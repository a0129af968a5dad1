-- Personal data by column. Forgetting, jobstats_personal_data() and the test personal_columns, which finds columns of text that are missing here, use
-- this list. `becomes` is the value of a forgotten row r: $1 is the pseudonym of the user (NULL: one for each row's user), $2 the job numbers that
-- others have too, and $3 whether the identifier finds its forgotten entry again. DELETE removes the row; a name with () is the function that changes
-- it; NULL keeps it for the reason. `holds` is NULL without personal data. A trace leads to a person through another column or row.

CREATE FUNCTION jobstats_internal.columns_of_people() RETURNS TABLE (relation text, "column" text, holds text, becomes text, reason text)
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT r.relation, c.name, l.holds, l.becomes, l.reason
FROM (VALUES
    ('{entries}', '{name}', 'identifier', 'CASE WHEN $3 THEN jobstats_internal.pseudonym(r.name) ELSE jobstats_internal.name_for_ever(r.entry_id) END', NULL),
    ('{entries,jobs,job_ids,job_summaries}', '{job}', 'job', 'jobstats_internal.pseudonym_of_job(r.job, $2)', NULL),
    ('{entries}', '{workload}', 'trace', 'coalesce(jobstats_internal.pseudonym_of_job(r.job, $2),
        CASE WHEN $3 THEN jobstats_internal.pseudonym(r.name) ELSE jobstats_internal.name_for_ever(r.entry_id) END)', NULL),
    -- The system keeps its own work for a job.
    ('{entries}', '{uid}', 'user', 'jobstats_internal.pseudonym_of_user(r.uid, NULL::text)', NULL),
    ('{entries}', '{gid}', 'group', 'NULL', NULL),
    ('{entries}', '{node}', 'node', 'NULL', NULL),
    ('{entries}', '{executable,pid}', 'program', 'NULL', NULL),
    ('{entries}', '{claimed}', 'job', 'NULL', NULL),
    ('{entries}', '{format}', 'trace', 'NULL', NULL),
    ('{jobs,job_ids,job_summaries}', '{label}', 'job', 'jobstats_internal.pseudonym(r.label)', NULL),
    ('{jobs}', '{parent}', 'trace', 'jobstats_internal.pseudonym(r.parent)', NULL),
    ('{job_ids}', '{job_group}', 'trace', 'jobstats_internal.pseudonym(r.job_group)', NULL),
    ('{jobs,job_ids,job_summaries,rollup_10m_users,rollup_1h_users,rollup_1d_users,rollup_1h_members,rollup_1d_members}', '{uid}', 'user',
        'coalesce($1, jobstats_internal.pseudonym_of_user(r.uid, r.user_name))', NULL),
    ('{jobs,job_ids,job_summaries,rollup_10m_users,rollup_1h_users,rollup_1d_users,rollup_1h_members,rollup_1d_members}', '{user_name}', 'user', 'NULL', NULL),
    ('{jobs,job_ids,job_summaries,rollup_10m_users,rollup_1h_users,rollup_1d_users,rollup_1h_members,rollup_1d_members}', '{gid,group_name}', 'group', 'NULL', NULL),
    ('{jobs,job_ids,job_summaries}', '{job_name}', 'free text', 'NULL', NULL),
    -- It names the user who cancelled the job.
    ('{jobs,job_ids,job_summaries}', '{state}', 'trace', 'jobstats_internal.without_canceller(r.state)', NULL),
    ('{jobs}', '{node_list}', 'node', 'NULL', NULL),
    ('{jobs}', '{extra}', 'free text', 'NULL', NULL),
    ('{jobs}', '{provenance}', 'trace', 'NULL', NULL),
    ('{jobs,job_ids,job_summaries,rollup_10m_accounts,rollup_1h_accounts,rollup_1d_accounts,rollup_1h_members,rollup_1d_members}', '{account}',
        'account', NULL, 'sums by account stay'),
    ('{users,earlier_users,to_resolve}', '{uid,user_name}', 'user', 'DELETE', NULL),
    ('{users,earlier_users,groups,earlier_groups}', '{gid}', 'group', 'DELETE', NULL),
    ('{groups,earlier_groups}', '{group_name}', 'group', 'DELETE', NULL),
    ('{members}', '{role,uid}', 'user', 'DELETE', NULL),
    ('{managers}', '{uid}', 'user', 'DELETE', NULL),
    ('{managers}', '{account}', 'account', 'DELETE', NULL),
    ('{used,used_now,used_first}', '{id}', 'user', 'forget_used()', NULL),
    ('{events}', '{culprits}', 'user', 'forget_culprits()', NULL),
    ('{forgotten}', '{uid}', 'user', NULL, 'until no text is left that names the user'),
    ('{forgotten}', '{user_names,gids}', 'trace', NULL, 'until no text is left that names the user'),
    ('{increments,rollup_10m,rollup_1h,rollup_1d}', '{entry_id}', 'identifier', NULL, 'a hash under a secret'),
    ('{raw}', '{body}', 'raw text', NULL, 'raw_retention'),
    ('{raw,evidence}', '{carried}', 'trace', NULL, 'as long as the body'),
    ('{evidence}', '{body}', 'raw text', NULL, 'evidence_retention'),
    ('{texts}', '{body}', 'raw text', NULL, 'raw_retention'),
    ('{rejects}', '{text}', 'raw text', NULL, 'rejects_retention'),
    -- Typed by people; events copy the reason of a silence.
    ('{events}', '{note,reason}', 'note', 'forget_notes()', 'events_retention'),
    ('{windows}', '{reason}', 'note', 'forget_notes()', 'events_retention'),
    ('{maintenance}', '{problem}', 'trace', NULL, 'rejects_retention'),
    ('{advice}', '{remedy}', 'trace', 'DELETE', NULL),
    ('{to_match,finding_progress,finding_sizes}', '{job}', 'job', NULL, 'until maintenance has done this'),
    ('{sample_series}', '{labels}', 'free text', NULL, 'of other exporters, as settings.metrics chooses')
) AS l (relations, columns, holds, becomes, reason), unnest(l.relations::text[]) AS r (relation), unnest(l.columns::text[]) AS c (name)
UNION ALL
SELECT split_part(c.name, '.', 1), split_part(c.name, '.', 2), NULL, NULL, l.reason
FROM (VALUES
    ('machines and file systems', '{*.cluster,*.clusters,*.server,*.servers,*.service,*.target,*.targets,*.filesystem,targets.name,earlier_names.name,nodes.pattern,
        sample_series.node,job_summaries.busiest_target,entry_formats.node_label,entry_formats.node_pattern,events.details}'),
    ('stores', '{attached.name,attached.version,attached.problem,attached.known_targets,settings.version,observations.shipper,parts.relation,parts.name,parts.definition}'),
    ('accounts of rows without a user', '{members.account}'),
    ('names of a scheduler', '{*.scheduler,*.partition,*.qos,*.exit_code}'),
    ('words of jobstats', '{*.kind,*.source,*.sources,*.status,*.operation,*.kept,*.digest,maintenance.step,rollups.level,nodes.class,locks.name,rejects.reason,events.severity,events.verdict}'),
    ('settings and rules', '{settings.keep,settings.zone,settings.metrics,entry_formats.format,identification.formats,identification.under_way,rules.name,*.by,rules.url,
        finding_rules.finding,finding_rules.advice,finding_rules.url,finding_days.finding,finding_progress.rule}'),
    ('counts', '{increments.detail,increments.sizes,job_summaries.operations,server_snapshots.sums,target_snapshots.body,sample_series.name}'),
    ('random', '{secrets.keys,secrets.pseudonyms}')
) AS l (reason, columns), unnest(l.columns::text[]) AS c (name)
$$;
COMMENT ON FUNCTION jobstats_internal.columns_of_people IS
'Internal: personal data in columns of the store, and its value after a user is forgotten; holds NULL: no personal data, for the reason. Relation *: all without a row for that column.';

CREATE FUNCTION jobstats_internal.forgotten_columns(relation text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(format('%I = %s', p."column", p.becomes), ', ')
FROM jobstats_internal.columns_of_people() p WHERE p.relation = forgotten_columns.relation AND p.becomes IS NOT NULL
$$;
COMMENT ON FUNCTION jobstats_internal.forgotten_columns IS 'Internal: the SET list of an UPDATE that forgets the users of rows r of a table.';
