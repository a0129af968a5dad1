#!/usr/bin/env bash
# Installs, upgrades and removes the .rpm packages with rpm, on a system without their dependencies.
. "$(dirname "$0")/common.sh"

rpm --initdb
make_lctl
make_ssh
tar -C / -xzf "$packages"/jobstats-*.tar.gz
rpm -i --nodeps "$packages"/jobstats-{console,shipper}-*.rpm
installed_well
console_works
rpm -V --nodeps jobstats-console jobstats-shipper
printf '# kept\nJOBSTATS_DATABASE_URL=postgresql://jobstats@127.0.0.1:1/jobs?sslmode=disable\n' >"$config"
unreachable
waiting 1

rpm -U --nodeps "$packages/next"/jobstats-console-*.rpm
console_works
rpm -U --nodeps "$packages/next"/jobstats-shipper-*.rpm
is "# kept" "$(head -n 1 "$config")" "first line of the configuration after an upgrade"
installed_well
waiting 1
passed "an upgrade kept configuration and spool"

said=$(rpm -e --nodeps jobstats-shipper 2>&1)
[[ $said == *"$spool retains 1 unsent"* ]] || fail "removal does not say that the spool stays: $said"
waiting 1
is "# kept" "$(head -n 1 "$config.rpmsave")" "first line of the saved configuration"
[ ! -e /usr/bin/jobstats-shipper ] || fail "removal left the program"
passed "removal left the spool and said so"

rpm -e --nodeps jobstats-console
is "" "$(find /usr/bin /usr/share/man -name 'jobstats-*')" "files of the programs after their removal"

rpm -i --nodeps "$packages"/jobstats_*.rpm
name=$(rpm -qa 'jobstats_*')
files=$(rpm -ql "$name")
library=$(grep '\.so$' <<<"$files")
[[ $library == /usr/pgsql-*/lib/jobstats-*.so ]] || fail "the library is $library"
grep -q '^/usr/pgsql-.*/share/extension/jobstats.control$' <<<"$files" || fail "there is no control file"
rpm -U --nodeps "$packages/next"/jobstats_*.rpm
rpm -e --nodeps "$(rpm -qa 'jobstats_*')"
[ ! -e "$library" ] || fail "removal left the library"
passed "the extension has PGDG's paths"
