#!/usr/bin/env bash
# Format, lints, documentation, shell scripts and the rules of the house.
. "$(dirname "$0")/lib.sh"

# A version appears in the root Cargo.toml and nowhere else.
versions_stand_once() {
    local found
    found=$(grep -nE '(^|[ {,])version *= *"|^[a-z0-9_-]+ *= *"[=^~]?[0-9]' ./*/Cargo.toml || true)
    found+=$(git grep -nF "$(sed -n 's/^pgrx = "=\(.*\)"$/\1/p' Cargo.toml)" -- ':!Cargo.toml' ':!*Cargo.lock' ':!CHANGELOG.md' || true)
    [ -z "$found" ] || die "$(printf 'versions belong into the root Cargo.toml:\n%s' "$found")"
}

# What the documentation shows a query to answer is what a regression test shows; blocks that are marked `psql demo` are compared with the
# demo instead, by scripts/answers.sh.
examples_are_tested() {
    local found
    # shellcheck disable=SC2016 # awk's variables
    found=$(cat tests/pg_regress/expected/*.out | awk '
        FILENAME == "-" { expected = $0; next }
        /^```psql$/ { inside = 1; example = ""; next }
        /^```$/ && inside { inside = 0; if (!index(expected, example)) print FILENAME " " FNR ":\n" example; next }
        inside { example = example $0 "\n" }' RS='\001' - RS='\n' README.md docs/*.md docs/*/*.md)
    [ -z "$found" ] || die "$(printf 'no test shows these examples:\n%s' "$found")"
}

# A link of a page leads to a file, and to a heading that is there.
links_lead_somewhere() {
    local pages found
    mapfile -t pages < <(git ls-files '*.md')
    found=$(awk -f scripts/links.awk pass=1 "${pages[@]}" pass=2 "${pages[@]}")
    [ -z "$found" ] || die "$(printf 'these links lead nowhere:\n%s' "$found")"
}

# A doc comment begins with a verb or with the thing itself, so that it can be read once and understood.
comments_are_sentences() {
    local found
    found=$(git ls-files -z '*.rs' | xargs -0 awk -f scripts/comments.awk)
    [ -z "$found" ] || die "$(printf 'these doc comments begin with a fragment:\n%s' "$found")"
}

# Checks that rooms of a crate do not use each other in a circle, and use only rooms below them in the head of the crate.
rooms_are_in_order() {
    local crate found=
    for crate in */src; do
        found+=$(git ls-files -z "$crate/*.rs" | xargs -0 awk -f scripts/rooms.awk)
    done
    [ -z "$found" ] || die "$(printf 'these rooms are not in order:\n%s' "$found")"
}

# The console queries functions and views: only the store knows the meaning of its tables. The exception is the version in settings.
console_reads_no_table() {
    local tables found
    tables=$(grep -rhoP 'CREATE TABLE IF NOT EXISTS jobstats\.\K\w+' extension/src/store | sort -u | grep -vx settings | paste -sd '|')
    found=$(git grep -nE "(FROM|JOIN) +jobstats\.($tables|rollup_\w+)\b" -- console/src || true)
    [ -z "$found" ] || die "$(printf 'the console reads these tables:\n%s' "$found")"
}

extension=(--no-default-features --features "jobstats/pg$(pg_major)")

say "cargo fmt --check"
cargo fmt --all --check
say "doc comments"
comments_are_sentences
say "rooms"
rooms_are_in_order
say "places of operations, dimensions and schedulers"
scripts/places.sh check
say "tables that the console reads"
console_reads_no_table
say "budget"
scripts/budget.sh
say "cargo clippy"
cargo clippy --workspace --all-targets "${extension[@]}" -- -D warnings
say "cargo doc"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps "${extension[@]}"
say "shellcheck"
git ls-files -z '*.sh' .ci | xargs -0 shellcheck
say "versions"
versions_stand_once
say "cargo deny check bans licenses sources"
cargo deny check bans licenses sources
say "examples in the documentation"
examples_are_tested
say "links in the documentation"
links_lead_somewhere
