#!/usr/bin/env bash
# Goes on from a released version: its library, built from its revision, makes a store and fills it. After the update, and
# after jobstats_reprocess(), all is as if this version had made and filled it; also after its dump was restored where only
# this version is. Status 77 where the revision is not at hand.
#
#   upgrade.sh CLUSTER VERSION     VERSION stands in extension/sql/released, and is the name of the database
. "$(dirname "$0")/lib.sh"

cluster=$1 version=$2
released=$target/released/jobstats-$version-pg$(pg_major).so
revision=$(sed -n "s/^${version//./\\.} //p" extension/sql/released)
directory=$("$PG_CONFIG" --sharedir)/extension
bindir=$("$PG_CONFIG" --bindir)
output=$target/upgrade/$version
world=(--layout 2.16 --interval 10m --scale 0.15 --connections 1)
# One hour for all, also if the next one begins meanwhile.
zero=$(date -u +%Y-%m-%dT%H:00:00Z)
from=$(date -u -d "$zero - 30 hours" +%Y-%m-%dT%H:00:00Z)
later=$(date -u -d "$zero - 4 hours" +%Y-%m-%dT%H:00:00Z)

# Builds the library of the released version once, apart from this version's, which has the same name there. It depends on nearly the same
# crates, which are built already.
build_released() {
    local work=$released.work
    [ ! -e "$released" ] || return 0
    rm -rf "$work"
    mkdir -p "$work/source" "$work/build/debug"
    cp -al "$target/debug"/{.fingerprint,build,deps} "$work/build/debug/"
    rm -rf "$work"/build/debug/*/*jobstats*
    git archive "$revision" | tar -x -C "$work/source"
    (cd "$work/source" && CARGO_PROFILE_DEV_DEBUG=false cargo build -p jobstats --no-default-features --features "pg$(pg_major)" --target-dir "$work/build")
    mv "$work/build/debug/libjobstats.so" "$released"
    rm -rf "$work"
}

# Installs the released version beside this one, with the script that is kept.
install_released() {
    local script=extension/sql/jobstats--$version.sql library=$output/jobstats-$version.so
    # Until 0.2.0 the library had no version in its name; the control file said where it was.
    ! grep -q "'MODULE_PATHNAME'" "$script" || library=$output/jobstats.so
    sed "s/'MODULE_PATHNAME'/'jobstats'/" "$script" >"$output/jobstats--$version.sql"
    cp "$released" "$library"
    install_files "$directory" 0644 "$output/jobstats--$version.sql"
    install_files "$("$PG_CONFIG" --pkglibdir)" 0755 "$library"
}

database() { scripts/cluster.sh url "$cluster" "$1"; }
load() { "$built/jobstats-simulator" load --job-stats-only "${world[@]}" --from "$2" --hours "$3" --database-url "$(database "$1")" >/dev/null 2>&1; }
catalog() { psql -q "$(database "$1")" -f tests/store/catalog.sql; }
answers() { psql -q "$(database "$1")" "${@:2}" -f tests/store/answers.sql; }
# Version 0.1 rounds every quotient that a rate is the sum of: its last digits may be others. It took the end of a row for the time of
# the last activity where that was before its last ten minutes.
answers_in_round_numbers() { answers "$1" -v last_active=NULL -c 'SET extra_float_digits = -3' "${@:2}"; }
# As the manual has it: what raw text covers is computed again by the rules of this version.
recompute() {
    local changed
    changed=$(psql -q -At "$(database "$1")" -f tests/upgrade/recompute.sql)
    [ "$changed" -gt 0 ] || die "no observation of $1 was computed again"
}
# Whatever version stored the increments. A gap of hours that the released version divided at hours alone stays marked as coarse.
answers_in_brief() {
    answers "$1" | grep -Ev '^(coarse|increments)\|'
    psql -q -At "$(database "$1")" -f tests/upgrade/increments.sql
}

git cat-file -e "$revision^{commit}" 2>/dev/null || { echo "not run: this checkout lacks revision $revision" && exit 77; }
mkdir -p "$output"
build_released
install_released
fresh="$version afresh" elsewhere="$version elsewhere"
trap 'psql -q "$(database postgres)" -c "SET client_min_messages = warning" \
    -c "DROP DATABASE IF EXISTS \"$fresh\" WITH (FORCE)" -c "DROP DATABASE IF EXISTS \"$elsewhere\" WITH (FORCE)"' EXIT
for name in "$version" "$fresh" "$elsewhere"; do
    new_database "$cluster" "$name"
done

psql -q "$(database "$version")" -v version="VERSION '$version'" -v zero="$zero" -f tests/upgrade/prepare.sql
load "$version" "$from" 26
answers_in_round_numbers "$version" -v time_unit=1000000 >"$output/before"
"$bindir/pg_dump" --format=custom --dbname="$(database "$version")" --file="$output/dump"
restoring "$(database "$elsewhere")" "$bindir/pg_restore" --exit-on-error --dbname="$(database "$elsewhere")" "$output/dump"
psql -q "$(database "$version")" -f tests/upgrade/update.sql
psql -q "$(database "$elsewhere")" -c 'DROP VIEW public.mine' -c 'SELECT jobstats_setup()' -f tests/upgrade/mine.sql >/dev/null
for name in "$version" "$elsewhere"; do
    answers_in_round_numbers "$name" >"$output/updated"
    # Settings, targets and writers have more columns; columns of users have other names, and update.sql looks at them.
    lost=$(grep -Ev '^(settings|targets|writers|users)' "$output/before" | grep -vxFf "$output/updated") || true
    [ -z "$lost" ] || die "$(printf 'before the update it was\n%s' "$lost")"
done

psql -q "$(database "$fresh")" -v version= -v zero="$zero" -f tests/upgrade/prepare.sql
load "$fresh" "$from" 26
psql -q "$(database "$fresh")" -f tests/upgrade/continue.sql
catalog "$fresh" >"$output/catalog of fresh"
load "$fresh" "$later" 2
psql -q "$(database "$fresh")" -c 'CALL jobstats_maintain()' -f tests/store/rollups.sql
answers_in_brief "$fresh" >"$output/answers of fresh"
for name in "$version" "$elsewhere"; do
    recompute "$name"
    psql -q "$(database "$name")" -f tests/upgrade/continue.sql
    catalog "$name" >"$output/catalog"
    diff -u "$output/catalog of fresh" "$output/catalog"
    load "$name" "$later" 2
    psql -q "$(database "$name")" -c 'CALL jobstats_maintain()' -f tests/store/rollups.sql
    answers_in_brief "$name" >"$output/answers"
    diff -u "$output/answers of fresh" "$output/answers"
    audit "$(database "$name")"
done
printf '%s objects, %s answers\n' "$(grep -c '^member\|^store' "$output/catalog")" "$(wc -l <"$output/answers")"
