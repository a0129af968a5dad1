# Writes the arguments and columns of the reading functions into a script, so that a dimension stands in one list.
#
#   awk -f dimensions.awk extension/src/query/dimension.rs SCRIPT.sql
#
# A line `@filters@,` becomes an argument for each dimension, and a line `@dimensions@,` a column for each.

# Adds an item to the lines of a list, which are as wide as those of the SQL around them.
function add(list, item) {
    if (length(line[list]) + length(item) + 2 > 118) {
        lines[list] = lines[list] line[list] "\n"
        line[list] = "   "
    }
    line[list] = line[list] " " item ","
}

FNR == 1 && ++file == 1 { line["@filters@,"] = line["@dimensions@,"] = "   " }
file == 1 && /^pub static DIMENSIONS/ { listed = 1 }
file == 1 && /^\];/ { listed = 0 }
file == 1 && listed && match($0, /\("[a-z_]+"/) {
    name = substr($0, RSTART + 2, RLENGTH - 3)
    type = /^ *number\(/ ? "bigint" : "text"
    add("@filters@,", name " " type "[] DEFAULT NULL")
    add("@dimensions@,", name " " type)
}
file == 1 { next }
NF == 1 && $1 in line { print lines[$1] line[$1]; next }
{ print }
