# The sum of all numbers of all counters of a text, beside the number of its records: what reading it is checked against.
#
# Doubles hold whole numbers below 2^53 only: what is above a thousand million is summed up apart.

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
