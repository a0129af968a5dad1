# The blocks of a page that are marked `psql demo`: statements, then what psql answers. The statements end with the last line that ends
# with a semicolon or \gx, or begins with a backslash.
#
#   awk -f answers.awk PAGE                      prints the statements, each block followed by one that makes psql print ```
#   awk -f answers.awk -v answers=FILE PAGE      prints the page with these answers of psql

BEGIN { asking = answers == "" }

/^```psql demo$/ { inside = 1; lines = last = 0 }

!inside || /^```psql demo$/ {
    if (!asking) print
    next
}

$0 != "```" {
    block[++lines] = $0
    if (/(;|\\gx)$/ || /^\\/) last = lines
    next
}

{
    inside = 0
    for (line = 1; line <= last; line++) print block[line]
    if (asking) {
        print "RESET ALL;\n\\echo '```'"
        next
    }
    blank = ""
    while ((getline answer < answers) > 0 && answer != "```") {
        # psql prints a blank line after each table; drop it after the last one.
        if (answer == "") { blank = blank "\n"; continue }
        printf "%s%s\n", blank, answer
        blank = ""
    }
    print
}
