#!/usr/bin/env bash
# Installs jobstats by the page docs/install.md alone: runs the page's own commands, with thirteen simulated Lustre servers and a private
# PostgreSQL that has TLS and passwords. Fails if a command fails, or if servers, users or jobs are missing at the end.
#
#   evening.sh DIRECTORY    output and files stay there
#
# Only these differ from the page: its host is localhost with another port, its network is the loopback, its paths of the system are below DIRECTORY, and
# programs that reach other machines or change the system are stand-ins from tests/evening.
. "$(dirname "$0")/lib.sh"

page=docs/install.md
work=$(realpath "$1")
own=$(mktemp -d -t jobstats-evening.XXXXXX)
trap 'scripts/cluster.sh remove "$own"' EXIT
! is_root || chown postgres "$own"

# free_port
# A port of the loopback where no server listens.
free_port() {
    local port
    while port=$((20000 + RANDOM % 10000)) && (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    printf '%s\n' "$port"
}

# What the programs read. Until pg_hba.conf has the page's line, only the socket is open.
export EVENING=$work EVENING_CLUSTER=$own EVENING_SIMULATOR=$built/jobstats-simulator EVENING_SHIPPER=$built/jobstats-shipper PG_CONFIG
# Few jobs, because simulating takes longer than lctl does.
export JOBSTATS_SIMULATOR_ODD=0 JOBSTATS_SIMULATOR_JOBS=150 JOBSTATS_SIMULATOR_SCALE=0.3
PGPORT=$(free_port)
export PGPORT PGHOST=$own PGUSER=root
start_volatile "$own" jit=off "port=$PGPORT"
printf 'local all all trust\n' >"$own/data/pg_hba.conf"
scripts/cluster.sh stop "$own"
start_volatile "$own" jit=off "port=$PGPORT"

# The programs of the page. All stand-ins are links to one script.
mkdir -p "$work/bin" "$work/directory" "$work/etc/cron.d"
for program in apt-get runuser systemctl clush ssh sleep; do
    ln -sf "$root/tests/evening/machine.sh" "$work/bin/$program"
done
is_root || ln -sf "$(type -P true)" "$work/bin/chown"
ln -sf "$built/jobstats-console" "$work/bin/"
version=$(product_version)
touch "$work/directory/"{"postgresql-$(pg_major)-jobstats_${version}_amd64.deb","jobstats-console_${version}_amd64.deb","jobstats-shipper-$version-1.x86_64.rpm"}

# The names of all users, as getent prints them.
"$EVENING_SIMULATOR" accounting --scheduler slurm --no-nightly --from "$(date -u +%FT00:00:00Z)" --days 0.001 --directory "$work/names" >/dev/null

awk -f scripts/evening.awk "$page" |
    sed -e "s/@db\.example\.org/@localhost:$PGPORT/; s/db\.example\.org/localhost/g" -e "s|192\.0\.2\.0/24|127.0.0.1/32|" -e "s/listen_addresses = '\*'/listen_addresses = '127.0.0.1'/" \
        -e "s/postgresql-15-/postgresql-$(pg_major)-/g" -e "s|/etc/cron\.d|$work/etc/cron.d|" >"$work/page.sh"
# Then two scrapes of the last server.
echo 'sleep 300' >>"$work/page.sh"
(cd "$work/directory" && PATH=$work/bin:$("$PG_CONFIG" --bindir):$PATH bash "$work/page.sh" </dev/null)

# check WHAT EXPECTED STATEMENT
check() {
    local got
    got=$(psql -q -At jobstats -c "$3")
    [ "$got" = "$2" ] || die "$1: expected $2, got $got"
    printf 'ok: %s\n' "$1"
}

check 'servers in health' 13 "SELECT count(DISTINCT server) FROM jobstats.health WHERE target IS NOT NULL"
check 'no text was rejected' 0 "SELECT count(*) FROM jobstats.rejects"
check 'all identifiers are read' 0 "SELECT count(*) FROM jobstats.health WHERE states && '{ids,swapped}'"
check 'the answer names users and jobs' t \
    "SELECT count(*) > 0 FROM jobstats_now() n JOIN jobstats.jobs j ON j.job = n.labels ->> 'workload' AND j.user_name = n.labels ->> 'user'"
check 'roles with SCRAM passwords' 15 "SELECT count(*) FROM pg_authid WHERE rolpassword LIKE 'SCRAM-SHA-256%'"
# The line of cron, as cron runs it.
PATH=$("$PG_CONFIG" --bindir):$PATH sh -c "$(cut -d ' ' -f 7- "$work/etc/cron.d/jobstats")"
check 'cron maintains' t "SELECT count(*) > 0 FROM jobstats.maintenance WHERE took IS NOT NULL"

# connects PASSWORD SSLMODE
connects() {
    PGPASSWORD=$1 psql -q "host=localhost user=oss3 dbname=jobstats sslmode=$2 sslrootcert=$work/directory/ca.pem" -c '' >/dev/null 2>&1
}

mapfile -t passwords < <(sed -n 's/^oss3 //p' "$work/directory/passwords.txt")
[ "${#passwords[@]}" = 2 ] || die "oss3 has not had two passwords: ${#passwords[@]}"
connects "${passwords[1]}" verify-full || die 'the new password of oss3 is refused'
! connects "${passwords[0]}" verify-full || die 'the old password of oss3 is accepted'
! connects "${passwords[1]}" disable || die 'a connection without TLS is accepted'
printf 'ok: a new password, and TLS\n'
