#!/usr/bin/env bash
# Checks the packages of `make package`.
#
#   test-packages.sh files               checks contents, C library, owners, scripts and dependencies: takes a second
#   test-packages.sh hand-over SYSTEM    copies them to a system of .ci/pristine
#   test-packages.sh                     also installs, upgrades and removes them in new systems; needs root
. "$(dirname "$0")/lib.sh"

made=$target/package
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jobstats
# Bytes of each program, at most.
declare -A most=([console]=12000000 [shipper]=8000000)

# one PATTERN
one() {
    local found
    found=$(find "$made" -maxdepth 1 -name "$1")
    [ -f "$found" ] || die "there is no single $made/$1: run make package"
    printf '%s\n' "$found"
}

# check_program NAME
# The program runs wherever Lustre does, and is small.
check_program() {
    local tree glibc size
    tree=$(mktemp -d)
    dpkg-deb -x "$(one "jobstats-$1_*.deb")" "$tree"
    glibc=$(newest_glibc "$tree/usr/bin/jobstats-$1")
    size=$(stat -c %s "$tree/usr/bin/jobstats-$1")
    rm -r "$tree"
    ! have_packaging_tools || [ "$glibc" = "$oldest_glibc" ] || die "the $1 needs glibc $glibc, not $oldest_glibc"
    [ "$size" -lt "${most[$1]}" ] || die "the $1 has $size bytes"
    printf 'ok: the %s has %s bytes and runs with glibc %s and newer\n' "$1" "$size" "$glibc"
}

# listing PACKAGE
# Access, owner and path of each file, without versions, and with one line for the manual pages of all commands.
listing() {
    local version
    version=$(product_version)
    case $1 in
    *.deb) dpkg-deb -c "$1" | awk '{ print $1, $2, $6 }' ;;
    *.rpm) rpm -qp --qf '[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} %{FILENAMES}\n]' "$1" ;;
    esac |
        sed -E "s/${version//./\\.}/VERSION/; s/(postgresql[-/]|pgsql-|jobstats_)[0-9]+/\1MAJOR/; s/(shipper|console)-[a-z]+(\.1\.gz)/\1-COMMAND\2/" |
        LC_ALL=C sort -u -k 3
}

# check_files NAME PATTERN
check_files() {
    diff -u "tests/packages/$1.files" <(listing "$(one "$2")") || die "the files of $2 differ from tests/packages/$1.files"
    printf 'ok: files of %s\n' "$1"
}

# check_rpm NAME PATTERN
# The files are where EL expects them, and EL8 and EL9 have what the package needs: rpm 4.14 there reads gzip and SHA-256.
check_rpm() {
    local rpm needs
    rpm=$(one "$2")
    check_files "$1.rpm" "$2"
    needs=$(rpm -qp --requires "$rpm" | grep -vxE "/bin/sh|/usr/sbin/useradd|tzdata|postgresql$(pg_major)-server|glibc >= 2\.[0-9]+|libc\.so\.6\(GLIBC_2\.[0-9]+\)\(64bit\)|rpmlib\((CompressedFileNames|FileDigests|PayloadFilesHavePrefix)\) <= .*") ||
        true
    [ -z "$needs" ] || die "$rpm needs: $needs"
    [ "$(rpm -qp --qf '%{PAYLOADCOMPRESSOR} %{FILEDIGESTALGO}' "$rpm")" = 'gzip 8' ] || die "EL8 cannot read $rpm"
    rpm -qp --scripts "$rpm" | grep 'scriptlet (' | grep -v '(using /bin/sh):$' && die "$rpm has a script for another shell"
    printf 'ok: dependencies of %s.rpm\n' "$1"
}

# The scripts of both packages of the shipper are the same.
check_scripts() {
    local tree script
    tree=$(mktemp -d)
    dpkg-deb -e "$1" "$tree"
    for script in preinst postinst prerm postrm; do
        sh -n "$tree/$script"
    done
    grep -qx /etc/jobstats/shipper.conf "$tree/conffiles" || die "the configuration is no conffile"
    cat "$tree"/{pre,post}{inst,rm} | diff -B - <(rpm -qp --qf '%{PREIN}\n%{PREUN}\n%{POSTIN}\n%{POSTUN}\n' "$2") || die "the scripts of $2 are others than of $1"
    rm -r "$tree"
    printf 'ok: scripts\n'
}

# The programs, each with its manual page.
check_tarball() {
    local listed name file
    listed=$(tar -tzf "$(one 'jobstats-*.tar.gz')")
    for name in console shipper; do
        for file in "bin/jobstats-$name" "share/man/man1/jobstats-$name.1.gz"; do
            grep -qx "./usr/$file" <<<"$listed" || die "the tarball has no $file"
        done
    done
    printf 'ok: programs of the tarball\n'
}

# Everything that compose.yaml gives to a container is there.
check_compose() {
    local file
    sed -n 's/^ *- \(\.[^:]*\):.*/\1/p' compose.yaml | while read -r file; do
        [ -e "$file" ] || die "compose.yaml names $file, which does not exist"
    done
    printf 'ok: files of compose.yaml\n'
}

check_all_files() {
    local name
    for name in console shipper; do
        check_program "$name"
        check_files "$name" "jobstats-${name}_*.deb"
        check_rpm "$name" "jobstats-$name-*.rpm"
    done
    check_files extension "postgresql-$(pg_major)-jobstats_*.deb"
    check_rpm extension "jobstats_$(pg_major)-*.rpm"
    check_scripts "$(one 'jobstats-shipper_*.deb')" "$(one 'jobstats-shipper-*.rpm')"
    check_tarball
    check_compose
}

# hand_over SYSTEM
# Gives the packages to a system of .ci/pristine.
hand_over() {
    rm -rf "$cache/target-$1/package"
    mkdir -p "$cache/target-$1/package"
    cp "$made"/*.{deb,rpm,tar.gz} "$cache/target-$1/package/"
    [ ! -d "$made/next" ] || cp -r "$made/next" "$cache/target-$1/package/"
}

# in_new SYSTEM TEST
in_new() {
    say "$1: $2"
    .ci/pristine "$1" "tests/packages/$2.sh"
}

if [ "${1:-}" = hand-over ]; then
    hand_over "$2"
    exit
fi
check_all_files
[ "${1:-}" != files ] || exit 0
is_root || die "making new systems needs root"
mkdir -p "$made/next"
VERSION=$(product_version)+next scripts/package.sh
mv "$made"/*+next*.{deb,rpm} "$made/next"
rm -f "$made"/*+next*
for system in bookworm bookworm+rpm bullseye; do
    hand_over "$system"
done
in_new bookworm deb
in_new bookworm+rpm rpm
in_new bullseye oldest
in_new bookworm lint
# The extension for the PostgreSQL of Debian 13 is built there.
rm -rf "$cache/target-trixie/package"
.ci/pristine trixie "make setup-package && VERSION=$(product_version)+next scripts/package.sh extension &&
    mkdir target/package/next && mv target/package/*.deb target/package/next && rm target/package/*.rpm && scripts/package.sh extension"
cp "$made"/jobstats-{console,shipper}_*.deb "$cache/target-trixie/package/"
cp "$made"/next/jobstats-{console,shipper}_*.deb "$cache/target-trixie/package/next/"
in_new trixie deb
