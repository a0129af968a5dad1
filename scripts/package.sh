#!/usr/bin/env bash
# A tarball to unpack at / of a machine of this kind: the extension for this PostgreSQL, and the shipper.
. "$(dirname "$0")/lib.sh"

name=jobstats-$(product_version)-pg$(pg_major)-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
tree=$target/package/$name

rm -rf "$tree"
build_extension jobstats-shipper
stage_extension "$tree"
install -D -m 0755 "$target/release/jobstats-shipper" "$tree/usr/bin/jobstats-shipper"
install -D -m 0644 -t "$tree/usr/share/doc/jobstats" LICENSE CHANGELOG.md packaging/*
# Files alone: unpacking must not touch the directories of the system.
(cd "$tree" && find . -type f -print0 | sort -z) |
    tar -C "$tree" --owner=0 --group=0 --null --files-from=- -czf "$tree.tar.gz"
printf '%s\n' "$tree.tar.gz"
