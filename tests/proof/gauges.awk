# What a server printed of the rules of filters, summed over the parts of its processors, and of nodemaps.
/^[^ ]*=$/ { split($0, path, /[.=]/) }
/, ref [0-9]+$/ { rule = path[3] " " $1; rate[rule] = $(NF - 2) + 0; clients[rule] += $NF }
/ samples \[/ && path[1] == "nodemap" { print server, "nodemap_requests", path[3], $1, $2 }
/ samples \[bytes\]/ && path[1] == "nodemap" { print server, "nodemap_bytes", path[3], $1, $7 }
END {
    for (rule in rate) print server, "tbf_rate", rule, rate[rule]
    for (rule in clients) print server, "tbf_clients", rule, clients[rule]
}
