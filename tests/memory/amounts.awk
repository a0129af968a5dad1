# Reads /proc/PID/status: prints kB of addresses, in the line `addresses`, and the largest private memory of the process, each behind a word.
# Files and shared buffers are not counted: how much of them is mapped depends on what else the machine does.
$1 == addresses { print word, $2 }
/^VmHWM/ { memory = $2 }
/^Rss(File|Shmem)/ { memory -= $2 }
END { print word, memory }
