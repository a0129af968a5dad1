# Counts what scripts/budget limits; scripts/budget.sh runs it.
#
#   awk -f scripts/budget.awk FILE...                        FIGURE VALUE of each figure
#   awk -f scripts/budget.awk -v show=FIGURE FILE...         AMOUNT FILE of each file that contributes to the figure
#   awk -f scripts/budget.awk -v show=FIGURE -v places=1 ... also FILE:LINE: PHRASE of each marker
#
# Rust is counted in lines without blank lines and comments, a file without its tests; SQL and expected output in all lines. Markers are
# phrases that are rare in native English and frequent here. They are counted in text without code, per 1,000 words: of all pages,
# and of the comments of Rust, SQL and scripts with the texts of COMMENT ON.

function add(figure, amount, where) {
    total[figure] += amount
    if (figure == show) amounts[where ? where : FILENAME] += amount
}

function is_marker(word) {
    if (word ~ /^(nobody|nothing|none|says?|said|tells?|told|asks?|asked|stands|stood|beside)$/) return 1
    if (earlier == "of" && before ~ /^(its|their)$/ && word == "own") return 1
    return before " " word ~ /^(what (is|are|was|were|has|have|it|they|one|this|that)|(of|by|with|for) (what|which|whose)|known of|(ones?|that|those) (that|which|whose)|(that|those) of)$/
}

BEGIN { total["long_files"] = total["long_functions"] = 0 }

# The end of a paragraph or of a comment.
function paragraph() { before = earlier = in_span = "" }

# Counts the words and markers of a line of a page ("doc") or of a comment.
function read(line, text,    n, i, pieces, prose, words, word) {
    if (line ~ /^ *```/) { in_fence = !in_fence; paragraph(); return }
    if (in_fence) return
    gsub(/\]\([^)]*\)/, "]", line)
    n = split(line, pieces, "`")
    for (i = 1; i <= n; i++) {
        prose = prose (in_span ? " 0 " : pieces[i])
        if (i < n) in_span = !in_span
    }
    gsub(/<[^>]*>/, "", prose)
    n = split(tolower(prose), words, " ")
    for (i = 1; i <= n; i++) {
        word = words[i]
        gsub(/[^a-z']/, "", word)
        gsub(/^'+|'+$/, "", word)
        if (word != "") add(text "_text", 1)
        if (is_marker(word)) {
            add(text "_markers", 1)
            if (places && show == text "_markers") print FILENAME ":" FNR ": " before " " word
        }
        earlier = before
        before = word
    }
}

FNR == 1 {
    paragraph()
    in_fence = in_code = in_comment = is_blank = is_test = body = 0
    crate = kind = FILENAME
    sub(/\/.*/, "", crate)
    sub(/^.*\./, "", kind)
    over = FILENAME ~ /(^|\/)(tests|testing|benches|bench|fuzz)(\.rs$|\/)/
    figure = ""
    if (FILENAME ~ /^tests\/pg_regress\//) figure = kind == "sql" ? "regress_sql" : "regress_expected"
    else if (over) figure = kind == "rs" ? "test_rust" : ""
    else if (FILENAME ~ /\/src\/|^extension\/sql\//) figure = crate (kind == "rs" ? "_rust" : "_sql")
}
FNR == 501 && kind != "out" && kind != "md" { add("long_files", 1) }

kind == "out" { if (figure) add(figure, 1); next }
kind == "md" {
    add("doc_words", NF)
    if (!NF) { paragraph(); is_blank = 1; next }
    # Four spaces after a blank line are code.
    in_code = /^    / && (in_code || is_blank)
    is_blank = 0
    if (!in_code) read($0, "doc")
    next
}

kind == "sql" && figure { add(figure, 1) }
!NF { paragraph(); next }
kind == "rs" ? /^ *\/\// : kind == "sql" ? /^ *--/ : /^ *#/ {
    line = $0
    sub(/^ *(\/\/[\/!]?|--|#)/, "", line)
    if (line ~ /^ *$/) paragraph()
    read(line, "comment")
    next
}
kind != "rs" && kind != "sql" { paragraph(); next }

/^ *COMMENT ON / { in_comment = 1 }
in_comment {
    line = $0
    sub(/^ *COMMENT ON .* IS/, "", line)
    read(line, "comment")
    if (/; *$/) in_comment = 0
}
!in_comment { paragraph(); in_fence = 0 }

# Functions of no schema are in public.
FILENAME ~ /^extension\// && match($0, /CREATE (OR REPLACE )?(FUNCTION|PROCEDURE|AGGREGATE) jobstats_[a-z_0-9]+/) {
    name = substr($0, RSTART, RLENGTH)
    sub(/.* /, "", name)
    if (name != "jobstats_internal" && !names[name]++) add("public_functions", 1, name)
}

kind == "rs" {
    if (is_test && /^ *(pub )?mod .*\{/) { over = 1; figure = "test_rust" }
    is_test = /^ *#\[cfg\(test\)\]/
    if (figure) add(figure, 1)
}

# The last line of a function is as far to the left as the first.
kind == "rs" && !over && !body && match($0, /^ *(pub(\([a-z:]*\))? )?((const|async|unsafe|extern "[A-Za-z-]*") )*fn [a-z_0-9]+/) {
    match($0, /^ */)
    indent = substr($0, 1, RLENGTH)
    first = FNR
    body = 1
}
body == 1 {
    if (/[;}]$/) body = 0
    if (/\{$/) body = 2
    next
}
body == 2 && index($0, indent "}") == 1 {
    body = 0
    if (FNR - first >= 60) add("long_functions", 1, FILENAME ":" first ", " FNR - first + 1 " lines")
}

END {
    if (show) {
        for (where in amounts) print amounts[where], where
        exit
    }
    for (figure in total) {
        text = figure
        if (sub(/_markers$/, "", text)) print figure, sprintf("%.1f", 1000 * total[figure] / total[text "_text"])
        else if (figure !~ /_text$/) print figure, total[figure]
    }
}
