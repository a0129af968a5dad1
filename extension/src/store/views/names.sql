-- Names of users and groups, and the jobs of entries. Whatever of it a query does not ask for is not joined at all.
LEFT JOIN jobstats.users person ON person.uid = @uid@
LEFT JOIN jobstats.groups team ON team.gid = @gid@
LEFT JOIN jobstats.job_ids job ON job.job_no = @job_no@
