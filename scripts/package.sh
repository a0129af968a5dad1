#!/usr/bin/env bash
# Makes packages of the shipper, of the console, and of the extension for this PostgreSQL: .deb, .rpm, and a tarball to
# unpack at / of a machine of this kind.
#
#   package.sh              all
#   package.sh extension    the extension alone, as .deb and .rpm
#
# VERSION is the version of the packages, for tests of upgrades. MAINTAINER distributes the packages.
. "$(dirname "$0")/lib.sh"

export VERSION=${VERSION:-$(product_version)}
export MAINTAINER=${MAINTAINER:-jobstats <jobstats@localhost>}
output=$target/package
stage=$output/stage
machine=$(uname -m)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

# The architecture as Debian names it; nfpm translates it for .rpm.
architecture() {
    case $machine in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) echo "$machine" ;;
    esac
}

# Debian's changelog has its own format; the changelog of jobstats is CHANGELOG.md.
changelog() {
    printf '%s (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of jobstats.\n\n -- %s  %s\n' \
        "$1" "$VERSION" "$MAINTAINER" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$stage/changelog.gz"
}

# pack KIND DESCRIPTION
pack() {
    (cd "$stage" && "$packaging_tools/bin/nfpm" package --packager "$1" --config "packaging/nfpm/$2.yaml" --target "$output")
}

# stage_program NAME
# The program, and its manual pages and completions as it writes them itself.
stage_program() {
    install -m 0755 "$made/$1" "$stage"
    "$made/$1" generate "$stage/generated"
    gzip -9n "$stage/generated/$1"*.1
}

# pack_program NAME
pack_program() {
    GLIBC=$(newest_glibc "$made/$1")
    export GLIBC
    changelog "$1"
    pack deb "${1#jobstats-}"
    pack rpm "${1#jobstats-}"
}

# The library as `make install` installs it, without the symbols that only a debugger reads.
pack_extension() {
    local tree=$stage/tree
    stage_extension "$tree"
    mv "$tree$("$PG_CONFIG" --pkglibdir)" "$stage/lib"
    mv "$tree$("$PG_CONFIG" --sharedir)/extension" "$stage/extension"
    strip --strip-unneeded "$stage"/lib/*.so
    PG_MAJOR=$(pg_major) GLIBC=$(newest_glibc "$built/libjobstats.so")
    export PG_MAJOR GLIBC NAME LIBRARIES SCRIPTS
    NAME=postgresql-$PG_MAJOR-jobstats
    LIBRARIES=/usr/lib/postgresql/$PG_MAJOR/lib SCRIPTS=/usr/share/postgresql/$PG_MAJOR/extension
    changelog "$NAME"
    pack deb extension
    NAME=jobstats_$PG_MAJOR
    LIBRARIES=/usr/pgsql-$PG_MAJOR/lib SCRIPTS=/usr/pgsql-$PG_MAJOR/share/extension
    pack rpm extension
}

# Files alone: unpacking must not touch the directories of the system.
tarball() {
    local name tree
    name=jobstats-$VERSION-pg$(pg_major)-$(uname -s | tr '[:upper:]' '[:lower:]')-$machine
    tree=$output/$name
    rm -rf "$tree"
    stage_extension "$tree"
    install -D -m 0755 -t "$tree/usr/bin" "${programs[@]/#/$made/}"
    install -D -m 0644 -t "$tree/usr/share/man/man1" "$stage"/generated/*.1.gz
    install -D -m 0644 -t "$tree/usr/share/doc/jobstats" LICENSE CHANGELOG.md packaging/*.*
    (cd "$tree" && find . -type f -print0 | sort -z) |
        tar -C "$tree" --owner=0 --group=0 --null --files-from=- -czf "$tree.tar.gz"
    rm -rf "$tree"
    printf '%s\n' "$tree.tar.gz"
}

ARCH=$(architecture)
export ARCH
rm -rf "$stage"
mkdir -p "$stage/generated"
# Packages of an earlier version.
find "$output" -maxdepth 1 -type f ! -name "*$(product_version)*" -delete
cp -r packaging LICENSE packaging/nfpm/copyright "$stage"
have_packaging_tools || say "without nfpm (make setup-package) there is only a tarball"
if [ "${1:-}" != extension ]; then
    build_programs
    for program in "${programs[@]}"; do
        stage_program "$program"
        ! have_packaging_tools || pack_program "$program"
    done
fi
# Without zig the programs were built with the extension; another choice of packages would compile much of it again.
if have_packaging_tools; then build jobstats; else build_all; fi
! have_packaging_tools || pack_extension
[ "${1:-}" = extension ] || tarball
rm -rf "$stage"
