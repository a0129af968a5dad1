#!/usr/bin/env bash
# Four stores behind a front answer every question as one store with the same texts does. With TimescaleDB, two of them are without it.
#
#   front.sh DIR    in the server that runs in DIR
. "$(dirname "$0")/lib.sh"

cluster=$1 output=$target/front/stores
simulator=$built/jobstats-simulator
# The servers of each node: patterns. Those that may have a target feed the same node.
nodes=(mds oss1 oss2 'oss[34]')
forever=$(printf '%s => jobstats_forever(), ' raw_retention retention rollup_10m_retention rollup_1h_retention)

database() { scripts/cluster.sh url "$cluster" "front $1"; }
in_database() { psql -q "$(database "$1")" "${@:2}"; }

# make NAME [NUMBER]
# A database with an empty store that keeps old text.
make() {
    if [[ $1 =~ ^node[01]$ ]]; then
        psql -q "$(scripts/cluster.sh url "$cluster")" -c "CREATE DATABASE \"front $1\""
    else
        new_database "$cluster" "front $1"
    fi
    in_database "$1" -At -c 'CREATE EXTENSION jobstats' -c "SELECT jobstats_setup(${forever}node => ${2:-0})" >"$output/setup.$1"
}

# The texts of a world, with those of people and jobs, in a table of the single store's database and in a file.
simulate() {
    local people=(accounting --scheduler slurm --odd 0)
    make single
    in_database single -c 'CREATE TABLE public.texts (LIKE jobstats.feed)'
    "$simulator" load --preset medium --cluster alpha --scheduler slurm --from 2026-03-10T00:00:00Z --hours 3 --interval 3m --undisturbed --overload \
        --table public.texts --database-url "$(database single)" 2>"$output/loaded"
    "$simulator" "${people[@]}" --no-nightly --from 2026-03-10T00:00:00Z --days 0.001 --directory "$output"
    "$simulator" "${people[@]}" --undisturbed --from 2026-03-08T00:00:00Z --to 2026-03-10T03:00:00Z >"$output/jobs"
    in_database single -v directory="$(realpath "$output")" -f tests/front/people.sql
    in_database single -c '\copy public.texts TO STDOUT' >"$output/texts"
}

# feed NAME PATTERN
# Names and accounting go to every store.
feed() {
    [ "$1" = single ] || in_database "$1" -c 'CREATE TABLE public.texts (LIKE jobstats.feed)' -c '\copy public.texts FROM STDIN' <"$output/texts"
    in_database "$1" -v servers="$2" -f tests/front/feed.sql
    maintain_all "$(database "$1")"
    # What a node sums depends on what it knows of its tables.
    in_database "$1" -c ANALYZE
}

# ask NAME
# What functions and views answer, what dashboards show, and what commands of the console print but for the moment at which they do.
ask() {
    local arguments
    {
        in_database "$1" -f tests/front/questions.sql
        in_database "$1" -f tests/front/dashboards.sql
        while read -r arguments; do
            echo "== $arguments"
            eval "$built/jobstats-console $arguments" </dev/null || echo "exit code $?"
        done <tests/front/commands
    } 2>&1 | sed -E 's/Made 20[^<]* by/Made by/; /<td>silent</d' >"$output/$1"
}

mkdir -p "$output"
psql -q "$(scripts/cluster.sh url "$cluster")" -c 'CREATE ROLE front_reader' -c 'CREATE ROLE front_own' -c 'CREATE ROLE front_nameless'
simulate
feed single .
make front
in_database front -c 'CREATE EXTENSION postgres_fdw'
for n in "${!nodes[@]}"; do
    make "node$n" "$n"
    feed "node$n" "${nodes[n]}"
    in_database front -At -v node="node$n" -v host="$cluster" -v dbname="front node$n" -f tests/front/attach.sql
done
# A node that is not fed yet changes no answer.
make empty 9
in_database front -At -v node=empty -v host="$cluster" -v dbname='front empty' -f tests/front/attach.sql
for store in single front; do
    JOBSTATS_DATABASE_URL=$(database $store) ask $store
done
diff -u "$output/single" "$output/front"
[ "$(wc -l <"$output/front")" -gt 3000 ]
# Each node that has rows sums them; where all targets of a question are those of one node, it alone.
in_database front -f tests/front/plans.sql 2>&1 | awk '
    /^question/ { question = $0; summed[question] = 0 }
    /^one node/ { question = $0; summed[question] = 3 }
    question ~ /^one/ && /"(node[0-2]|empty) (increments|rollup_10m|rollup_1h)/ { print; bad = 1 }
    /Relations: Aggregate on \(.*(increments|rollup_)/ { summed[question]++ }
    END { for (question in summed) { print summed[question], question; if (summed[question] < 4) bad = 1 } exit bad || NR == 0 }' >"$output/summed" ||
    { cat "$output/summed" && exit 1; }
# Without what depends on where it runs.
in_database front -v host="$cluster" -f tests/front/refused.sql 2>&1 | sed -E '/^(LOCATION|DETAIL|\t)/d; s/^psql:[^ ]+ //; s/[0-9]+\.[0-9]+\.[0-9]+/VERSION/g' >"$output/refused"
diff -u tests/front/refused.expected "$output/refused"
