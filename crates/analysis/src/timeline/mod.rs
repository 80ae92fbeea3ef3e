//! Data behind the timeline: columns of spans, instants and values, each with an index. Views decide how to
//! display them. The cost of drawing depends on pixels, not on events.
//!
//! Two structures answer all queries. **Prefix sums** of time by class yield the share of any pixel with two
//! searches and a subtraction, exactly at every zoom level. A **forest** ([`forest`](model::forest)) yields the
//! most prominent of the spans that a pixel merges.

pub mod activity;
mod append;
pub mod block_lanes;
pub mod cap_activity;
pub mod collections;
mod deep_stacks;
mod fill;
mod finish;
pub mod flow;
pub mod graphs;
pub(crate) mod group_waits;
mod grouping;
pub mod instants;
pub mod label_groups;
pub mod lives;
mod managers;
pub mod messages;
pub mod nonmoving;
pub mod profile_rows;
pub(crate) mod row_selection;
mod run_cursor;
pub mod scope;
pub mod slice;
pub mod spark_runs;
pub mod store;
pub mod tasks;
pub mod thread_account;
pub mod thread_lane;
mod thread_list;
mod thread_order;
pub mod thread_table;
pub mod threads;
pub mod tracks;
pub mod turn_list;
pub mod turns;
pub mod unread;
pub mod user_spans;
pub mod wait_groups;
pub mod wait_totals;
pub mod waits;
pub mod walk;

pub use run_cursor::RunCursor;
pub use store::Store;
pub use thread_list::LifeReader;
