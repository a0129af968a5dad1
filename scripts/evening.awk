# Makes one script of the blocks of a page that are marked evening, in their order: ```sh evening is run, ```sql evening is for psql, and
# ```sh evening NAME is saved as NAME. Before each, its line of the page is printed.
#
#   awk -f evening.awk PAGE

BEGIN { print "set -euo pipefail" }

/^```(sh|sql) evening/ {
    inside = 1
    end = ""
    printf "echo '== %s:%d'\n", FILENAME, FNR + 1
    if ($3 != "") end = "cat >" $3
    else if ($1 == "```sql") end = "psql -X -v ON_ERROR_STOP=1 jobstats"
    if (end != "") print end " <<'EVENING'"
    next
}

inside && $0 == "```" {
    if (end != "") print "EVENING"
    inside = 0
    next
}

inside
