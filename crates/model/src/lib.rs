//! What a log is made of once its events are read: stretches of time, and
//! columns of what was seen, each with the index that answers at any zoom.
//!
//! - [`time`]: stretches of time.
//! - [`lane`]: one state after the other; [`span_lane`] keeps one in columns.
//! - [`gauge`]: a value that changes; [`moments`]: points in time.
//! - [`marks`]: what a view of these at some zoom consists of.
//! - [`profile`]: samples of stacks.
//!
//! Two structures answer everything. **Prefix sums** say how much time of
//! each class lies before a span, so that the share of any pixel is two
//! searches and a subtraction, exact at every zoom. A **forest**
//! ([`forest`]) says which span stands out among those that a pixel merges.

pub mod class;
pub mod forest;
pub mod gauge;
pub mod lane;
pub mod marks;
pub mod moments;
pub mod profile;
pub mod span_lane;
pub mod thread_map;
pub mod time;

pub use class::Class;
pub use time::Span;
