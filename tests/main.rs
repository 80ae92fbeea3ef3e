//! End-to-end tests of the library, the command line and its documentation.
//!
//! All modules are one program, so that it is linked once and all tests share the cores:
//! `cargo test --test main NAME` runs the tests whose path contains `NAME`, such as a module's name.

mod adversarial;
mod assert;
mod big_log;
mod censuses;
mod check;
mod command_line;
mod common;
mod compare;
mod corpus;
mod cut;
mod cut_numbers;
mod damage;
mod dataset;
mod diagnostics;
mod events;
mod export;
mod export_traces;
mod findings_judged;
mod findings_matrix;
mod findings_memory;
mod findings_progress;
mod findings_threads;
mod flame_compare;
mod flame_export;
mod flame_sources;
mod flamegraph;
mod fleet;
mod fleet_example;
mod flow;
mod foreign_calls;
mod format;
mod formats;
mod growing;
mod guide;
mod heap;
mod heap_bands;
mod heap_chart;
mod heap_names;
mod heap_stacks;
mod held;
mod insight;
mod layers;
mod manual;
mod memory;
mod merge;
mod names;
mod numbers;
mod one_number;
mod outputs;
mod places;
mod prepared;
mod process;
mod processes;
mod prof_reports;
mod profile_rows;
mod proportion;
mod queries;
mod report;
mod rotated;
mod runtime_reports;
mod select;
mod slices;
mod sparks;
mod split;
mod summary;
mod symbols;
mod tail;
mod terminal;
mod thread_sums;
mod threads;
mod ticky;
mod time;
mod time_laws;
mod timeline;
mod timeline_rows;
mod traces;
mod try_flags;
mod unread;
mod usage;
mod view;

#[path = "../examples/container/mod.rs"]
mod container;
#[path = "../examples/program/mod.rs"]
mod program;
#[path = "../examples/stream/mod.rs"]
mod stream;
