# shellcheck shell=bash
# Starts Debian's Slurm with slurmdbd and MariaDB; sourced after common.sh.
# shellcheck disable=SC2154 # what common.sh sets

start_mariadb() {
    install -d -o mysql /run/mysqld
    # slurmdbd warns if there is less memory and time than this.
    as mysql mariadbd --skip-networking --innodb-buffer-pool-size=4G --innodb-log-file-size=1G --innodb-lock-wait-timeout=900 \
        2>/var/log/mariadb &
    wait_for 60 MariaDB mariadb -e 'SELECT 1'
    mariadb -e "CREATE USER slurm@localhost IDENTIFIED VIA unix_socket; GRANT ALL ON slurm_acct_db.* TO slurm@localhost"
}

start_slurmdbd() {
    install -d -o munge -m 0755 /run/munge
    as munge munged
    install -m 0600 -o slurm "$tests/slurmdbd.conf" -t /etc/slurm
    install -m 0644 "$tests/slurm.conf" -t /etc/slurm
    # There is no file system of cgroups to find the version of.
    echo 'CgroupPlugin=cgroup/v1' >/etc/slurm/cgroup.conf
    install -d -o slurm /run/slurmdbd /var/log/slurm /var/lib/slurm/slurmctld
    as slurm slurmdbd
    wait_for 60 slurmdbd sacctmgr -n show cluster
    sacctmgr -i -Q add cluster puhti
}

# Adds users and their accounts: anna has two. The shipper may see all jobs, as in its documentation.
add_users() {
    sacctmgr -i -Q add account physics,biology
    sacctmgr -i -Q add user anna account=physics,biology defaultaccount=physics
    sacctmgr -i -Q add user ben,carla account=biology
    sacctmgr -i -Q add user jobstats-shipper account=root adminlevel=Operator
}

are_idle() { [ "$(sinfo -h -N -t idle -p small | wc -l)" = 4 ]; }

start_slurm() {
    local node
    start_mariadb
    start_slurmdbd
    add_users >/dev/null
    slurmctld
    for node in n1 n2 n3 n4; do
        install -d "/var/lib/slurm/$node"
        slurmd -N "$node"
    done
    wait_for 60 'four idle nodes' are_idle
}
