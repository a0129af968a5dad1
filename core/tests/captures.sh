#!/bin/sh
# Counts of the captures in a directory, made with grep and awk alone. Of each file:
#   <file> records <number>
#   <file> <operation> <lines> <sum of samples> <sum of sums>
set -eu
cd "$1"
for file in *.txt; do
    echo "$file records $(grep -c '^ *- job_id:' "$file")"
    grep -E '^ *[a-z_]+: *\{ *samples:' "$file" | tr ',{}' '   ' | awk -v file="$file" '
        {
            gsub(":", ": ")
            name = $1
            sub(":", "", name)
            lines[name]++
            for (field = 2; field < NF; field++) {
                if ($field == "samples:") samples[name] += $(field + 1)
                if ($field == "sum:") sums[name] += $(field + 1)
            }
        }
        END { for (name in lines) printf "%s %s %.0f %.0f %.0f\n", file, name, lines[name], samples[name], sums[name] }
    ' || true
done
