# A picture of the same measurements: for each question a node's own time, the goal, and the time through fronts of 1, 2 and 4 nodes.
#
#   awk -f picture.awk asked

function x(ms) { return 220 + 500 * log(ms < 1 ? 1 : ms) / log(10) / decades }
function escaped(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
BEGIN { FS = "|"; split("1 2 4", counts, " "); split("#56B4E9 #0072B2 #D55E00", colour, " ") }
$2 == "node" { if (!($1 in own)) name[++questions] = $1; if ($4 > own[$1]) own[$1] = $4 }
$2 == "front" { front[$1, $3] = $4 }
{ if ($4 > most) most = $4 }
END {
    for (decades = 1; 10 ^ decades < 1.3 * most + 300; decades++) ;
    bottom = 52 + 24 * questions
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 %d\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n", bottom + 46
    print "<title>Time of questions about a day: on a node itself, and through a front of 1, 2 and 4 such nodes</title>"
    print "<desc>One row for each question, milliseconds on a logarithmic axis. A grey band goes from the time of the node to the goal, 1.3 times that and 300 ms; points are the times through the front.</desc>"
    printf "<rect width=\"760\" height=\"%d\" fill=\"#fff\"/>\n", bottom + 46
    printf "<rect x=\"220\" y=\"12\" width=\"36\" height=\"12\" fill=\"#ddd\"/><rect x=\"219\" y=\"10\" width=\"3\" height=\"16\" fill=\"#222\"/>"
    print "<text x=\"262\" y=\"22\" fill=\"#222\">a node itself, and up to the goal</text>"
    for (i = 1; i <= 3; i++) printf "<circle cx=\"%d\" cy=\"18\" r=\"4.5\" fill=\"%s\"/><text x=\"%d\" y=\"22\" fill=\"#222\">%s</text>\n", 486 + 90 * (i - 1), colour[i], 496 + 90 * (i - 1), i == 1 ? "front of 1" : counts[i] " nodes"
    for (d = 0; d <= decades; d++) {
        printf "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"40\" y2=\"%d\" stroke=\"#ddd\"/>\n", x(10 ^ d), x(10 ^ d), bottom
        printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#444\">%s</text>\n", x(10 ^ d), bottom + 16, d < 3 ? 10 ^ d " ms" : 10 ^ (d - 3) " s"
    }
    for (q = 1; q <= questions; q++) {
        y = 54 + 24 * (q - 1); it = name[q]
        printf "<text x=\"212\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%s</text>\n", y + 4, escaped(it)
        printf "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"12\" fill=\"#ddd\"><title>%.0f ms, goal %.0f ms</title></rect>", x(own[it]), y - 6, x(1.3 * own[it] + 300) - x(own[it]), own[it], 1.3 * own[it] + 300
        printf "<rect x=\"%.1f\" y=\"%d\" width=\"3\" height=\"16\" fill=\"#222\"/>\n", x(own[it]) - 1.5, y - 8
        for (i = 1; i <= 3; i++) if ((it, counts[i]) in front)
            printf "<circle cx=\"%.1f\" cy=\"%d\" r=\"4.5\" fill=\"%s\"><title>%d nodes: %.0f ms</title></circle>\n", x(front[it, counts[i]]), y, colour[i], counts[i], front[it, counts[i]]
    }
    printf "<text x=\"470\" y=\"%d\" text-anchor=\"middle\" fill=\"#222\">time of a question, the fastest of three</text>\n</svg>\n", bottom + 36
}
