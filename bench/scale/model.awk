# Prints the tables of bench/scale.md: measurements, and the estimate for a site of 480 targets with 100,000 entries each, read every
# minute.
#
#   awk -v measured=HOURS -f model.awk figures fed asked      (columns: name value; nodes elapsed rows entries ticks; name|store|number|ms|kB|ms|ms)

function ceiling(x) { return x == int(x) ? x : int(x) + 1 }
function grouped(x, text) { text = sprintf("%.0f", x); while (text ~ /[0-9][0-9][0-9][0-9]($|,)/) sub(/[0-9][0-9][0-9]($|,)/, ",&", text); return text }
# The nodes are of equal size; the slowest counts as the largest.
function own(question, nodes,    node, most) { for (node = 1; node <= nodes; node++) if (alone[question, node] > most) most = alone[question, node]; return most }
function through(question, nodes) { return front[question, nodes] }
function beyond(question, nodes) { return through(question, nodes) - own(question, nodes) }
# The saving per target, times the number of targets.
function grows(question,    more) { more = (own(question, size[sizes]) - single[question]) * value["targets"] / (value["targets"] - 1); return more > 0 ? more : 0 }
function short(ms) { return ms < 10000 ? sprintf("%.0f ms", ms) : sprintf("%.0f s", ms / 1000) }

FILENAME ~ /figures$/ { value[$1] = $2; next }
FILENAME ~ /fed$/ { if (!($1 in elapsed)) fed[++feeds] = $1; elapsed[$1] = $2; rows[$1] += $3; texts[$1] += $4; cpu[$1] += $5 / hertz; next }
{ split($0, field, "|") }
field[2] == "node" { if (!((field[1], 1) in alone)) name[++questions] = field[1]; alone[field[1], field[3]] = field[4] }
field[2] == "whole" { whole[field[1]] = field[4]; whole_of = field[3] }
field[2] == "target" { single[field[1]] = field[4] }
field[2] == "front" {
    front[field[1], field[3]] = field[4]; wire[field[1], field[3]] = field[5]; wait[field[1], field[3]] = field[7]
    if (!(field[3] in seen)) { seen[field[3]]; size[++sizes] = field[3] }
}
END {
    print "## Feeding\n"
    print "| nodes | rows of increments | s in all | rows/s in all | CPU s, each node | CPU µs per row |\n|---:|---:|---:|---:|---:|---:|"
    for (i = 1; i <= feeds; i++) {
        n = fed[i]
        printf "| %d | %s | %.1f | %s | %.1f | %.0f |\n", n, grouped(rows[n]), elapsed[n], grouped(rows[n] / elapsed[n]), cpu[n] / n, 1e6 * cpu[n] / rows[n]
    }
    print "\n## Questions about a day\n"
    printf "| question | ms on a node | ms, one store of all %d |", whole_of
    for (i = 1; i <= sizes; i++) printf " ms, front of %d |", size[i]
    for (i = 1; i <= sizes; i++) printf " kB, %d |", size[i]
    printf "\n|---|---:|---:|"
    for (i = 1; i <= 2 * sizes; i++) printf "---:|"
    print ""
    for (q = 1; q <= questions; q++) {
        printf "| %s | %.0f | %.0f |", name[q], own(name[q], size[sizes]), whole[name[q]]
        for (i = 1; i <= sizes; i++) {
            n = size[i]; goals++
            good = through(name[q], n) <= 1.3 * own(name[q], n) + 300
            met += good
            cell = sprintf("%.0f (%.1f ×)", through(name[q], n), through(name[q], n) / own(name[q], n))
            if (wait[name[q], n] >= 5) cell = cell sprintf(" + %.0f", wait[name[q], n])
            printf good ? " %s |" : " **%s** |", cell
        }
        for (i = 1; i <= sizes; i++) printf " %.0f |", wire[name[q], size[i]]
        print ""
    }
    printf "\n%d of %d goals are met; bold: missed.\n", met, goals

    print "\n## 480 targets, 100,000 entries each, every minute, 2,000 users\n"
    targets = 480; entries = 100000; users = 2000; processors = 16
    second = targets * entries / 60
    # Milliseconds of processor time for an unchanged entry, and for each additional row of increments.
    listed = value["unchanged"] / value["length"]
    active = (value["changed"] - value["unchanged"]) / value["busy"]
    row = active + value["maintenance"]
    # How many times as much there is as on the measured node.
    of_entries = targets * entries / (value["targets"] * value["listed"])
    of_users = targets * users / (value["targets"] * value["users"])
    printf "%s entries/s are compared, and %s rows/s stored: %.0f %% of all entries are active, as in the simulated day.\nAn entry takes %.2f µs of CPU time, a row %.1f µs more, including %.1f µs of maintenance.\nA row takes %.0f bytes with its rollups, raw data %.0f bytes per entry.\nSummed over targets, the site has %s times the entries and %s times the users of the measured node.\n\n",
        grouped(second), grouped(second * value["active"]), 100 * value["active"], 1000 * listed, 1000 * row, 1000 * value["maintenance"], value["bytes"], value["packed"] / value["length"], grouped(of_entries), grouped(of_users)
    printf "| nodes | targets of each | rows/s of each | busy CPUs, each | TB a day, each | raw data, TB a day, each |"
    picked = split("top users,changes by user,top jobs", pick, ",")
    for (i = 1; i <= picked; i++) printf " %s |", pick[i]
    printf "\n|---:|---:|---:|---:|---:|---:|"
    for (i = 1; i <= picked; i++) printf "---:|"
    print ""
    for (n = 1; n <= 32; n *= 2) {
        busy = second / n * (listed + value["active"] * row) / 1000
        printf "| %d | %d | %s | %.1f | %.2f | %.2f |", n, ceiling(targets / n), grouped(second * value["active"] / n), busy, second * value["active"] / n * 86400 * value["bytes"] / 1e12, second / n * 86400 * value["packed"] / value["length"] / 1e12
        for (i = 1; i <= picked; i++) {
            q = pick[i]; first = beyond(q, size[1]); last = beyond(q, size[sizes])
            fixed = first + (last - first) / (size[sizes] - size[1]) * (n - size[1])
            if (fixed < 0) fixed = 0
            printf " %s |", short(fixed + single[q] + grows(q) * (q ~ /job/ ? of_entries : of_users) / n)
        }
        print ""
    }
    each = (listed + value["active"] * row) / 1000
    printf "\nA node with %d CPUs, %d of them for feeding, takes %s entries/s: %d targets. The site needs %d such nodes.\n", processors, processors / 2, grouped(processors / 2 / each),
        processors / 2 / each * 60 / entries, ceiling(second * each / (processors / 2))
}
