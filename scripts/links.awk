# Prints the links between pages that lead nowhere: to a file that does not exist, or to a heading that its page does not have.
#
#   awk -f links.awk pass=1 PAGES pass=2 PAGES

# The anchor of a heading, as GitHub makes it.
function anchor(heading) {
    sub(/^#+ */, "", heading)
    gsub(/\]\([^)]*\)/, "", heading)
    heading = tolower(heading)
    gsub(/[^a-z0-9_ -]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

# The path of a link, from the folder of its page.
function resolved(path) {
    while (sub(/[^\/]+\/\.\.\//, "", path)) continue
    return path
}

function exists(path) { return system("test -e '" path "'") == 0 }

FNR == 1 { code = 0; folder = FILENAME; sub(/[^\/]*$/, "", folder) }
/^ *```/ { code = !code }
code { next }
pass == 1 { pages[FILENAME]; if (/^#+ /) anchors[FILENAME "#" anchor($0)]; next }
{
    rest = $0
    while (match(rest, /\]\([^)]+\)/)) {
        link = substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        if (link ~ /^[a-z]+:/) continue
        split(link, part, "#")
        page = part[1] == "" ? FILENAME : resolved(folder part[1])
        known = page in pages ? part[2] == "" || (page "#" part[2]) in anchors : exists(page)
        if (!known) print FILENAME " " FNR ": " link
    }
}
