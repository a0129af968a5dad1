# Sums all counters of a text and counts its records, to check what readers return.
#
# Doubles are exact for integers below 2^53 only, so numbers above a thousand million are summed separately.

/^- job_id:/ { records++ }

/^  [a-z_]+: *\{/ {
    gsub(/ [0-9]+[KMG]?: /, " ") # the names of buckets
    gsub(/[^0-9]+/, " ")
    for (field = 1; field <= NF; field++) {
        digits = length($field)
        low += digits > 9 ? substr($field, digits - 8) : $field
        if (digits > 9) high += substr($field, 1, digits - 9)
        if (low >= 1e9) { low -= 1e9; high++ }
    }
}

END { printf "%d %.0f%09d\n", records, high, low }
