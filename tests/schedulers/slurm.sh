#!/usr/bin/env bash
# Runs jobs of all kinds under Debian's Slurm, and reads its accounting with the shipper as in docs/sources/slurm.md. Leaves the shipper's
# spools and MariaDB's rows of the jobs in target/schedulers.
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/schedulers/slurmd.sh
. "$tests/slurmd.sh"

# job USER NAME [OPTION OF sbatch ...]: submits a job and prints its number.
job() { as "$1" sbatch --parsable --output=/dev/null --job-name="$2" "${@:3}"; }

# state_is NUMBER STATE
state_is() { [ "$(squeue -h -j "$1" -o %T)" = "$2" ]; }

run_jobs() {
    local array requeued job
    job anna plain --wrap 'sleep 1'
    job anna 'other account' -A biology -p large -N 2 --wrap 'sleep 1'
    job ben failing --wrap 'exit 3'
    array=$(job ben array --array=1-6%2 --wrap 'sleep 2')
    as ben scancel "${array}_5" "${array}_6"
    job carla het -n 1 -p small : -n 2 -p large --wrap 'srun --het-group=1 sleep 1'
    job=$(job carla cancelled --wrap 'sleep 100')
    wait_for 60 "$job running" state_is "$job" RUNNING
    as carla scancel "$job"
    job=$(job anna never --begin=now+1hour --wrap 'sleep 1')
    as anna scancel "$job"
    job=$(job anna 'array that never began' --array=1-3 --begin=now+1hour --wrap 'sleep 1')
    as anna scancel "$job"
    job carla waiting --begin=now+1hour --wrap 'sleep 1'
    job carla running --wrap 'sleep 3600'
    run_names
    requeued=$(job ben requeued --requeue --wrap 'sleep 3')
    wait_for 60 "$requeued running" state_is "$requeued" RUNNING
    read_sources jobstats-shipper
    scontrol requeue "$requeued"
    # Slurm would wait for two minutes.
    wait_for 60 "$requeued pending" state_is "$requeued" PENDING
    scontrol update JobId="$requeued" StartTime=now
}

# Names that are like rows of sacct. Slurm stores a double quote as a backquote.
run_names() {
    local name
    for name in $'two\nlines' 'a|b' "it's \"quoted\"" $'unit\037separator' 'müesli:1' \
        $'forged\n999|999|puhti|1|1|2|2002|ben|2002|ben|biology|small|normal|COMPLETED|0:0|1|1|n1|forged'; do
        job anna "$name" --wrap true
    done
}

is_done() { [ "$(squeue -h -o %j | sort | tr '\n' ' ')" = 'running waiting ' ]; }

are_stored() { [ "$(sacct -a -X -n -s R -E now -o State | grep -c RUNNING)" = 1 ]; }

# Prints the runs of all jobs as MariaDB has them, one JSON object a line.
truth() {
    mariadb --batch --raw --skip-column-names slurm_acct_db <<'SQL'
SELECT JSON_OBJECT(
    'job', CAST(IF(j.het_job_id > 0, j.het_job_id, j.id_job) AS CHAR),
    'label', CASE
        WHEN j.het_job_id > 0 THEN CONCAT(j.het_job_id, '+', j.het_job_offset)
        WHEN j.id_array_job > 0 THEN CONCAT(j.id_array_job, '_', j.id_array_task)
        ELSE CAST(j.id_job AS CHAR) END,
    'submitted', j.time_submit, 'started', j.time_start, 'ended', NULLIF(j.time_end, 0),
    'uid', j.id_user, 'user_name', a.user, 'gid', j.id_group, 'account', j.account, 'partition', j.`partition`,
    'state', CASE j.state WHEN 1 THEN 'RUNNING' WHEN 3 THEN 'COMPLETED' WHEN 4 THEN 'CANCELLED' WHEN 5 THEN 'FAILED' WHEN 1024 THEN 'REQUEUED' END,
    'nodes', j.nodes_alloc, 'node_list', j.nodelist, 'job_name', j.job_name)
FROM puhti_job_table j
JOIN puhti_assoc_table a USING (id_assoc)
WHERE j.time_start > 0 AND j.nodes_alloc > 0
SQL
}

make_machine n1 n2 n3 n4
configure_shipper slurm.md
start_slurm
run_jobs
wait_for 120 'the end of all jobs' is_done
# slurmdbd stores the ends some time later.
wait_for 60 'ends in slurmdbd' are_stored
read_sources jobstats-shipper
read_sources anna
truth >"$output/truth"
hand_over jobstats-shipper anna
