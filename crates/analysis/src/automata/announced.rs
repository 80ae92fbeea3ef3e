//! A span that a program announces with messages: one name, and one number if
//! it has one. The rules are those of `ghc-events-analyze`: starts while it
//! goes on are part of it, so that it is over when each of them has its stop.
//!
//! | state | message | next | yields |
//! |---|---|---|---|
//! | no start goes on | start | 1 goes on | begins |
//! | no start goes on | stop | the same | stray |
//! | n go on | start | n + 1 go on | |
//! | n > 1 go on | stop | n - 1 go on | |
//! | 1 goes on | stop | none goes on | ends |

/// How many starts have no stop yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoingOn(pub u32);

/// What a message leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// The span begins.
    Begins,
    /// It ends.
    Ends,
    /// A stop without a start, which costs only itself.
    Stray,
}

/// The automaton: the next state, and what the message leads to, if to anything.
#[must_use]
pub const fn step(state: GoingOn, is_start: bool) -> (GoingOn, Option<Announcement>) {
    match (state.0, is_start) {
        (0, true) => (GoingOn(1), Some(Announcement::Begins)),
        (0, false) => (state, Some(Announcement::Stray)),
        (starts, true) => (GoingOn(starts.saturating_add(1)), None),
        (1, false) => (GoingOn(0), Some(Announcement::Ends)),
        (starts, false) => (GoingOn(starts - 1), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row of the table at the top of this file.
    #[test]
    fn table() {
        use Announcement::{Begins, Ends, Stray};
        for (state, is_start, next, yields) in [
            (0, true, 1, Some(Begins)),
            (0, false, 0, Some(Stray)),
            (1, true, 2, None),
            (3, true, 4, None),
            (3, false, 2, None),
            (1, false, 0, Some(Ends)),
        ] {
            let found = step(GoingOn(state), is_start);
            assert_eq!(found, (GoingOn(next), yields), "{state} {is_start}");
        }
    }
}
