# Prints the text of an OST with many entries, all with different identifiers: it compresses badly, for measuring the cost of a text. Only a
# share of the operations has counts; numbers are of all sizes.
#
#   awk -v entries=NUMBER -v share=0.25 -v layout=2.12|2.16 [-v target=NAME] [-v every=4] [-v round=N -v at=EPOCH] -f text.awk
#
# From one round to the next, a minute later, one of four entries (or another number) did more of the same operations.

function size_up_to(digits) { return int(10 ^ (digits * rand())) }

# An average of calls between the smallest and the largest, as servers see it.
function counter(name, unit, largest,    samples, min, max, sum, sizes, more) {
    if (rand() < share) {
        samples = 1 + size_up_to(6); min = 1 + size_up_to(largest - 2); max = min + size_up_to(largest)
        sum = samples == 1 ? (max = min) : int(samples * (min + (max - min) * rand() / 4))
    } else { samples = min = max = sum = 0 }
    # Every round draws the same numbers.
    more = samples && busy ? round * (1 + samples % 97) : 0
    if (samples && unit == "bytes" && layout != "2.12") sizes = histogram(samples, more)
    if (more) { sum += more * int(sum / samples); samples += more }
    if (layout == "2.12" && unit != "bytes")
        printf "  %-16s { samples: %11.0f, unit:  reqs }\n", name ":", samples
    else if (layout == "2.12")
        printf "  %-16s { samples: %11.0f, unit: %5s, min:%8.0f, max:%8.0f, sum:%16.0f }\n", name ":", samples, unit, min, max, sum
    else
        printf "  %-16s { samples: %11.0f, unit: %5s, min: %8.0f, max: %8.0f, sum: %16.0f, sumsq: %18.0f%s }\n", name ":",
            samples, unit, min, max, sum, samples ? sum * (sum / samples) : 0, sizes
}

function histogram(samples, more,    bucket, part, text) {
    for (bucket = int(9 * rand()); samples > 0; bucket++) {
        part = bucket < 9 ? int(samples * rand()) + 1 : samples
        samples -= part
        text = text (text ? ", " : ", hist: { ") names[bucket] ": " (samples > 0 ? part : part + more)
    }
    return text " }"
}

function nanoseconds() { return sprintf("%09d", int(1000000000 * rand())) }

BEGIN {
    srand(1)
    split("8K 16K 32K 64K 128K 256K 512K 1M 2M", names); names[0] = "4K"
    last = split("getattr setattr punch sync destroy create statfs get_info set_info quotactl" (layout == "2.12" ? "" : " prealloc"), calls)
    quote = layout == "2.12" ? "" : "\""; now = at ? at - 60 * round : 1767225600
    if (!target) target = "scratch-OST0000"
    print "obdfilter." target ".job_cleanup_interval=600"
    print "obdfilter." target ".job_stats="
    print "job_stats:"
    for (entry = 0; entry < entries; entry++) {
        printf "- job_id:          %s%d:%d:r%02dc%02d%s\n", quote, 4000000 + entry, 10000 + int(5000 * rand() * rand()), int(30 * rand()), int(48 * rand()), quote
        busy = entry % (every ? every : 4) == 0; start = now - 1 - size_up_to(5); seen = now - int(600 * rand()) + (busy ? 60 * round : 0)
        if (layout == "2.12") printf "  snapshot_time:   %d\n", seen
        else printf "  snapshot_time:   %d.%s secs.nsecs\n  start_time:      %d.%s secs.nsecs\n  elapsed_time:    %d.%s secs.nsecs\n",
            seen, nanoseconds(), start, nanoseconds(), now - start, nanoseconds()
        counter("read_bytes", "bytes", 7); counter("write_bytes", "bytes", 7)
        if (layout != "2.12") { counter("read", "usecs", 6); counter("write", "usecs", 6) }
        for (call = 1; call <= last; call++) counter(calls[call], "usecs", 5)
    }
}
