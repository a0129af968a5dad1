#!/usr/bin/env bash
# Debian's own Slurm and Grid Engine run jobs in a new system. What the shipper reads of their accounting there is what jobstats.jobs
# holds then. Needs root, the network, and a quarter of an hour.
#
#   schedulers.sh [slurm] [gridengine] [load]    slurm and gridengine by default; load measures what the shipper's commands cost slurmdbd
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev}
. "$(dirname "$0")/lib.sh"

system=bookworm+iproute2+munge+mariadb-server+slurmdbd+slurmctld+slurmd+slurm-client+gridengine-master+gridengine-exec+gridengine-client
output=${XDG_CACHE_HOME:-$HOME/.cache}/jobstats/target-$system/schedulers

# run_in_new TEST [ARGUMENT ...]: collects the files of target/schedulers in $output.
run_in_new() {
    say "$1"
    rm -rf "$output"
    mkdir -p "$output"
    cp "$built/jobstats-shipper" "$output"
    .ci/pristine "$system" "tests/schedulers/$1.sh ${*:2}" || die "$1 failed"
}

# check SCHEDULER USER [PERSON]: sends the accounting that a user can read, and compares jobs with those in the scheduler.
check() {
    local database="$1 $2" url
    new_store "$cluster" "$database" >/dev/null
    url=$(scripts/cluster.sh url "$cluster" "${database/ /%20}")
    JOBSTATS_DATABASE_URL=$url "$built/jobstats-shipper" replay "$output/spool-$2"
    psql -q "$url" -v person="${3:-}" -f "tests/schedulers/$1.sql" <"$output/truth"
}

slurm() {
    run_in_new slurm
    check slurm jobstats-shipper
    check slurm anna anna
}

gridengine() {
    run_in_new gridengine
    check gridengine jobstats-shipper
}

load() { run_in_new slurm-load; }

is_root || die "making new systems needs root"
[ $# -gt 0 ] || set -- slurm gridengine
scripts/install.sh all
start_cluster schedulers
for part; do
    case $part in
    slurm | gridengine | load) "$part" ;;
    *) die "there is no part $part" ;;
    esac
done
