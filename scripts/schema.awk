# Puts the blocks of a script that `cargo pgrx schema` wrote into an order that is always the same: whatever a block needs
# comes before it, and of those that could come next the first by name. Leaves out comments on files and lines.
#
#   awk -f schema.awk GRAPH.dot SCRIPT.sql

function fail(message) {
    print "schema.awk: " message >"/dev/stderr"
    failed = 1
    exit 1
}

# The name of the extension_sql! that begins at a line of a file; cargo-pgrx does not print it into the script.
function sql_name(file, first,    line, number, name) {
    while (name == "" && (getline line <file) > 0) {
        if (++number >= first && match(line, /name = "[^"]*"/)) {
            name = substr(line, RSTART + 8, RLENGTH - 9)
        }
    }
    close(file)
    return name
}

function end_block() {
    if (location == "") {
        return
    }
    if (name == "") {
        split(location, place, ":")
        name = sql_name(place[1], place[2])
    }
    if (name == "" || name in block) {
        fail("no name, or the name of another block: \"" name "\" (" location ")")
    }
    sub(/\n+$/, "", text)
    block[name] = text
    location = name = text = ""
}

# The graph: nodes like   7 [ label = "fn counter_in", …   and edges like   7 -> 9 [ …   from what is needed.
FNR == NR && /label = "/ && !/label = "builtin type/ {
    split($0, quoted, "\"")
    count = split(quoted[2], words, /[ :]+/)
    node[$1] = words[count]
    next
}
FNR == NR {
    if ($2 == "->") {
        needed[++edges] = $1
        needs[edges] = $3
    }
    next
}

# The script: blocks like
#   /* <begin connected objects> */
#   -- extension/src/counter/summary_type.rs:22
#   -- jobstats::counter::summary_type::counter_in
# the second line with functions only, or with  -- requires:  and a list.
/^\/\* <begin connected objects> \*\/$/ {
    end_block()
    heading = 1
    next
}
/^\/\* <\/end connected objects> \*\/$/ {
    end_block()
    heading = 0
    next
}
/^-- [^ ]+\.rs:[0-9]+$/ {
    end_block()
    location = $2
    heading = 1
    next
}
location == "" { next }
heading && /^-- [a-z_0-9]+(::[A-Za-z_0-9]+)+$/ {
    count = split($2, words, "::")
    name = words[count]
    next
}
heading && /^(-- (requires|creates):|--   .*|-- (finalize|bootstrap)|)$/ { next }
{
    heading = 0
    text = text $0 "\n"
}

END {
    if (failed) {
        exit 1
    }
    for (edge = 1; edge <= edges; edge++) {
        from = node[needed[edge]]
        to = node[needs[edge]]
        if (from in block && to in block && !((from, to) in seen)) {
            seen[from, to] = 1
            waits[to]++
            followers[from] = followers[from] " " to
        }
    }
    for (id in node) {
        known[node[id]]++
    }
    for (name in block) {
        if (known[name] != 1) {
            fail("the graph has not one \"" name "\", but " known[name] + 0)
        }
        left++
    }
    print "-- Written by `make schema`: change the SQL in extension/src instead."
    while (left > 0) {
        next_name = ""
        for (name in block) {
            if (waits[name] == 0 && (next_name == "" || name < next_name)) {
                next_name = name
            }
        }
        if (next_name == "") {
            fail("blocks need each other")
        }
        printf "\n%s\n", block[next_name]
        delete block[next_name]
        left--
        count = split(followers[next_name], words, " ")
        for (i = 1; i <= count; i++) {
            waits[words[i]]--
        }
    }
}
