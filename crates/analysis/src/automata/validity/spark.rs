//! Sparks run in threads that the runtime makes for them. Whether such a
//! thread runs, waits or has finished is the matter of the thread's machine;
//! this one looks at the thread that a capability runs when it takes a spark.
//!
//! | the capability runs | event | verdict |
//! |---|---|---|
//! | a spark thread | spark run or stolen | |
//! | another thread | spark run or stolen | broken: not for sparks |
//! | no thread | spark run or stolen | broken: no thread |
//!
//! And a thread becomes a spark thread once in its life, after its creation:
//!
//! | the thread | event | verdict |
//! |---|---|---|
//! | exists, for no sparks yet | becomes one | |
//! | was never created | becomes one | tolerated: this creates it |
//! | is one | becomes one | broken: created before |

use super::{Judged, Problem, Tolerated};
use eventlog::ids::ThreadId;

/// A capability takes a spark while it runs `running`, a spark thread or not.
#[must_use]
pub const fn take(running: Option<(ThreadId, bool)>) -> Judged<()> {
    match running {
        Some((_, true)) => Judged::fine(()),
        Some((thread, false)) => Judged::broken((), Problem::SparkInOtherThread { thread }),
        None => Judged::broken((), Problem::SparkWithoutThread),
    }
}

/// A thread becomes a spark thread. `created` says whether it exists, `is_one`
/// whether it is one already.
#[must_use]
pub(crate) const fn become_spark_thread(created: bool, is_one: bool) -> Judged<()> {
    match (created, is_one) {
        (_, true) => Judged::broken((), Problem::CreatedAgain),
        (false, false) => Judged::tolerated((), Tolerated::SparkThreadUncreated),
        (true, false) => Judged::fine(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables() {
        let thread = ThreadId(7);
        assert_eq!(take(Some((thread, true))), Judged::fine(()));
        let other = Problem::SparkInOtherThread { thread };
        assert_eq!(take(Some((thread, false))), Judged::broken((), other));
        let none = Problem::SparkWithoutThread;
        assert_eq!(take(None), Judged::broken((), none));
        assert_eq!(become_spark_thread(true, false), Judged::fine(()));
        assert_eq!(
            become_spark_thread(false, false),
            Judged::tolerated((), Tolerated::SparkThreadUncreated)
        );
        for created in [false, true] {
            assert_eq!(
                become_spark_thread(created, true),
                Judged::broken((), Problem::CreatedAgain)
            );
        }
    }
}
