//! Spans that a program announces with user messages: one name, and an optional number.
//!
//! The rules are those of `ghc-events-analyze`: starts nest, and the span ends once every start has its stop. The
//! state is the number of open starts.
//!
//! | state | message | next | yields |
//! |---|---|---|---|
//! | 0 open | start | 1 open | begins |
//! | 0 open | stop | 0 open | stray |
//! | n open | start | n + 1 open | |
//! | n > 1 open | stop | n - 1 open | |
//! | 1 open | stop | 0 open | ends |

/// Number of starts without a stop so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenStarts(pub u32);

/// Effect of a message on the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// The first open start begins the span.
    Begins,
    /// The last missing stop ends the span.
    Ends,
    /// A stop without a start; it changes nothing.
    Stray,
}

/// Returns the next state and the effect of the message, if it has one.
pub const fn step(state: OpenStarts, is_start: bool) -> (OpenStarts, Option<Announcement>) {
    match (state.0, is_start) {
        (0, true) => (OpenStarts(1), Some(Announcement::Begins)),
        (0, false) => (state, Some(Announcement::Stray)),
        (starts, true) => (OpenStarts(starts.saturating_add(1)), None),
        (1, false) => (OpenStarts(0), Some(Announcement::Ends)),
        (starts, false) => (OpenStarts(starts - 1), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every row of the module's table.
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
            let found = step(OpenStarts(state), is_start);
            assert_eq!(found, (OpenStarts(next), yields), "{state} {is_start}");
        }
    }
}
