#!/usr/bin/env bash
# Upgrade scripts of the extension, from every version that was released to this one.
#
#   upgrade-scripts.sh make FROM TO    writes them into the directory TO; the install script is in FROM
#   upgrade-scripts.sh release FROM    keeps the install script that is in FROM, as the next thing to upgrade from
#   upgrade-scripts.sh check           fails if what was released is no longer what it was
#
# The library of a version has the version in its name, and functions that name another library must all be made anew:
# an upgrade script is the install script with OR REPLACE, after what extension/sql/changed-since-VERSION.sql drops or
# alters. Every version has one of its own, for the libraries of versions in between are not there to pass through.
. "$(dirname "$0")/lib.sh"

kept=extension/sql
version=$(product_version)

# Versions that were released, oldest first; each is a line with its revision.
released() { cut -d ' ' -f 1 "$kept/released"; }

# What cannot be replaced stays as it is where it is there.
replacing() {
    awk '
        /^CREATE (FUNCTION|PROCEDURE|AGGREGATE) / { sub(/^CREATE /, "CREATE OR REPLACE ") }
        /^CREATE (SCHEMA|TYPE|DOMAIN|OPERATOR|CAST) / { print "DO $upgrade$ BEGIN"; guarded = 1 }
        { print }
        guarded && /;$/ { print "EXCEPTION WHEN duplicate_schema OR duplicate_object OR duplicate_function THEN NULL; END $upgrade$;"; guarded = 0 }'
}

make_scripts() {
    local from earlier
    ! grep -n "'MODULE_PATHNAME'" "$1/jobstats--$version.sql" || die "write '@MODULE_PATHNAME@', which names the version's library"
    for from in $(released); do
        {
            for earlier in $(released | sed -n "/^${from//./\\.}$/,\$p"); do
                cat "$kept/changed-since-$earlier.sql"
            done
            replacing <"$1/jobstats--$version.sql"
        } >"$2/jobstats--$from--$version.sql"
    done
}

release() {
    cp "$1/jobstats--$version.sql" "$kept/"
    printf '%s %s\n' "$version" "$(git rev-parse HEAD)" >>"$kept/released"
    printf -- "-- What OR REPLACE does not change of what %s made; runs before it.\n" "$version" >"$kept/changed-since-$version.sql"
    # From now on nobody edits these; the new file is open until the next release.
    (cd "$kept" && find . -name '*.sql' ! -name "changed-since-$version.sql" -printf '%P\n' | sort -V | xargs sha256sum released >SHA256SUMS)
}

check() {
    (cd "$kept" && sha256sum --check --quiet --strict SHA256SUMS) ||
        die "databases in use went through these scripts: changes belong into changed-since-$(released | tail -n 1).sql"
    ! released | grep -qxF "$version" || die "$version was released: raise the version in Cargo.toml"
}

case ${1:-} in
make) make_scripts "$2" "$3" ;;
release) release "$2" ;;
check) check ;;
*) sed -n '2,/^$/s/^#\( \|$\)//p' "$0" >&2 && exit 64 ;;
esac
