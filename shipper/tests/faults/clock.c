/* Makes the clocks of a program show what a file says: LD_PRELOAD=clock.so JOBSTATS_FAULTS_CLOCK=FILE PROGRAM.
 *
 * The file holds three numbers of nanoseconds since 1970: the time that the wall clock shows, the time of the machine from
 * which on it is shown, and the right time, which /proc/uptime shows. The clocks run from there for half a minute and then
 * slowly, so that a busy machine changes nothing: a reading that takes long there makes the shipper wait as long, by them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define FAST (30 * SECOND)
#define SLOWNESS 40

static int file = -1;

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("JOBSTATS_FAULTS_CLOCK");
    if (path)
        file = open(path, O_RDONLY | O_CLOEXEC);
}

/* Sets the time of the wall clock, and the right one. Returns 0 if the file says nothing. */
static int shown(int64_t *wall, int64_t *right)
{
    struct timespec now;
    int64_t words[3], since;
    if (file < 0 || pread(file, words, sizeof words, 0) != sizeof words)
        return 0;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    since = now.tv_sec * SECOND + now.tv_nsec - words[1];
    if (since < 0)
        since = 0;
    if (since > FAST)
        since = FAST + (since - FAST) / SLOWNESS;
    *wall = words[0] + since;
    *right = words[2] + since;
    return 1;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int64_t wall, right;
    int status = syscall(SYS_clock_gettime, clock, time);
    if (status || clock != CLOCK_REALTIME || !shown(&wall, &right))
        return status;
    time->tv_sec = wall / SECOND;
    time->tv_nsec = wall % SECOND;
    return 0;
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    int64_t wall, right;
    int mode, opened;
    va_start(arguments, flags);
    mode = va_arg(arguments, int);
    va_end(arguments);
    if (strcmp(path, "/proc/uptime") || !shown(&wall, &right))
        return openat(AT_FDCWD, path, flags, mode);
    opened = memfd_create("uptime", MFD_CLOEXEC);
    dprintf(opened, "%.2f 0.00\n", (double)right / SECOND);
    lseek(opened, 0, SEEK_SET);
    return opened;
}
