#!/usr/bin/env bash
# Upgrade scripts of the extension, from every version that was released to this one.
#
#   upgrade-scripts.sh make DIRECTORY    writes them into the directory
#   upgrade-scripts.sh release           records this version as released: its install script must not change any more
#   upgrade-scripts.sh check             fails if a released file changed, or if there is a script of an unknown version
#
# The library of a version has the version in its name, and functions that name another library must all be made anew:
# an upgrade script is the install script with OR REPLACE, after what extension/sql/changed-since-VERSION.sql drops or
# alters. Every version has one of its own, for the libraries of versions in between are not there to pass through.
. "$(dirname "$0")/lib.sh"

kept=extension/sql
version=$(product_version)
install_script=$kept/jobstats--$version.sql

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
    ! grep -n "'MODULE_PATHNAME'" "$install_script" || die "write '@MODULE_PATHNAME@', which names the version's library"
    for from in $(released); do
        {
            for earlier in $(released | sed -n "/^${from//./\\.}$/,\$p"); do
                cat "$kept/changed-since-$earlier.sql"
            done
            replacing <"$install_script"
        } >"$1/jobstats--$from--$version.sql"
    done
}

release() {
    git cat-file -e "HEAD:$install_script" || die "run make schema and commit $install_script"
    git diff --quiet HEAD -- || die "commit all"
    printf '%s %s\n' "$version" "$(git rev-parse HEAD)" >>"$kept/released"
    printf -- "-- What OR REPLACE does not change of what %s made; runs before it.\n" "$version" >"$kept/changed-since-$version.sql"
    # From now on nobody edits these; the new file is open until the next release.
    (cd "$kept" && find . -name '*.sql' ! -name "changed-since-$version.sql" -printf '%P\n' | sort -V | xargs sha256sum released >SHA256SUMS)
}

check() {
    (cd "$kept" && sha256sum --check --quiet --strict SHA256SUMS) ||
        die "databases in use went through these scripts: changes belong into changed-since-$(released | tail -n 1).sql"
    ! released | grep -xF "$version" >/dev/null || die "$version was released: raise the version in Cargo.toml and run make schema"
    local script known
    known=$(released | sed 's/.*/jobstats--&.sql/')
    for script in "$kept"/jobstats--*.sql; do
        [ "$script" = "$install_script" ] || grep -qxF "${script##*/}" <<<"$known" || die "$script was never released: remove it"
    done
}

case ${1:-} in
make) make_scripts "$2" ;;
release) release ;;
check) check ;;
*) sed -n '2,/^$/s/^#\( \|$\)//p' "$0" >&2 && exit 64 ;;
esac
