#!/usr/bin/env bash
# What jobstats prints for Prometheus and Alertmanager is what these programs of Debian's take: the metrics, the rules of packaging, and the
# alerts of events, which a running Alertmanager has then.
#
#   alerts.sh CLUSTER DATABASE
. "$(dirname "$0")/lib.sh"

cluster=$1
have_alerting || { echo 'not run: make setup-dev fetches promtool and prometheus-alertmanager' && exit 77; }
unshare --map-root-user --mount true 2>/dev/null || { echo 'not run: this machine lets nobody mount for a program' && exit 77; }
new_store "$cluster" "$2" >/dev/null
url=$(scripts/cluster.sh url "$cluster" "$2")
work=$(mktemp -d)
manager=
trap '[ -z "$manager" ] || kill "$manager"; rm -r "$work"' EXIT

psql -q "$url" <<-'SQL'
	INSERT INTO jobstats.events (kind, cluster, filesystem, began, found, until, updated, severity, targets, servers, value, usual, rate, details, notified)
	SELECT e.kind, 'here', e.filesystem, now() - interval '1 hour', now(), now(), now(), e.severity, '{a-OST0000}', '{oss1}', 0.3, 0.02, 5, '{}', now()
	FROM (VALUES ('waiting', 'a', 'warning'), ('stalled', 'b"\n{}', 'critical')) AS e (kind, filesystem, severity);
SQL
psql -q -At "$url" -c 'SELECT jobstats_metrics()' >"$work/metrics"
# Advice on names is for whoever chooses them.
"$alerting/promtool" check metrics <"$work/metrics" >"$work/advice" 2>&1 || [ "$?" -eq 3 ] || { cat "$work/advice" && exit 1; }
"$alerting/promtool" check rules packaging/jobstats.rules.yml
"$alerting/promtool" test rules tests/alerts/rules.yml

printf 'route: {receiver: nobody}\nreceivers: [{name: nobody}]\n' >"$work/alertmanager.yml"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# It reads its templates where a package would be installed.
# shellcheck disable=SC2016 # for the other shell
unshare --map-root-user --mount sh -c 'mount -t overlay overlay -o lowerdir="$1:/usr/share" /usr/share && shift && exec "$@"' - \
    "${alerting%/bin}/share" "$alerting/prometheus-alertmanager" --config.file="$work/alertmanager.yml" --storage.path="$work" \
    --cluster.listen-address= --web.listen-address="127.0.0.1:$port" >"$work/log" 2>&1 &
manager=$!
psql -q -At "$url" -c 'SELECT jobstats_alerts()' >"$work/alerts"
python3 tests/alerts/post.py "http://127.0.0.1:$port" "$work/alerts" || { cat "$work/log" && exit 1; }
