//! Perfetto's protobuf trace format (ui.perfetto.dev): tracks with slices, instants, flows and counters. Packets
//! are written one by one.

mod fields;
pub mod messages;

use std::io::{self, Write};

use prost::Message as _;

use crate::format::{Error, Format, OutputKind};
use crate::log::Log;
use crate::trace::Counter;
use crate::trace::counters::Unit;
use crate::trace::draw::{Argument, Instant, Lane, Named, Slice, TraceWriter, draw};
use crate::trace::names;
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;
use fields::Fields;
use messages::{
    ChildTracksOrdering, Clock, ClockSnapshot, CounterDescriptor, CounterUnit, EventType,
    InternedData, InternedName, ProcessDescriptor, TracePacket, TrackDescriptor,
};

/// Perfetto's protobuf trace format.
pub(super) const FORMAT: Format = Format {
    name: "perfetto",
    help: "A trace for ui.perfetto.dev: tracks, slices, flows and counters",
    is_trace: true,
    output: OutputKind::File {
        extension: "perfetto-trace",
        write,
    },
};

fn write(log: &Log<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let mut perfetto = Perfetto {
        out,
        categories: Interned::default(),
        names: Interned::default(),
        annotations: Interned::default(),
        is_begun: false,
        fields: Fields::default(),
        annotation: Fields::default(),
        packet: Fields::default(),
    };
    perfetto.begin(log)?;
    draw(log, &mut perfetto)?;
    Ok(())
}

/// Interned texts with their ids.
#[derive(Default)]
struct Interned {
    known: SeededMap<Box<str>, u64>,
    /// Texts to be declared in the next packet.
    new: Vec<InternedName>,
}

/// Maximum number of interned texts; further ones are written inline.
const MAX_INTERNED: usize = 1 << 20;

impl Interned {
    /// Interns a text and returns its id; `None` if there are too many.
    fn number(&mut self, text: &str) -> Option<u64> {
        if let Some(&number) = self.known.get(text) {
            return Some(number);
        }
        if self.known.len() >= MAX_INTERNED {
            return None;
        }
        let number = self.known.len() as u64 + 1;
        self.known.insert(text.into(), number);
        self.new.push(InternedName {
            iid: Some(number),
            name: Some(text.to_owned()),
        });
        Some(number)
    }
}

/// Tracks that group others.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Group {
    Process = 1,
    Capabilities = 2,
    Threads = 3,
    Spans = 4,
    Memory = 5,
    Sparks = 6,
}

/// Clock ids of the schema, for snapshots.
const REALTIME: u32 = 1;
const BOOTTIME: u32 = 6;
/// Sequence id of all packets.
const SEQUENCE: u32 = 1;
const INCREMENTAL_STATE_CLEARED: u32 = 1;
const NEEDS_INCREMENTAL_STATE: u32 = 2;

/// Combines the kind of a track and its number within that kind into a track id.
const fn uuid(kind: u64, number: u64) -> u64 {
    kind << 33 | number
}

const fn track_of(lane: Lane) -> u64 {
    match lane {
        Lane::Capability(cap) => uuid(1, cap.0 as u64),
        Lane::Collections(cap) => uuid(2, cap.0 as u64),
        Lane::Runtime => uuid(3, 0),
        Lane::Thread(thread) => uuid(4, thread.0 as u64),
        Lane::Named(number) => uuid(5, number as u64),
        Lane::Messages => uuid(6, 0),
    }
}

const fn track_of_counter(counter: &Counter) -> u64 {
    uuid(7, counter.number as u64)
}

struct Perfetto<'a> {
    out: &'a mut dyn Write,
    categories: Interned,
    names: Interned,
    annotations: Interned,
    /// Whether a packet was already written.
    is_begun: bool,
    /// The current event.
    fields: Fields,
    /// Its current annotation.
    annotation: Fields,
    /// The current packet.
    packet: Fields,
}

impl Perfetto<'_> {
    /// Returns the texts interned since the last packet, which the next one declares.
    fn declarations(&mut self) -> Option<InternedData> {
        let [categories, names, annotations] =
            [&mut self.categories, &mut self.names, &mut self.annotations]
                .map(|interned| std::mem::take(&mut interned.new));
        let has_new = !(categories.is_empty() && names.is_empty() && annotations.is_empty());
        has_new.then_some(InternedData {
            event_categories: categories,
            event_names: names,
            debug_annotation_names: annotations,
        })
    }

    /// Returns the flags of the next packet.
    fn flags(&mut self) -> u32 {
        match std::mem::replace(&mut self.is_begun, true) {
            false => INCREMENTAL_STATE_CLEARED,
            true => NEEDS_INCREMENTAL_STATE,
        }
    }

    /// Writes a packet.
    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        let packet = TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(self.flags()),
            interned_data: self.declarations(),
            ..packet
        };
        self.packet.0.clear();
        packet
            .encode(&mut self.packet.0)
            .map_err(io::Error::other)?;
        self.write_packet()
    }

    /// Writes the encoded packet as a field `packet` of message `Trace`: the file is the concatenation of these.
    fn write_packet(&mut self) -> io::Result<()> {
        self.fields.0.clear();
        self.fields.bytes(1, &self.packet.0);
        self.out.write_all(&self.fields.0)
    }

    fn begin(&mut self, log: &Log<'_>) -> io::Result<()> {
        let info = &log.session.recording().info;
        let clocks = log.clock_origin_ns.map(|origin| {
            let clock = |id, ns| Clock {
                clock_id: Some(id),
                timestamp: Some(ns),
            };
            let first = info.first_and_last().map_or(0, |(first, _)| first.0);
            let real = origin.saturating_add(first);
            vec![clock(BOOTTIME, first), clock(REALTIME, real)]
        });
        self.packet(TracePacket {
            clock_snapshot: clocks.map(|clocks| ClockSnapshot { clocks }),
            ..TracePacket::default()
        })?;
        let process = info.process();
        let pid = process.pid.and_then(|pid| i32::try_from(pid).ok());
        let cmdline = process.program.into_iter().chain(process.arguments);
        self.track(TrackDescriptor {
            uuid: Some(uuid(0, Group::Process as u64)),
            process: Some(ProcessDescriptor {
                pid: Some(pid.unwrap_or(1)),
                cmdline: cmdline.collect(),
                process_name: Some(names::program(log).to_owned()),
            }),
            child_ordering: Some(ChildTracksOrdering::Explicit.into()),
            ..TrackDescriptor::default()
        })?;
        let groups = [
            (Group::Capabilities, "Capabilities"),
            (Group::Threads, "Threads"),
            (Group::Spans, "Spans of the program"),
            (Group::Memory, "Memory"),
            (Group::Sparks, "Sparks"),
        ];
        for (rank, (group, name)) in (0..).zip(groups) {
            self.declare_child_track(Group::Process, uuid(0, group as u64), name, rank)?;
        }
        Ok(())
    }

    fn track(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket {
            track_descriptor: Some(track),
            ..TracePacket::default()
        })
    }

    /// Declares a track in a group, with its rank there.
    fn declare_child_track(
        &mut self,
        group: Group,
        track: u64,
        name: &str,
        rank: i32,
    ) -> io::Result<()> {
        self.track(TrackDescriptor {
            uuid: Some(track),
            parent_uuid: Some(uuid(0, group as u64)),
            name: Some(name.to_owned()),
            child_ordering: Some(ChildTracksOrdering::Explicit.into()),
            sibling_order_rank: Some(rank),
            ..TrackDescriptor::default()
        })
    }

    /// Writes a packet with the event in `fields`.
    fn event(&mut self, at: Nanos) -> io::Result<()> {
        let (flags, declarations) = (self.flags(), self.declarations());
        let packet = &mut self.packet;
        packet.0.clear();
        packet.number(8, at.0);
        packet.number(10, SEQUENCE.into());
        packet.bytes(11, &self.fields.0);
        if let Some(declarations) = declarations {
            packet.bytes(12, &declarations.encode_to_vec());
        }
        packet.number(13, flags.into());
        self.write_packet()
    }

    /// Begins an event with name, category and arguments in `fields`.
    fn named_event(
        &mut self,
        (lane, kind): (Lane, EventType),
        (name, category): (&str, &str),
        arguments: &[Named<'_>],
    ) {
        let (fields, annotation) = (&mut self.fields, &mut self.annotation);
        fields.0.clear();
        if let Some(category) = self.categories.number(category) {
            fields.number(3, category);
        }
        for (name, argument) in arguments {
            annotation.0.clear();
            if let Some(name) = self.annotations.number(name) {
                annotation.number(1, name);
            }
            match *argument {
                Argument::Flag(flag) => annotation.number(2, flag.into()),
                Argument::Number(number) => annotation.number(3, number),
                Argument::Text(text) => annotation.bytes(6, text.as_bytes()),
            }
            fields.bytes(4, &annotation.0);
        }
        fields.number(9, kind as u64);
        let interned = self.names.number(name);
        if let Some(interned) = interned {
            fields.number(10, interned);
        }
        fields.number(11, track_of(lane));
        if interned.is_none() {
            fields.bytes(23, name.as_bytes());
        }
    }
}

/// Returns the rank of a track among its siblings.
fn rank(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

impl TraceWriter for Perfetto<'_> {
    fn lane(&mut self, lane: Lane, name: &str) -> io::Result<()> {
        let (group, rank) = match lane {
            Lane::Capability(cap) => (Group::Capabilities, 2 * i32::from(cap.0)),
            Lane::Collections(cap) => (Group::Capabilities, 2 * i32::from(cap.0) + 1),
            Lane::Runtime => (Group::Capabilities, i32::MAX),
            Lane::Thread(thread) => (Group::Threads, rank(thread.0)),
            Lane::Named(number) => (Group::Spans, rank(number)),
            Lane::Messages => (Group::Process, i32::MAX),
        };
        self.declare_child_track(group, track_of(lane), name, rank)
    }

    fn slice(&mut self, lane: Lane, slice: &Slice<'_>, inner: &[Slice<'_>]) -> io::Result<()> {
        let what = (lane, EventType::SliceBegin);
        self.named_event(what, (slice.name, slice.category), slice.arguments);
        if let Some(arrow) = slice.arrow {
            self.fields.fixed(48, arrow);
        }
        self.event(slice.span.start())?;
        for inner in inner {
            self.slice(lane, inner, &[])?;
        }
        self.fields.0.clear();
        self.fields.number(9, EventType::SliceEnd as u64);
        self.fields.number(11, track_of(lane));
        self.event(slice.span.end())
    }

    fn instant(&mut self, lane: Lane, instant: &Instant<'_>) -> io::Result<()> {
        let what = (lane, EventType::Instant);
        self.named_event(what, (instant.name, instant.category), instant.arguments);
        if let Some(arrow) = instant.arrow {
            self.fields.fixed(47, arrow);
        }
        self.event(instant.at)
    }

    fn counter(&mut self, counter: &Counter) -> io::Result<()> {
        let kind = counter.kind.unit();
        let (group, unit) = match kind {
            Unit::Bytes => (Group::Memory, CounterUnit::SizeBytes),
            Unit::Megablocks => (Group::Memory, CounterUnit::Count),
            Unit::Sparks => (Group::Sparks, CounterUnit::Count),
        };
        let unit_name = (unit == CounterUnit::Count).then(|| kind.name());
        self.track(TrackDescriptor {
            uuid: Some(track_of_counter(counter)),
            parent_uuid: Some(uuid(0, group as u64)),
            name: Some(counter.title()),
            counter: Some(CounterDescriptor {
                unit: Some(unit.into()),
                unit_name: unit_name.map(str::to_owned),
            }),
            sibling_order_rank: Some(rank(counter.number)),
            ..TrackDescriptor::default()
        })
    }

    fn sample(&mut self, counter: &Counter, at: Nanos, value: u64) -> io::Result<()> {
        self.fields.0.clear();
        self.fields.number(9, EventType::Counter as u64);
        self.fields.number(11, track_of_counter(counter));
        // Larger values saturate at that of the signed type.
        self.fields.number(30, value.min(i64::MAX as u64));
        self.event(at)
    }
}
