/* Rotates the eventlog of a program while it runs. Each file is a complete log: header, program, clock, events, end.
   It is called NAME.eventlog.part while it is written, and NAME.eventlog afterwards. A full disk loses events, and
   does not end the program, as the runtime's own writer would. */
#define _GNU_SOURCE
#include "Rts.h"
#include "rotate.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static char complete[4000], partial[4096];
static double begun;
static size_t written;

static void open_log(void) {
    file = fopen(partial, "wbx");
    if (!file) perror(partial);
}

static bool write_log(void *bytes, size_t size) {
    pthread_mutex_lock(&lock);
    if (file) {
        /* GHC 9.0 sends an empty block before the header. */
        char *header = written == 0 ? memmem(bytes, size, "hdrb", 4) : NULL;
        size_t skipped = header ? (size_t)(header - (char *)bytes) : 0;
        if (fwrite((char *)bytes + skipped, 1, size - skipped, file) < size - skipped || fflush(file) != 0) {
            perror(partial);
            fclose(file);
            file = NULL;
        }
        written += size - skipped;
    }
    pthread_mutex_unlock(&lock);
    return true;
}

static void close_log(void) {
    pthread_mutex_lock(&lock);
    if (file && (fclose(file) != 0 || rename(partial, complete) != 0)) perror(partial);
    file = NULL;
    pthread_mutex_unlock(&lock);
}

static const EventLogWriter writer = { open_log, write_log, NULL, close_log };

void eventlog_finish(void) {
    endEventLogging();
}

#if !MIN_VERSION_GLASGOW_HASKELL(9,4,0,0)
/* Older runtimes describe the process and the clock in the first log only. */
extern void traceWallClockTime_(void), traceOSProcessInfo_(void);
#endif

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool eventlog_is_due(double seconds, size_t bytes) {
    return complete[0] == 0 || now() - begun >= seconds || written >= bytes;
}

void eventlog_rotate(const char *folder) {
    static unsigned count;
    eventlog_finish();
    begun = now();
    written = 0;
    time_t seconds = (time_t)begun;
    char utc[32];
    strftime(utc, sizeof utc, "%Y%m%dT%H%M%SZ", gmtime(&seconds));
    snprintf(complete, sizeof complete, "%s/%s-%d-%05u.eventlog", folder, utc, (int)getpid(), count++);
    snprintf(partial, sizeof partial, "%s.part", complete);
    startEventLogging(&writer);
#if !MIN_VERSION_GLASGOW_HASKELL(9,4,0,0)
    traceWallClockTime_();
    traceOSProcessInfo_();
#endif
}
