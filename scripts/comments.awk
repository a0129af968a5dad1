# Prints doc comments whose first words make them a fragment: a comment begins with a verb in the third person or with the thing it
# documents, or is a question.
#
#   awk -f comments.awk FILE.rs...

FNR == 1 { inside = 0 }
{
    is_doc = match($0, /^[ \t]*\/\/[\/!] ?/)
    if (is_doc && !inside) {
        text = substr($0, RLENGTH + 1)
        if (text ~ /^(What|Where|When|Which|Whether|Who|Whom|Whose|How|Of|As|None|That|Those|It|From|The same)[ ,:]/ && text !~ /[?]$/) {
            print FILENAME ":" FNR ": " text
        }
    }
    inside = is_doc
}
