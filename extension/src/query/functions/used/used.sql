-- Used space of a kind of owner ($2) at a time ($1), and since another one ($3), of the targets and owners of $4 to $12, by some of them ($13).
WITH scope AS MATERIALIZED (
    SELECT target.target_id, target.cluster, coalesce(target.filesystem, ''::text) AS filesystem, target.name, target.kind
    FROM jobstats.targets target
    WHERE (target.retired IS NULL OR target.retired > $1)
        AND ($4::text[] IS NULL OR target.cluster LIKE ANY (jobstats_internal.as_like($4)))
        AND ($5::text[] IS NULL OR target.filesystem LIKE ANY (jobstats_internal.as_like($5)))
        AND ($6::text[] IS NULL OR target.name LIKE ANY (jobstats_internal.as_like($6)))
),
@space@,
@before@,
owner AS @fence@ (
    SELECT space.*, CASE $2::text WHEN 'user' THEN space.id END AS uid, person.user_name,
        CASE $2::text WHEN 'user' THEN person.gid WHEN 'group' THEN space.id END AS gid, team.group_name,
        CASE $2::text WHEN 'project' THEN space.id END AS project, job.account
    FROM (
        SELECT cluster, filesystem, target, id, coalesce(space.kbytes, 0) AS kbytes, space.inodes,
            CASE WHEN known.is_complete THEN coalesce(space.kbytes, 0) - coalesce(before.kbytes, 0) END AS added_kbytes,
            CASE WHEN known.is_complete AND coalesce(space.inodes, before.inodes) IS NOT NULL
                THEN coalesce(space.inodes, 0) - coalesce(before.inodes, 0) END AS added_inodes
        FROM space
        FULL JOIN (SELECT before.cluster, before.filesystem, before.id, before.kbytes, before.inodes FROM before_space before) before
            USING (cluster, filesystem, id)
        LEFT JOIN (
            SELECT cluster, filesystem, bool_and(list.is_complete AND earlier.is_complete) AS is_complete
            FROM list JOIN before_list earlier USING (cluster, filesystem) GROUP BY cluster, filesystem
        ) known USING (cluster, filesystem)
    ) space
    LEFT JOIN @user_names@ person ON $2::text = 'user' AND person.uid = space.id
    LEFT JOIN @group_names@ team ON team.gid = CASE $2::text WHEN 'user' THEN person.gid WHEN 'group' THEN space.id END
    -- A user may work for several accounts. Files belong to none. What ends later changes no answer about the past.
    LEFT JOIN LATERAL (
        (SELECT 1 AS rank, job.account FROM jobstats.job_ids job
            WHERE job.uid = space.id AND job.account IS NOT NULL AND coalesce(job.ended, timestamptz 'infinity') > $1 AND job.started <= $1
            ORDER BY job.started DESC, job.account LIMIT 1)
        UNION ALL
        (SELECT 2, job.account FROM jobstats.job_ids job
            WHERE job.uid = space.id AND job.account IS NOT NULL AND coalesce(job.ended, timestamptz 'infinity') <= $1
            ORDER BY coalesce(job.ended, timestamptz 'infinity') DESC, job.started DESC, job.account LIMIT 1)
        ORDER BY rank LIMIT 1
    ) job ON $2::text = 'user'
    WHERE ($14::bigint[] IS NULL OR $2::text = 'user' AND space.id = ANY ($14))
)
SELECT owner.cluster, nullif(owner.filesystem, ''::text) AS filesystem, owner.target, owner.uid, owner.user_name, owner.gid,
    owner.group_name, owner.project, owner.account, sum(owner.kbytes) * 1024 AS bytes, sum(owner.inodes) AS inodes,
    sum(owner.added_kbytes) * 1024 AS added_bytes, sum(owner.added_inodes) AS added_inodes,
    list.targets, list.of_targets, list."time"
FROM (
    SELECT owner.cluster, owner.filesystem, owner.target, shown.*, CASE WHEN 'account' = ANY ($13::text[]) THEN owner.account
            ELSE shown.of_user END AS account, owner.kbytes, owner.inodes, owner.added_kbytes, owner.added_inodes
    FROM owner
    -- The sum of all owners is that of none.
    LEFT JOIN LATERAL (
        SELECT owner.uid, owner.user_name, owner.gid, owner.group_name, owner.project, owner.account AS of_user
    ) shown ON $2::text = ANY ($13::text[])
    WHERE ($7::bigint[] IS NULL OR owner.uid = ANY ($7::bigint[]))
        AND ($8::text[] IS NULL OR owner.user_name LIKE ANY (jobstats_internal.as_like($8)))
        AND ($9::bigint[] IS NULL OR owner.gid = ANY ($9::bigint[]))
        AND ($10::text[] IS NULL OR owner.group_name LIKE ANY (jobstats_internal.as_like($10)))
        AND ($11::bigint[] IS NULL OR owner.project = ANY ($11::bigint[]))
        AND ($12::text[] IS NULL OR owner.account LIKE ANY (jobstats_internal.as_like($12)))
) owner
LEFT JOIN list ON list.cluster = owner.cluster AND list.filesystem = owner.filesystem AND list.target IS NOT DISTINCT FROM owner.target
GROUP BY 1, owner.filesystem, 3, 4, 5, 6, 7, 8, 9, list.targets, list.of_targets, list."time"
ORDER BY added_bytes DESC NULLS LAST, bytes DESC, owner.cluster, owner.filesystem, owner.uid, owner.gid, owner.project, owner.account,
    owner.target
LIMIT 1000001
