#!/usr/bin/env bash
# Runs jobs of all kinds under Debian's Grid Engine, and reads its accounting with the shipper as in docs/sources/gridengine.md. Leaves the
# shipper's spool and the fields of the accounting file in target/schedulers.
. "$(dirname "$0")/common.sh"
export SGE_ROOT=/var/lib/gridengine SGE_CELL=default
accounting=$SGE_ROOT/$SGE_CELL/common/accounting

# Grid Engine gives the text of a new object to an editor.
make_editor() {
    cat >/usr/bin/set-up <<'SH'
#!/bin/sh
exec sed -i -E 's/^(hostlist +).*/\1control/; s/^(slots +).*/\14/; s|^(shell +).*|\1/bin/sh|; s/^(pe_list +).*/\1two/
    s/^(load_thresholds +).*/\1NONE/; s/^(flush_(submit|finish)_sec +).*/\11/; s/^(schedule_interval +).*/\10:0:1/' "$1"
SH
    chmod +x /usr/bin/set-up
    export EDITOR=/usr/bin/set-up
}

# A parallel environment whose tasks on the nodes are accounted for one by one.
make_environment() {
    cat >/tmp/two <<'PE'
pe_name            two
slots              4
user_lists         NONE
xuser_lists        NONE
start_proc_args    NONE
stop_proc_args     NONE
allocation_rule    $pe_slots
control_slaves     TRUE
job_is_first_task  FALSE
urgency_slots      min
accounting_summary FALSE
qsort_args         NONE
PE
    qconf -Ap /tmp/two
}

is_ready() { qstat -f | grep 'all.q@control *BIP *0/0/4.*lx-amd64 *$' >/dev/null; }

start_grid_engine() {
    echo control >"$SGE_ROOT/$SGE_CELL/common/act_qmaster"
    sge_qmaster
    wait_for 60 sge_qmaster qconf -sh
    qconf -as control
    sge_execd
    make_editor
    make_environment
    qconf -aq all.q
    qconf -msconf
    wait_for 90 'a queue that takes jobs' is_ready
}

# job USER NAME [OPTION OF qsub ...] COMMAND ...: submits a job and prints its number.
job() { as "$1" qsub -terse -o /dev/null -e /dev/null -cwd -wd "/home/$1" -N "$2" "${@:3}" | cut -d . -f 1; }

# state_is NUMBER STATE
state_is() { qstat -u '*' | awk -v job="$1" -v state="$2" '$1 == job && $5 == state { found = 1 } END { exit !found }'; }

run_jobs() {
    local job
    job anna plain -b y /bin/sleep 1
    job anna account -A physics -b y /bin/sleep 1
    job anna 'quo"te|d' -b y /bin/sleep 1
    job ben failing -b y /bin/false
    job ben array -t 1-4 -b y /bin/sleep 1
    job carla parallel -pe two 2 -b y /bin/sleep 1
    # Its working directory is nowhere, so it cannot begin.
    job=$(as carla qsub -terse -wd /nowhere -N broken -b y /bin/true)
    wait_for 60 "$job in error" state_is "$job" Eqw
    job=$(job carla deleted -b y /bin/sleep 100)
    wait_for 60 "$job running" state_is "$job" r
    as carla qdel "$job"
    job=$(job ben held -t 1-3 -h -b y /bin/sleep 1)
    as ben qdel "$job"
    # Exit code 99 requests another run.
    printf 'sleep 2\ntest -e first || { touch first && exit 99; }\n' >/home/ben/again
    job ben again /home/ben/again
    wait_for 60 'the accounting file' test -s "$accounting"
    read_sources jobstats-shipper
}

is_done() { [ "$(qstat -u '*' | awk 'NR > 2 { print $3 }')" = broken ]; }

# qmaster writes the file every 15 seconds.
is_written() { [ "$(grep -c ':again:' "$accounting")" = 2 ]; }

has_ended() { ! pgrep -x sge_qmaster; }

# Prints the rows of the accounting file as JSON objects, one a line. No name has a colon: qsub refuses it.
truth() {
    awk -F : '!/^#/ && $42 == "NONE" {
        gsub(/"/, "\\\"", $5)
        printf "{\"job\":\"%s\",\"task\":%s,\"user_name\":\"%s\",\"group_name\":\"%s\",\"job_name\":\"%s\",\"account\":\"%s\",", $6, $36, $4, $3, $5, $7
        printf "\"partition\":\"%s\",\"submitted\":%s,\"started\":%s,\"ended\":%s,\"slots\":%s}\n", $1, $9, $10, $11, $35
    }' "$accounting"
}

# shellcheck disable=SC2119 # no names but its own
make_machine
configure_shipper gridengine.md
start_grid_engine
run_jobs
wait_for 120 'the end of all jobs' is_done
wait_for 60 'the accounting of both runs' is_written
qconf -ke all
qconf -km
wait_for 60 'the end of sge_qmaster' has_ended
read_sources jobstats-shipper
truth >"$output/truth"
cp "$accounting" "$output/"
hand_over jobstats-shipper
