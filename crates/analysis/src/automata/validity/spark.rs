//! Sparks and the threads that the runtime creates to execute them.
//!
//! This machine checks the thread that a capability runs when it takes a spark; the thread's own machine checks
//! whether that thread runs, waits or has finished.
//!
//! | the capability runs | event | verdict |
//! |---|---|---|
//! | a spark thread | spark run or stolen | |
//! | another thread | spark run or stolen | broken: not for sparks |
//! | no thread | spark run or stolen | broken: no thread |
//!
//! A thread becomes a spark thread once, after its creation:
//!
//! | the thread | event | verdict |
//! |---|---|---|
//! | exists, no spark thread so far | becomes one | |
//! | was never created | becomes one | tolerated: this creates it |
//! | is one | becomes one | broken: created before |

use super::{Problem, Tolerated, Transition};
use eventlog::ids::ThreadId;

/// Judges a capability that takes a spark while it runs `running`: a thread, and whether it is a spark thread.
pub const fn take(running: Option<(ThreadId, bool)>) -> Transition<()> {
    match running {
        Some((_, true)) => Transition::fine(()),
        Some((thread, false)) => Transition::broken((), Problem::SparkInOtherThread { thread }),
        None => Transition::broken((), Problem::SparkWithoutThread),
    }
}

/// Judges a thread that becomes a spark thread.
///
/// `created` is whether the thread exists, `is_one` whether it is a spark thread already.
pub(crate) const fn become_spark_thread(created: bool, is_one: bool) -> Transition<()> {
    match (created, is_one) {
        (_, true) => Transition::broken((), Problem::CreatedAgain),
        (false, false) => Transition::tolerated((), Tolerated::SparkThreadUncreated),
        (true, false) => Transition::fine(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables() {
        let thread = ThreadId(7);
        assert_eq!(take(Some((thread, true))), Transition::fine(()));
        let other = Problem::SparkInOtherThread { thread };
        assert_eq!(take(Some((thread, false))), Transition::broken((), other));
        let none = Problem::SparkWithoutThread;
        assert_eq!(take(None), Transition::broken((), none));
        assert_eq!(become_spark_thread(true, false), Transition::fine(()));
        assert_eq!(
            become_spark_thread(false, false),
            Transition::tolerated((), Tolerated::SparkThreadUncreated)
        );
        for created in [false, true] {
            assert_eq!(
                become_spark_thread(created, true),
                Transition::broken((), Problem::CreatedAgain)
            );
        }
    }
}
