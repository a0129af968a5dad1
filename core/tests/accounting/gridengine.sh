#!/bin/sh
# Prints the jobs of a file `accounting` of Grid Engine without our code. A line of colons must have no colon inside a field.
set -eu
tr -d '\r' <"$1" | awk -F: '
    # A time in microseconds, made of its digits: 10 are seconds, 13 milliseconds, 16 microseconds.
    function micros(time) {
        if (time == 0) return "-"
        return time substr("000000", 1, 16 - length(time))
    }
    # The value of a name in a line of JSON without nested names that are equal.
    function value(name,    text) {
        text = $0
        if (!sub(".*\"" name "\":", "", text)) return ""
        sub("[,}].*", "", text)
        return text
    }
    /^#/ || length($0) < 2 { next }
    /^{/ {
        number = value("job_number")
        task = value("task_number")
        if (task == 1 && value("submit_cmd_line") !~ / -t /) task = 0
        print number, (task ? number "." task : number), micros(value("submission_time")), \
            micros(value("start_time")), micros(value("end_time"))
        next
    }
    $42 == "NONE" {
        print $6, ($36 ? $6 "." $36 : $6), micros($9), micros($10), ($10 == 0 && $12 ? "-" : micros($11))
    }
'
