-- Names of users and groups, and the jobs of entries. Joins that a query does not need are removed.
LEFT JOIN jobstats.users person ON person.uid = @uid@
LEFT JOIN jobstats.groups team ON team.gid = @gid@
LEFT JOIN jobstats.job_ids job ON job.job_no = @job_no@
