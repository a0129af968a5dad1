# Prints dependencies between rooms of a crate that form a circle or lead up in the table of the crate's head, and a crate with more than 12
# rooms or without the table. A room is a file or folder right below src; test files and items below `#[cfg(test)]` do not count.
#
#   awk -f scripts/rooms.awk crate/src/lib.rs crate/src/...
#
# A table of rooms below the sentence "A room uses only rooms below it" in the head of lib.rs or main.rs is in that order.

function arrow(to) {
    if (to != room && !((room, to) in arrows)) {
        arrows[room, to] = FILENAME ":" FNR
        rooms[room]; rooms[to]
    }
}

# Items of the root itself, such as an Error of the crate, are a room too.
function name(text) { return match(text, /^[a-z_0-9]+/) ? substr(text, 1, RLENGTH) : "the root" }

# The rooms that a group of paths leads to: `{a, b::{c, d}}`.
function follow(group,    i, depth, c, item) {
    for (i = 2; i <= length(group); i++) {
        c = substr(group, i, 1)
        if (c == "{") depth++
        else if (c == "}" && depth-- == 0) break
        else if (c == "," && depth == 0) { arrow(name(item)); item = ""; continue }
        if (depth == 0 && c != " ") item = item c
    }
    if (item) arrow(name(item))
}

FNR == 1 {
    path = FILENAME
    sub(/^.*\/src\//, "", path)
    is_top = path !~ /\//
    is_root = path ~ /^(lib|main)\.rs$/
    # From a file right below src, super leads to the root.
    pattern = is_top && !is_root ? "(crate|super)::[A-Za-z_]" : "crate::[A-Za-z_]"
    room = is_root ? "the root" : name(path)
    over = path ~ /(^|\/)tests(\.rs$|\/)/
    statement = is_test = ""
    if (is_root) roots = roots ? roots : FILENAME
    else if (!over && !(room in seen)) { seen[room]; amount++ }
}
over { next }
is_root && /uses only rooms below it/ { has_order = 1 }
is_root && has_order && /^\/\/! \| / {
    row++
    line = $0
    sub(/^[^|]*\|/, "", line); sub(/\|.*/, "", line)
    while (match(line, /`[a-z_0-9]+`/)) {
        level[substr(line, RSTART + 1, RLENGTH - 2)] = row
        line = substr(line, RSTART + RLENGTH)
    }
}
/^ *\/\// { next }
is_test { is_test = ""; if (/^ *(pub )?mod .*\{/) over = 1; next }
/^ *#\[cfg\(test\)\]/ { is_test = 1; next }
/^ *(pub(\([a-z]*\))? )?use crate::\{/ || statement {
    statement = statement $0
    if (/;/) { sub(/^.*use crate::/, "", statement); follow(statement); statement = "" }
    next
}
{
    line = $0
    while (match(line, pattern)) {
        line = substr(line, RSTART)
        sub(/^[a-z]+::/, "", line)
        arrow(name(line))
    }
}

END {
    if (amount > 12) print roots ": " amount " rooms, more than 12"
    if (!has_order) print roots ": its head has no table of rooms"
    # Rooms without a remaining dependency in either direction are in no circle.
    do {
        found = 0
        for (r in rooms) {
            out = into = 0
            for (a in arrows) {
                split(a, ends, SUBSEP)
                if (ends[1] in rooms && ends[2] in rooms) { out += ends[1] == r; into += ends[2] == r }
            }
            if (!out || !into) { delete rooms[r]; found = 1 }
        }
    } while (found)
    for (a in arrows) {
        split(a, ends, SUBSEP)
        if (ends[1] in rooms && ends[2] in rooms) print arrows[a] ": " ends[1] " uses " ends[2] ", in a circle"
        else if (level[ends[1]] && level[ends[2]] && level[ends[1]] > level[ends[2]])
            print arrows[a] ": " ends[1] " uses " ends[2] ", which stands above it in the table"
    }
}
