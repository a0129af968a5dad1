#!/usr/bin/env bash
# Lists the files that name every member of a kind, or are named after it: a new member belongs there too.
#
#   scripts/places.sh KIND           KIND is scheduler, operation or dimension
#   scripts/places.sh KIND NAME      only the files that lack NAME
#   scripts/places.sh check          fails if a member lacks a file that all others have
. "$(dirname "$0")/lib.sh"

# Files that all members have but one, which does not need it.
exceptions='dimension job_group tests/pg_regress/sql/unknown_names.sql
scheduler flux core/tests/accounting/flux.rs
scheduler flux core/tests/accounting/flux.sh
scheduler gridengine simulator/tests/command.rs
scheduler lsf core/fuzz/fuzz_targets/accounting.rs'

members() {
    case $1 in
        scheduler) schedulers ;;
        operation) sed -n 's/^ *request("\([a-z_]*\)".*/\1/p' core/src/base/operation.rs ;;
        dimension) sed -n '/DIMENSIONS/,/^];/p' core/src/usage/dimension.rs | tr '\n' ' ' | grep -oP '\b(of|of_target|number)\(\s*"\K\w+' ;;
        *) die "unknown kind '$1'" ;;
    esac
}

# places KIND [NAME]
# MEMBER FILE of each member and of NAME, with the name of the member replaced by NAME in that of the file. A directory of its name stands for
# its files. Expected output and figures come from running tests and benchmarks.
places() {
    local member
    for member in $({ members "$1"; echo "${2:-}"; } | sort -u); do
        {
            git grep --untracked -lwI "$member" -- ':!CHANGELOG.md' || true
            git ls-files --cached --others --exclude-standard | grep -E "(^|[^a-z])$member([^a-z]|\$)" || true
        } | sed -E "s/(^|[^a-z])$member([^a-z]|\$)/\1NAME\2/g; s#NAME/.*#NAME/#" | grep -vE '/expected/|/golden/|^bench/results' |
            sort -u | sed "s/^/$member /"
    done
}

# lacking KIND [NAME]
# MEMBER FILE of each file that only one member lacks, or that only NAME lacks.
lacking() {
    places "$@" | awk -v only="${2:-}" '
        BEGIN { if (only != "") { members[only]; amount++ } }
        !($1 in members) { members[$1]; amount++ }
        { having[$2]++; has[$1, $2] }
        END {
            for (file in having) if (having[file] == amount - 1)
                for (member in members) if (!((member, file) in has) && (only == "" || member == only)) {
                    name = file
                    gsub(/NAME/, member, name)
                    print member, name
                }
        }' | sort
}

case "$#:${1:-}" in
    1:check)
        found=$(for kind in dimension operation scheduler; do lacking $kind | sed "s/^/$kind /"; done | grep -vxF "$exceptions" || true)
        [ -z "$found" ] || die "$(printf 'all others of the kind are in these files:\n%s' "$found")"
        ;;
    1:*) places "$1" | awk -v all="$(members "$1" | wc -l)" '{ having[$2]++ } END { for (file in having) if (having[file] == all) print file }' | sort ;;
    2:*) lacking "$1" "$2" | cut -d ' ' -f 2 ;;
    *) die "usage: scripts/places.sh KIND [NAME]" ;;
esac
