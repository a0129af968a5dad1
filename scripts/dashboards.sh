#!/usr/bin/env bash
# Loads a simulated half day of two file systems into a temporary database, fills the rollups, and runs all queries of the Grafana
# dashboards on it, as a reader.
#
#   dashboards.sh CLUSTER DATABASE
. "$(dirname "$0")/lib.sh"

cluster=$1
new_store "$cluster" "$2" >/dev/null
url=$(scripts/cluster.sh url "$cluster" "$2")
from=$(date -u -d '12 hours ago' +%Y-%m-%dT%H:%M:00Z) hours=12

load() {
    "$built/jobstats-simulator" load --cluster here --layout 2.17 --from "$from" --hours "$hours" --database-url "$url" "$@" >/dev/null
}

load --preset small
load --preset puhti --scale 0.02 --interval 10m
# The last hour is compared with the same hour of the day before.
from=$(date -u -d '26 hours ago' +%Y-%m-%dT%H:%M:00Z) hours=2
load --preset small
load --preset puhti --scale 0.02 --interval 10m
# Each job is an element of an array in accounting, which users call otherwise than job_stats does. The name of an account is hostile, and
# somebody of it works right now, whenever that is.
psql -q "$url" <<-'SQL'
	INSERT INTO jobstats.jobs (scheduler, job, label, submitted, started, uid, user_name, account, "partition", job_name, state, nodes, cpus, source, updated)
	SELECT 'here', e.job, e.job || '_1', min(e.first_seen) - interval '1 hour', min(e.first_seen), min(e.uid), 'user' || min(e.uid),
	    CASE WHEN min(e.uid) % 3 = 0 OR min(e.uid) IN (SELECT (n.labels ->> 'uid')::bigint FROM jobstats_now(n => 1) n) THEN 'o''b\*_%ien' ELSE 'project' || min(e.uid) % 3 END,
	    'main', 'sim', 'RUNNING', count(DISTINCT e.node), 1, 'slurm', now()
	FROM jobstats.entries e WHERE e.job IS NOT NULL GROUP BY e.job;
	INSERT INTO jobstats.to_match (job) SELECT j.job FROM jobstats.jobs j;
SQL
psql -q "$url" -c 'SET client_min_messages = warning' -c 'CALL jobstats_maintain()'
psql -q "$url" <<-'SQL'
	-- As if each job had done the same before.
	INSERT INTO jobstats.job_summaries (job_no, scheduler, job, label, runs, started, ended, run_time, uid, user_name, account, active_nodes, targets, read_bytes, write_bytes, read, write, opens, metadata, operations, made)
	SELECT -row_number() OVER (), j.scheduler, j.job, j.label, 1, now() - interval '40 minutes', now() - interval '10 minutes', '30 minutes', j.uid, j.user_name, j.account, 1, 1, 0, 4096, 0, 1, 1, 2, '{}', now()
	FROM jobstats.jobs j;
SQL
# Each file system lets requests wait right now.
psql -q "$url" <<-'SQL'
	INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, updated, severity, targets, servers, value, usual, rate, details, culprits, notified)
	SELECT 'waiting', t.cluster, t.filesystem, now() - interval '30 minutes', now(), now(), now(), 'warning', array_agg(t.name), '{mds1}', 0.3, 0.02, 5, '{}',
	    '{"by": "uid", "named": true, "subjects": [{"uid": 1000, "share": 0.7}]}', now()
	FROM jobstats.targets t GROUP BY t.cluster, t.filesystem;
SQL
psql -q "$url" -c 'ANALYZE' -c 'CREATE ROLE reader_of_dashboards' -c "SELECT jobstats_grant_reader('reader_of_dashboards')" \
    -c "INSERT INTO jobstats.users SELECT DISTINCT uid, 'user' || uid FROM jobstats.entries WHERE uid % 2 = 0" \
    -c 'CREATE ROLE user_of_dashboards' >/dev/null
# Somebody at work whose job every panel can show, also in the hour before the dashboard is looked at.
psql -q "$url" >/dev/null <<-'SQL'
	SELECT jobstats_grant_own('user_of_dashboards', (t.labels ->> 'uid')::bigint)
	FROM jobstats_totals(since => now() - interval '30 minutes', operations => 'service_time,metadata,bytes', by => 'uid,job', filter => jsonb_build_object('uid', ARRAY(SELECT n.labels ->> 'uid' FROM jobstats_now(n => 1000) n WHERE n.labels ->> 'uid' IS NOT NULL)), exclude => 'job=') t
	GROUP BY t.labels
	ORDER BY count(*) FILTER (WHERE t.total > 0) DESC, max(t.total) FILTER (WHERE t.operation = 'service_time') DESC NULLS LAST, t.labels
	LIMIT 1;
SQL

# check READER DASHBOARD
check() { psql -q -At "$url" -v reader="$1" -v dashboard="$(cat "$2")" -f tests/dashboards/check.sql; }

# titles DASHBOARD
# Prints the titles of its panels.
titles() {
    psql -q -At "$url" -v dashboard="$(cat "$1")" <<-'SQL'
	SELECT p ->> 'title' FROM jsonb_path_query(:'dashboard'::jsonb, 'strict $.**.panels[*] ? (@.type != "row")') p;
	SQL
}

[ "$(grep -h 'jobstats_events(' dashboards/*.json | sort -u | wc -l)" = 1 ] || die 'events have another query in some dashboards'
check user_of_dashboards dashboards/my-jobs.json
page=$(tr -d '`' <dashboards/README.md)
for dashboard in dashboards/*.json; do
    check reader_of_dashboards "$dashboard"
    while read -r title; do
        grep -qF -- "$title" <<<"$page" || die "dashboards/README.md lacks the panel '$title' of $dashboard"
    done < <(titles "$dashboard")
done
