#include <stdbool.h>
#include <stddef.h>

/* Returns whether the present eventlog has so many seconds or bytes, or none was begun yet. */
bool eventlog_is_due(double seconds, size_t bytes);

/* Ends the present eventlog, and begins a new one in a folder. */
void eventlog_rotate(const char *folder);

/* Ends the present eventlog. */
void eventlog_finish(void);
