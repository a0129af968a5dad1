#!/usr/bin/env bash
# Measures what the commands of docs/sources/slurm.md cost slurmdbd, when 100,000 jobs a day run. The jobs are no real ones: they are
# inserted into the job table of slurmdbd. Prints a table.
#
#   slurm-load.sh [DAYS ...]    how many days the table has; 3 and 30 by default
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/schedulers/slurmd.sh
. "$tests/slurmd.sh"
per_day=100000
TIMEFORMAT='%R %U %S'

# fill FIRST LAST: inserts the jobs of some days, counted from now back. Each waited for up to an hour and ran for up to four, two hours
# in the mean; a tenth failed.
fill() {
    mariadb slurm_acct_db <<SQL
SET SESSION unique_checks = 0, foreign_key_checks = 0;
INSERT INTO puhti_job_table (mod_time, account, cpus_req, job_name, id_assoc, id_job, id_qos, id_resv, id_wckey, id_user, id_group,
    het_job_id, het_job_offset, state_reason_prev, nodelist, nodes_alloc, \`partition\`, priority, state, timelimit,
    time_submit, time_eligible, time_start, time_end, work_dir, tres_alloc, tres_req, submit_line)
SELECT start, a.acct, 128, CONCAT('job ', seq), a.id_assoc, 20000000 - seq, 1, 0, 0, 2001 + seq % 3, 2001 + seq % 3,
    0, 4294967294, 0, 'n[1-4]', 4, 'small', 1000, IF(start + ran > UNIX_TIMESTAMP(), 1, IF(seq % 10 = 0, 5, 3)), 240,
    start - seq % 3600, start - seq % 3600, start, IF(start + ran > UNIX_TIMESTAMP(), 0, start + ran),
    CONCAT('/scratch/project_', seq % 1000, '/run'), '1=128,2=256000,4=4,5=128', '1=128,2=256000,4=4,5=128', 'sbatch run.sh'
FROM (SELECT seq, UNIX_TIMESTAMP() - FLOOR(seq * 86400 / $per_day) AS start, seq * 7919 % 14400 AS ran
    FROM seq_$(($1 * per_day))_to_$(($2 * per_day - 1))) s
JOIN puhti_assoc_table a ON a.user = ELT(1 + seq % 3, 'anna', 'ben', 'carla') AND a.acct = 'biology';
ANALYZE TABLE puhti_job_table;
SQL
}

# CPU time of a process in seconds.
worked() { awk -v tick="$(getconf CLK_TCK)" '{ print ($14 + $15) / tick }' "/proc/$1/stat"; }

# one_call SECTION: rows, seconds, and seconds of CPU time of sacct, slurmdbd and MariaDB, for a command of sources.toml.
one_call() {
    local slurmdbd mariadbd before
    slurmdbd=$(pgrep -x slurmdbd) mariadbd=$(pgrep -x mariadbd)
    before="$(worked "$slurmdbd") $(worked "$mariadbd")"
    sed -n "/^\[$1\]/,/^interval/p" /etc/jobstats/sources.toml | sed -n "/^command/,/^'''/p" | sed "1d;\$d" >/tmp/command
    { time as jobstats-shipper sh /tmp/command >/tmp/rows; } 2>/tmp/time
    printf '%s %s %s %s %s\n' "$(wc -l </tmp/rows)" "$(stat -c %s /tmp/rows)" "$(cat /tmp/time)" "$before" \
        "$(worked "$slurmdbd") $(worked "$mariadbd")"
}

# measure DAYS
measure() {
    local section
    for section in slurm slurm-days; do
        for _ in 1 2 3; do one_call "$section"; done | sort -n -k 3 |
            awk -v days="$1" -v section="$section" 'NR == 2 {
                printf "| %s | %s | %d | %.1f | %.2f | %.2f | %.2f | %.2f |\n", days, section, $1 - 1, $2 / 1e6, $3, $4 + $5, $8 - $6, $9 - $7 }'
    done
}

make_machine n1 n2 n3 n4
configure_shipper slurm.md
start_slurm
[ $# -gt 0 ] || set -- 3 30
printf '| days in the table | section | rows | MB | s | s of CPU time of sacct | of slurmdbd | of MariaDB |\n'
printf '|---:|---|---:|---:|---:|---:|---:|---:|\n'
filled=0
for days; do
    fill "$filled" "$days" >/dev/null
    filled=$days
    measure "$days"
done
printf '%s, %s CPUs, load average %s\n' "$(slurmd -V)" "$(nproc)" "$(cut -d ' ' -f 1 /proc/loadavg)"
