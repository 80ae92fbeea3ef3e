/* The C half of the example: what it does is said to the eventlog by gcc's hooks (-finstrument-functions), function by
   function, with the OS thread that does it. Only code between enter and exit of bar_c, received and nap is told. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
#include "Rts.h"

#define QUIET __attribute__((no_instrument_function))

/* Of the runtime, but in none of its public headers. */
extern Capability MainCapability;
extern void traceUserMsg(Capability *cap, char *msg);

void QUIET __cyg_profile_func_enter(void *this_fn, void *call_site);
void QUIET __cyg_profile_func_exit(void *this_fn, void *call_site);

static int QUIET thread_id(void) { return (int) syscall(SYS_gettid); }

static void QUIET say(const char *what, void *this_fn, void *call_site) {
    char buf[96];
    snprintf(buf, sizeof buf, "%s %p %p %d", what, this_fn, call_site, thread_id());
    /* No capability runs this code: any will do to hang the message on. */
    traceUserMsg(&MainCapability, buf);
}

void __cyg_profile_func_enter(void *this_fn, void *call_site) { say("ANN_CALL_TO", this_fn, call_site); }
void __cyg_profile_func_exit(void *this_fn, void *call_site) { say("ANN_CALL_RET", this_fn, call_site); }

/* Each is a function of its own in the executable. */
void __attribute__((noinline)) received(int num) { printf("Received %d\n", num); fflush(stdout); }
void __attribute__((noinline)) nap(unsigned seconds) { sleep(seconds); }

void bar_c(int num) {
    received(num);
    nap(2);
}

/* What Haskell calls: says on which OS thread call `counter` of bar runs, then runs it. */
void QUIET bar_wrapper(int counter, int num) {
    char buf[64];
    snprintf(buf, sizeof buf, "ANN_TH %d %s %d", counter, "bar", thread_id());
    traceUserMsg(&MainCapability, buf);
    bar_c(num);
}
