#!/usr/bin/env bash
# Compares the size of the source with scripts/budget, which has a line for each figure.
#
#   scripts/budget.sh                        fails if a figure is above its line, and names those well below
#   scripts/budget.sh show FIGURE            lists what contributes to it, the largest first
#   scripts/budget.sh show FIGURE FILE...    also lists the markers of these files
#   scripts/budget.sh write                  writes the current figures into scripts/budget
. "$(dirname "$0")/lib.sh"
export LC_ALL=C

count() { awk -f scripts/budget.awk "$@"; }

# Includes files that are not yet added, but no deleted or generated ones.
mapfile -d '' listed < <(git ls-files -z --cached --others --exclude-standard -- '*.'{md,rs,sql,out,sh,awk,py} ':!extension/sql/jobstats--*')
files=()
for file in "${listed[@]}"; do
    [ ! -f "$file" ] || files+=("$file")
done

case ${1:-check} in
    check)
        # shellcheck disable=SC2016 # awk's variables
        count "${files[@]}" | awk '
            FILENAME != "-" { line[$1] = $2; next }
            { value[$1] = $2; line[$1] += 0 }
            END {
                for (figure in line) {
                    now = value[figure] + 0
                    if (now > line[figure]) {
                        print figure " is " now ", above " line[figure] " in scripts/budget; scripts/budget.sh show " figure " lists what contributes"
                        failed = 1
                    } else if (now < 0.98 * line[figure])
                        print figure " is " now ", below " line[figure] " in scripts/budget: lower it in this commit, with scripts/budget.sh write"
                }
                exit failed
            }' scripts/budget - >&2
        ;;
    show)
        figure=${2:-}
        grep -q "^$figure " scripts/budget || die "scripts/budget has no figure '$figure'"
        if [ $# -gt 2 ]; then
            count -v show="$figure" -v places=1 "${@:3}"
        else
            count -v show="$figure" "${files[@]}" | sort -k 1,1nr -k 2
        fi
        ;;
    write) count "${files[@]}" | sort >scripts/budget ;;
    *) die "unknown command $1" ;;
esac
