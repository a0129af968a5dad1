#!/usr/bin/env bash
# Checks that the answers in README, questions and recipes match the demo: runs their statements and compares.
#
#   answers.sh URL          shows the differences, and fails if there are any
#   answers.sh write URL    writes the answers into the pages
#
# The pages with the answers stay in target/answers. The day that the demo loads as yesterday is 2026-03-10 in them, whenever that was.
. "$(dirname "$0")/lib.sh"

write=
[ "$1" != write ] || { write=1 && shift; }
answers=$target/answers status=0
mkdir -p "$answers"
days=()
for day in {-3..2}; do days+=(-e "s/$(date -u -d "$day day" +%F)/$(date -u -d "2026-03-11 $day day" +%F)/g"); done
for page in README.md docs/{questions,recipes}.md; do
    new=$answers/${page##*/}
    awk -f scripts/answers.awk "$page" >"$new.sql"
    PGTZ=UTC PGDATESTYLE=ISO psql -q "$1" -f "$new.sql" >"$new.psql" 2>"$new.log" || { cat "$new.log" && exit 1; }
    sed -i "${days[@]}" "$new.psql"
    awk -v answers="$new.psql" -f scripts/answers.awk "$page" >"$new"
    if [ -n "$write" ]; then
        cp "$new" "$page"
    else
        diff -u "$page" "$new" || { cat "$new.log" && status=1; }
    fi
done
exit "$status"
