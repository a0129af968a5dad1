-- Used space of a kind of owner (@kind@) at a time (@at@), and since another one (@since@), by some of its dimensions.
WITH scope AS MATERIALIZED (
    SELECT target.target_id, target.cluster, coalesce(target.filesystem, ''::text) AS filesystem, target.name, target.kind
    FROM jobstats.targets target
    WHERE (target.retired IS NULL OR target.retired > @at@)@of_targets@
),
@space@,
@before@,
owner AS @fence@ (
    SELECT space.*, number.uid, coalesce(person.user_name, number.uid::text) AS user, number.gid,
        coalesce(team.group_name, number.gid::text) AS group, number.project, job.account
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
    LEFT JOIN @user_names@ person ON @kind@::text = 'user' AND person.uid = space.id
    CROSS JOIN LATERAL (
        SELECT CASE @kind@::text WHEN 'user' THEN space.id END AS uid, CASE @kind@::text WHEN 'project' THEN space.id END AS project,
            CASE @kind@::text WHEN 'user' THEN person.gid WHEN 'group' THEN space.id END AS gid
    ) number
    LEFT JOIN @group_names@ team ON team.gid = number.gid
    -- A user may have several accounts; files have no account. A later end must not change answers about the past.
    LEFT JOIN LATERAL (
        (SELECT 1 AS rank, job.account FROM jobstats.job_ids job
            WHERE job.uid = space.id AND job.account IS NOT NULL AND coalesce(job.ended, timestamptz 'infinity') > @at@ AND job.started <= @at@
            ORDER BY job.started DESC, job.account LIMIT 1)
        UNION ALL
        (SELECT 2, job.account FROM jobstats.job_ids job
            WHERE job.uid = space.id AND job.account IS NOT NULL AND coalesce(job.ended, timestamptz 'infinity') <= @at@
            ORDER BY coalesce(job.ended, timestamptz 'infinity') DESC, job.started DESC, job.account LIMIT 1)
        ORDER BY rank LIMIT 1
    ) job ON @kind@::text = 'user'
    WHERE (@own@::bigint[] IS NULL OR @kind@::text = 'user' AND space.id = ANY (@own@))
),
of_filesystem AS (
    SELECT owner.cluster, owner.filesystem, owner.target@owners@, sum(owner.kbytes) AS kbytes, sum(owner.inodes) AS inodes,
        sum(owner.added_kbytes) AS added_kbytes, bool_and(owner.added_kbytes IS NOT NULL) AS has_added,
        sum(owner.added_inodes) AS added_inodes
    FROM owner
    WHERE true@of_owners@
    GROUP BY owner.cluster, owner.filesystem, owner.target@owners@
)
SELECT @name@ AS name, @schema@.jobstats_format((sum(answer.kbytes) * 1024)::double precision, 'bytes'::text, 'total'::text) AS formatted,
    sum(answer.kbytes) * 1024 AS bytes, sum(answer.inodes) AS inodes,
    CASE WHEN bool_and(answer.has_added) THEN sum(answer.added_kbytes) * 1024 END AS added_bytes,
    CASE WHEN bool_and(answer.has_added) THEN sum(answer.added_inodes) END AS added_inodes,
    sum(list.targets)::bigint AS targets, sum(list.of_targets)::bigint AS of_targets, min(list."time") AS "time", jsonb_build_object(@labels@) AS labels
FROM of_filesystem answer
LEFT JOIN list ON list.cluster = answer.cluster AND list.filesystem = answer.filesystem AND list.target IS NOT DISTINCT FROM answer.target
@group_by@
HAVING count(*) > 0
ORDER BY added_bytes DESC NULLS LAST, bytes DESC@shown@
LIMIT @limit@
