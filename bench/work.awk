# Work for the simulator, as bench/storage.sh measures it: a day in which a quarter of the entries in a text did something
# since the text before, three to five operations each. Jobs run for two hours on one node, use an MDT and some OSTs, and
# there are busy for a minute and idle for a quarter of an hour, in which Lustre drops the entry or not.
#
#   awk -v from=EPOCH -v jobs=NUMBER -v mdts=N -v osts=N -v filesystem=NAME -f work.awk

function time(at) { return strftime("%Y-%m-%dT%H:%M:%SZ", at, 1) }

function some(mean) { return 1 - log(1 - rand()) * mean }

function print_work(operation, calls, size) {
    if (calls > 0)
        printf "%d,%d,%s,%s,%s,%d,%.0f,%d,%s,%s\n", job, uid, node, target, operation, calls, calls * size, some(300), time(begin), time(end)
}

# One operation of a burst: calls of some bytes each, and of some microseconds, which are not the same for all: no sum of
# squares would be anything but the square of a sum.
function work(operation, size,    calls, quick) {
    calls = int(some(40))
    quick = int(calls * rand())
    print_work(operation, quick, size)
    print_work(operation, calls - quick, size)
}

function burst() {
    if (target ~ /MDT/) {
        work("open"); work("close"); work("getattr")
        if (rand() < 0.5) work("setattr")
        if (rand() < 0.3) work("unlink")
    } else {
        work("write", 2 ^ int(12 + 11 * rand())); work("read", 2 ^ int(12 + 11 * rand())); work("getattr")
        if (rand() < 0.4) work("punch")
    }
}

function use() {
    for (begin = start + some(300); (end = begin + 10 + some(50)) < stop; begin = end + 400 + some(600)) burst()
}

BEGIN {
    srand(1)
    print "job,uid,node,target,operation,calls,bytes,usecs,from,until"
    for (job = 4000000; job < 4000000 + jobs; job++) {
        uid = 10000 + int(200 * rand() * rand()); node = "r" int(10 + 20 * rand()) "c" int(10 + 48 * rand())
        start = from + int(86400 * rand()) - 3600; stop = start + some(7200)
        target = sprintf("%s-MDT%04x", filesystem, int(mdts * rand())); use()
        for (stripe = 1 + int(3 * rand()); stripe > 0; stripe--) {
            target = sprintf("%s-OST%04x", filesystem, int(osts * rand())); use()
        }
    }
}
