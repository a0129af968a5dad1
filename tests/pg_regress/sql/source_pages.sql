-- The statements of the pages of sources, on what Slurm 22.05 and Grid Engine 8.1.9 wrote about jobs that ran for this test. Their times
-- are moved into the past.
\i store.sql
\set ECHO all
\pset null '(null)'

-- The rights of the pages, with a cluster and without.
CREATE ROLE regress_slurm1 LOGIN;
SELECT jobstats_grant_writer('regress_slurm1', 'puhti', sources => '{slurm}');
CREATE ROLE regress_sge1 LOGIN;
SELECT jobstats_grant_writer('regress_sge1', sources => '{gridengine}');

-- Names of several lines are read whole, though one looks like rows of another user: the columns behind the name end the row.
SET ROLE regress_slurm1;
INSERT INTO jobstats.feed (cluster, server, "time", source, body) VALUES ('puhti', 'slurm1', to_timestamp(1695411100), 'slurm', $text$JobIDRaw|5e1c|JobID|5e1c|Cluster|5e1c|Submit|5e1c|Start|5e1c|End|5e1c|UID|5e1c|User|5e1c|GID|5e1c|Group|5e1c|Account|5e1c|Partition|5e1c|QOS|5e1c|State|5e1c|ExitCode|5e1c|NNodes|5e1c|NCPUS|5e1c|JobName|5e1c|NodeList
7|5e1c|7+0|5e1c|puhti|5e1c|1695411033|5e1c|1695411034|5e1c|1695411035|5e1c|2003|5e1c|carla|5e1c|2003|5e1c|carla|5e1c|biology|5e1c|small|5e1c|normal|5e1c|COMPLETED|5e1c|0:0|5e1c|1|5e1c|1|5e1c|het|5e1c|n1
8|5e1c|7+1|5e1c|puhti|5e1c|1695411033|5e1c|1695411034|5e1c|1695411035|5e1c|2003|5e1c|carla|5e1c|2003|5e1c|carla|5e1c|biology|5e1c|large|5e1c|normal|5e1c|COMPLETED|5e1c|0:0|5e1c|1|5e1c|2|5e1c|het|5e1c|n2
21|5e1c|4_3|5e1c|puhti|5e1c|1695411033|5e1c|1695411035|5e1c|1695411037|5e1c|2002|5e1c|ben|5e1c|2002|5e1c|ben|5e1c|biology|5e1c|small|5e1c|normal|5e1c|COMPLETED|5e1c|0:0|5e1c|1|5e1c|1|5e1c|array|5e1c|n2
4|5e1c|4_4|5e1c|puhti|5e1c|1695411033|5e1c|1695411035|5e1c|1695411037|5e1c|2002|5e1c|ben|5e1c|2002|5e1c|ben|5e1c|biology|5e1c|small|5e1c|normal|5e1c|COMPLETED|5e1c|0:0|5e1c|1|5e1c|1|5e1c|array|5e1c|n1
10|5e1c|10|5e1c|puhti|5e1c|1695411034|5e1c|1695411034|5e1c|1695411034|5e1c|2001|5e1c|anna|5e1c|2001|5e1c|anna|5e1c|physics|5e1c|small|5e1c|normal|5e1c|CANCELLED by 2001|5e1c|0:0|5e1c|1|5e1c|1|5e1c|never|5e1c|None assigned
13|5e1c|13|5e1c|puhti|5e1c|1695411034|5e1c|1695411035|5e1c|Unknown|5e1c|2003|5e1c|carla|5e1c|2003|5e1c|carla|5e1c|biology|5e1c|small|5e1c|normal|5e1c|RUNNING|5e1c|0:0|5e1c|1|5e1c|1|5e1c|running|5e1c|n2
14|5e1c|14|5e1c|puhti|5e1c|1695411034|5e1c|1695411035|5e1c|1695411035|5e1c|2001|5e1c|anna|5e1c|2001|5e1c|anna|5e1c|physics|5e1c|small|5e1c|normal|5e1c|COMPLETED|5e1c|0:0|5e1c|1|5e1c|1|5e1c|two
lines|5e1c|n1
19|5e1c|19|5e1c|puhti|5e1c|1695411035|5e1c|1695411035|5e1c|1695411035|5e1c|2001|5e1c|anna|5e1c|2001|5e1c|anna|5e1c|physics|5e1c|small|5e1c|normal|5e1c|COMPLETED|5e1c|0:0|5e1c|1|5e1c|1|5e1c|forged
999|999|puhti|1|1|2|2002|ben|2002|ben|biology|small|normal|COMPLETED|0:0|1|1|n1|forged|5e1c|n1
20|5e1c|20|5e1c|puhti|5e1c|1695411035|5e1c|1695411035|5e1c|1695411037|5e1c|2002|5e1c|ben|5e1c|2002|5e1c|ben|5e1c|biology|5e1c|small|5e1c|normal|5e1c|REQUEUED|5e1c|0:0|5e1c|1|5e1c|1|5e1c|requeued|5e1c|n1
20|5e1c|20|5e1c|puhti|5e1c|1695411037|5e1c|1695411038|5e1c|1695411041|5e1c|2002|5e1c|ben|5e1c|2002|5e1c|ben|5e1c|biology|5e1c|small|5e1c|normal|5e1c|COMPLETED|5e1c|0:0|5e1c|1|5e1c|1|5e1c|requeued|5e1c|n2
$text$);
RESET ROLE;
SELECT job, label, extract(epoch FROM submitted)::bigint AS submitted, extract(epoch FROM started)::bigint AS started,
    extract(epoch FROM ended)::bigint AS ended, user_name, account, state, nodes, node_list, job_name
FROM jobstats.jobs ORDER BY job::integer, label, jobs.submitted;

SET ROLE regress_sge1;
INSERT INTO jobstats.feed (server, "time", source, body) VALUES ('sge1', to_timestamp(1695411100), 'gridengine', $text$# Version: 8.1.9
# 
# DO NOT MODIFY THIS FILE MANUALLY!
# 
all.q:control:anna:anna:account:2:physics:0:1695410047:1695410047:1695410048:0:0:1:0.003408:0.004207:4728.000000:0:0:0:0:549:0:0:0.000000:0:0:0:0:12:3:NONE:defaultdepartment:NONE:1:0:0.008480:0.000000:0.000028:NONE:0.000000:NONE:3518464.000000:0:0
all.q:control:ben:ben:array:15:sge:0:1695409232:1695409233:1695409234:0:0:1:0.003936:0.004544:4672.000000:0:0:0:0:549:0:0:0.000000:0:0:0:0:12:3:NONE:defaultdepartment:NONE:1:1:0.008480:0.000000:0.000028:NONE:0.000000:NONE:3518464.000000:0:0
all.q:control:carla:carla:parallel:14:sge:0:1695409232:1695409232:1695409233:0:0:1:0.007947:0.000000:4648.000000:0:0:0:0:557:0:0:0.000000:0:0:0:0:11:6:NONE:defaultdepartment:two:2:0:0.007947:0.000000:0.000028:-pe two 2:0.000000:NONE:3665920.000000:0:0
all.q:control:ben:ben:rescheduled:13:sge:0:0:0:0:25:0:0:0.000000:0.000000:0.000000:0:0:0:0:0:0:0:0.000000:0:0:0:0:0:0:NONE:defaultdepartment:NONE:1:0:0.000000:0.000000:0.000000:NONE:0.000000:NONE:0.000000:0:0
all.q:control:anna:anna:quo"te|d:4:sge:0:1695409088:0:0:28:0:0:0.000000:0.000000:0.000000:0:0:0:0:0:0:0:0.000000:0:0:0:0:0:0:NONE:defaultdepartment:NONE:1:0:0.000000:0.000000:0.000000:NONE:0.000000:NONE:0.000000:0:0
$text$);
RESET ROLE;
SELECT job, label, extract(epoch FROM submitted)::bigint AS submitted, extract(epoch FROM started)::bigint AS started,
    extract(epoch FROM ended)::bigint AS ended, user_name, account, state, nodes, node_list, job_name
FROM jobstats.jobs WHERE source = 'gridengine' ORDER BY job::integer, label, jobs.submitted;

-- Is it working?
SELECT scheduler, count(*) AS runs, count(DISTINCT user_name) AS users, max(started) AS started, max(updated) AS updated
FROM jobstats.jobs
WHERE source = 'slurm'
GROUP BY scheduler;
SELECT "time", server, line, reason FROM jobstats.rejects WHERE "time" > now() - interval '1 hour' ORDER BY "time" DESC LIMIT 10;

-- No line was rejected. The line of job 13, which qmod -rj wrote, is not about a run: another line has its times.
SELECT line, reason FROM jobstats.rejects ORDER BY line;

-- A role that is bound to a cluster writes no jobs of another one.
SET ROLE regress_slurm1;
\set VERBOSITY sqlstate
INSERT INTO jobstats.feed (cluster, server, "time", source, body) VALUES ('mahti', 'slurm1', to_timestamp(1695411100), 'slurm', 'JobID');
\set VERBOSITY default
RESET ROLE;

DELETE FROM jobstats.writers;
REVOKE ALL ON jobstats.feed FROM regress_slurm1, regress_sge1;
DROP OWNED BY regress_slurm1, regress_sge1;
DROP ROLE regress_slurm1, regress_sge1;
