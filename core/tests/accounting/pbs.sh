#!/bin/sh
# The jobs of a PBS accounting file, made with awk alone: job label submitted started ended, in microseconds.
set -eu
awk -F';' '
    function time(name,  place, value) {
        if (!match($4, "(^| )" name "=[0-9]+")) return "-"
        value = substr($4, RSTART, RLENGTH)
        sub(".*=", "", value)
        return value == 0 ? "-" : value "000000"
    }
    $2 !~ /^[QSsERDA]$/ || $4 !~ /(^| )(user|queue|ctime)=/ || $3 ~ /\[\]/ { next }
    {
        id = $3
        sub(/\..*/, "", id)
        start = time("start")
        end = time("end")
        if (start != "-" && end != "-" && end + 0 < start + 0) next
        print id, id, time("ctime"), start, end
    }
' "$1"
