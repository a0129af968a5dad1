# Reads /proc/PID/status: prints kB of addresses, in the line `addresses`, and the most memory of the process without files and shared
# buffers as they are mapped now, each behind a word: how much of these is mapped depends on what else the machine does. What of them was mapped
# after the largest amount is taken off too, so private memory was at least that.
$1 == addresses { print word, $2 }
/^VmHWM/ { memory = $2 }
/^Rss(File|Shmem)/ { memory -= $2 }
END { print word, memory }
