#!/usr/bin/env bash
# Writes the output of a commit to files, so that two commits can be compared with diff -r.
#
#   oracle.sh COMMIT DIRECTORY
#
#   regress/NAME.out    the output of each regression test of the commit
#   reading/QUESTION    the rows of each query of bench/reading.sh, as in this working tree
#   proof/LAYOUT        the comparison of the functions with the simulated truth
#
# Builds the commit in a worktree and installs it into a copy of PostgreSQL, so that nothing else on this machine changes.
#
#   JOBSTATS_READING_SCALE      users and jobs, compared with the preset (0.1 here)
#   JOBSTATS_READING_DIRECTORY  where stores of bench/reading.sh stay: with the same stores, sums have the same order
. "$(dirname "$0")/lib.sh"

[ $# = 2 ] || { sed -n '2,/^$/s/^#\( \|$\)//p' "$0" >&2 && exit 2; }
commit=$(git rev-parse --verify "$1^{commit}")
output=$(realpath -m "$2")
# The build is cached for the next commit.
export JOBSTATS_PROFILE=${JOBSTATS_PROFILE:-dev} CARGO_TARGET_DIR=$target/oracle
tree=$CARGO_TARGET_DIR/tree
# The user of servers may not read below the home of root.
work=$(mktemp -d /var/tmp/jobstats-oracle.XXXXXX)
reading=${JOBSTATS_READING_DIRECTORY:-$work/reading}
cleanup() {
    [ ! -e "$reading" ] || scripts/cluster.sh stop "$reading"
    cd "$root"
    git worktree remove --force "$tree"
    rm -rf "$work"
}
trap cleanup EXIT
chmod 0755 "$work"
[ ! -e "$tree" ] || git worktree remove --force "$tree"
git worktree add -q --detach "$tree" "$commit"
# Built for the PostgreSQL that is copied, whose path Cargo knows.
(cd "$tree" && bash -c '. scripts/lib.sh && build_all')
tar -C / -c "$("$PG_CONFIG" --bindir)" "$("$PG_CONFIG" --pkglibdir)" "$("$PG_CONFIG" --sharedir)" 2>/dev/null | tar -C "$work" -x
PG_CONFIG=$work$("$PG_CONFIG" --bindir)/pg_config
export PG_CONFIG
"$tree/scripts/install.sh" built

rm -rf "$output"/{regress,reading,proof} "$CARGO_TARGET_DIR"/{regress,proof}
mkdir -p "$output"/{regress,reading,proof}
# A test whose output is not expected has one, too. How many texts the part now reads depends on the clock.
mapfile -t parts < <("$tree/scripts/proof.sh" parts | sed '/^now$/d; s/^/proof:/')
JOBSTATS_TEST_INSTALLED=yes "$tree/scripts/test.sh" regress "${parts[@]}" || true
cp "$CARGO_TARGET_DIR"/regress/*/results/*.out "$output/regress"
for part in "$CARGO_TARGET_DIR"/proof/*/; do cp "$part/report" "$output/proof/$(basename "$part")"; done

# The same day whenever this runs.
JOBSTATS_READING_SCALE=${JOBSTATS_READING_SCALE:-0.1} JOBSTATS_READING_DIRECTORY=$reading JOBSTATS_READING_DAY=2025-06-01 \
    JOBSTATS_READING_RUNS=0 bench/reading.sh || true
cp "$reading/answers/"* "$output/reading"
