//! Firefox Profiler's processed profile format (profiler.firefox.com).
//!
//! Lanes are its threads, slices and instants are markers. The profile is built in memory before it is written,
//! as its tables are columns.

use std::io::{self, Write};

use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CounterHandle, Marker, MarkerFieldFlags, MarkerFieldFormat,
    MarkerLocations, MarkerTiming, MarkerTypeHandle, ProcessHandle, Profile, ReferenceTimestamp,
    RuntimeSchemaMarkerField, RuntimeSchemaMarkerSchema, SamplingInterval, StringHandle,
    ThreadHandle, Timestamp,
};

use crate::format::{Error, Format, OutputKind};
use crate::log::Log;
use crate::trace::Counter;
use crate::trace::counters::Unit;
use crate::trace::draw::{Argument, CATEGORIES, Instant, Lane, Named, Slice, TraceWriter, draw};
use crate::trace::names;
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;

/// Firefox Profiler's processed profile format.
pub(super) const FORMAT: Format = Format {
    name: "firefox",
    help: "A profile for profiler.firefox.com: markers and counters",
    is_trace: true,
    output: OutputKind::File {
        extension: "firefox.json",
        write,
    },
};

fn write(log: &Log<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let mut firefox = Firefox::new(log);
    draw(log, &mut firefox)?;
    if firefox.lanes.is_empty() {
        // Firefox Profiler does not open a profile without threads.
        firefox.lane(Lane::Runtime, "Nothing was logged")?;
    }
    serde_json::to_writer(&mut *out, &firefox.profile).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// Colors of the [`CATEGORIES`].
const COLORS: [CategoryColor; CATEGORIES.len()] = [
    CategoryColor::Green,
    CategoryColor::Orange,
    CategoryColor::Yellow,
    CategoryColor::Gray,
    CategoryColor::LightBlue,
    CategoryColor::Purple,
    CategoryColor::Blue,
    CategoryColor::Magenta,
];

/// Number of Haskell threads shown initially.
const SHOWN_THREADS: usize = 20;

struct Firefox {
    profile: Profile,
    process: ProcessHandle,
    marker_type: MarkerTypeHandle,
    categories: SeededMap<&'static str, CategoryHandle>,
    lanes: SeededMap<Lane, ThreadHandle>,
    /// Number of lanes of Haskell threads.
    threads: usize,
    /// The current counter and its last value.
    counter: Option<(CounterHandle, u64)>,
    first: Timestamp,
}

impl Firefox {
    fn new(log: &Log<'_>) -> Self {
        let info = &log.session.recording().info;
        // The profile uses the clock of the log, so that times are the same.
        let origin_ms = log.clock_origin_ns.unwrap_or(0) as f64 / 1e6;
        let reference = ReferenceTimestamp::from_millis_since_unix_epoch(origin_ms);
        let (first, last) = info.first_and_last().unwrap_or_default();
        let program = names::program(log);
        let mut profile = Profile::new(program, reference, SamplingInterval::from_millis(1));
        let pid = info.process().pid.unwrap_or(1);
        let process = profile.add_process(program, pid, time(first));
        profile.set_process_end_time(process, time(last));
        let marker_type = profile.register_marker_type(schema());
        let categories = CATEGORIES.into_iter().zip(COLORS);
        let categories = categories
            .map(|(name, color)| (name, profile.add_category(name, color)))
            .collect();
        Self {
            profile,
            process,
            marker_type,
            categories,
            lanes: SeededMap::default(),
            threads: 0,
            counter: None,
            first: time(first),
        }
    }

    fn marker(
        &mut self,
        lane: Lane,
        timing: MarkerTiming,
        (name, category): (&str, &str),
        arguments: &[Named<'_>],
    ) {
        let Some(&thread) = self.lanes.get(&lane) else {
            return;
        };
        // Markers of one name share a row; all runs of a capability go into one.
        let row = match lane {
            Lane::Capability(_) | Lane::Runtime | Lane::Messages => category,
            _ => name,
        };
        let category = self.categories.get(category).copied();
        let marker = HaskellMarker {
            marker_type: self.marker_type,
            row: self.profile.intern_string(row),
            name: self.profile.intern_string(name),
            category: category.unwrap_or(CategoryHandle::OTHER),
            details: self.profile.intern_string(&details(arguments)),
        };
        self.profile.add_marker(thread, timing, marker);
    }
}

fn time(at: Nanos) -> Timestamp {
    Timestamp::from_nanos_since_reference(at.0)
}

/// Formats the arguments of a slice or instant in one line.
fn details(arguments: &[Named<'_>]) -> String {
    let arguments = arguments.iter().map(|(name, argument)| match argument {
        Argument::Text(text) => format!("{name}: {text}"),
        Argument::Number(number) => format!("{name}: {number}"),
        Argument::Flag(flag) => format!("{name}: {flag}"),
    });
    arguments.collect::<Vec<_>>().join("; ")
}

/// Returns the schema of all markers.
fn schema() -> RuntimeSchemaMarkerSchema {
    let field = |key: &str, label: &str| RuntimeSchemaMarkerField {
        key: key.into(),
        label: label.into(),
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    };
    let label = "{marker.data.what}";
    RuntimeSchemaMarkerSchema {
        type_name: "Haskell".into(),
        description: None,
        locations: MarkerLocations::MARKER_CHART
            | MarkerLocations::MARKER_TABLE
            | MarkerLocations::TIMELINE_OVERVIEW,
        chart_label: Some(label.into()),
        tooltip_label: Some(label.into()),
        table_label: Some("{marker.data.what} {marker.data.details}".into()),
        fields: vec![field("what", "What"), field("details", "Details")],
        graphs: Vec::new(),
    }
}

/// A slice or an instant.
struct HaskellMarker {
    marker_type: MarkerTypeHandle,
    row: StringHandle,
    name: StringHandle,
    category: CategoryHandle,
    details: StringHandle,
}

impl Marker for HaskellMarker {
    fn marker_type(&self, _: &mut Profile) -> MarkerTypeHandle {
        self.marker_type
    }
    fn name(&self, _: &mut Profile) -> StringHandle {
        self.row
    }
    fn category(&self, _: &mut Profile) -> CategoryHandle {
        self.category
    }
    fn string_field_value(&self, field: u32) -> StringHandle {
        if field == 0 { self.name } else { self.details }
    }
    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}

impl TraceWriter for Firefox {
    fn lane(&mut self, lane: Lane, name: &str) -> io::Result<()> {
        let number = match lane {
            Lane::Thread(thread) => thread.0,
            _ => 0,
        };
        let thread = self
            .profile
            .add_thread(self.process, number, self.first, false);
        self.profile.set_thread_name(thread, name);
        self.profile
            .set_thread_show_markers_in_timeline(thread, true);
        let is_thread = matches!(lane, Lane::Thread(_));
        self.threads += usize::from(is_thread);
        if !is_thread || self.threads <= SHOWN_THREADS {
            self.profile.add_initial_visible_thread(thread);
        }
        self.lanes.insert(lane, thread);
        Ok(())
    }

    fn slice(&mut self, lane: Lane, slice: &Slice<'_>, inner: &[Slice<'_>]) -> io::Result<()> {
        for slice in std::iter::once(slice).chain(inner) {
            let timing = MarkerTiming::Interval(time(slice.span.start()), time(slice.span.end()));
            let name = (slice.name, slice.category);
            self.marker(lane, timing, name, slice.arguments);
        }
        Ok(())
    }

    fn instant(&mut self, lane: Lane, instant: &Instant<'_>) -> io::Result<()> {
        let timing = MarkerTiming::Instant(time(instant.at));
        let name = (instant.name, instant.category);
        self.marker(lane, timing, name, instant.arguments);
        Ok(())
    }

    fn counter(&mut self, counter: &Counter) -> io::Result<()> {
        let category = match counter.kind.unit() {
            Unit::Bytes => "Memory",
            Unit::Megablocks | Unit::Sparks => "Other",
        };
        let (title, help) = (counter.title(), counter.kind.help());
        let handle = self
            .profile
            .add_counter(self.process, &title, category, help);
        // Firefox Profiler treats the first sample of a counter as 0.
        self.profile.add_counter_sample(handle, self.first, 0.0, 0);
        self.counter = Some((handle, 0));
        Ok(())
    }

    fn sample(&mut self, _: &Counter, at: Nanos, value: u64) -> io::Result<()> {
        if let Some((handle, last)) = &mut self.counter {
            let grown = value as f64 - *last as f64;
            // It interpolates between samples; a sample of zero change just before keeps steps sharp.
            self.profile.add_counter_sample(*handle, time(at), 0.0, 0);
            self.profile.add_counter_sample(*handle, time(at), grown, 0);
            *last = value;
        }
        Ok(())
    }
}
