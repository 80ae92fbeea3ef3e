//! Compressed protocol buffer of pprof (<https://github.com/google/pprof/blob/main/proto/profile.proto>).

use analysis::flamegraph::sources;
use std::io::{self, Write};

use eventlog::hash::SeededMap;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::export_stacks::ExportStacks;
use super::export_stacks::without_comparison;
use super::output::{LogInfo, Scale, frame_name};
use super::source_location::SourceLocation;
use super::tree::{DEEPER, Row, Tree};
use crate::flame::query::FlameQuery;
use model::profile::Profile;
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::source::Unit;
use model::profile::stack_source::StackSource;
use model::profile::weights::Measure;

/// `perftools.profiles.Profile`. Texts are indexes into its string table.
#[derive(Clone, PartialEq, Message)]
struct ProfileProto {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<SampleProto>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct SampleProto {
    /// Location ids, innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
    #[prost(int64, tag = "3")]
    column: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}

/// String table; the first entry is empty, as the format requires.
#[derive(Debug)]
struct StringTable {
    all: Vec<String>,
    places: SeededMap<String, i64>,
}

impl StringTable {
    fn new() -> Self {
        let mut strings = Self {
            all: Vec::new(),
            places: SeededMap::default(),
        };
        strings.intern("");
        strings
    }

    fn intern(&mut self, text: &str) -> i64 {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = self.all.len() as i64;
        self.all.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }

    fn value_type(&mut self, (kind, unit): (&str, &str)) -> ValueType {
        ValueType {
            r#type: self.intern(kind),
            unit: self.intern(unit),
        }
    }
}

/// Returns the kinds and units of a sample's values.
const fn sample_types(unit: Unit) -> &'static [(&'static str, &'static str)] {
    match unit {
        Unit::Time => &[("samples", "count"), ("time", "nanoseconds")],
        Unit::Bytes => &[("inuse_space", "bytes")],
    }
}

/// Writer of stacks. Concatenated protocol buffers merge, and their lists are appended, so the head comes first
/// and the stacks follow one by one.
#[derive(Debug)]
pub(super) struct Pprof {
    /// Fields that occur once, until they are written.
    head: Option<ProfileProto>,
    pub(super) tree: Tree,
    unit: Unit,
    amount: Scale,
    count: Scale,
    /// Next row to write.
    next: usize,
    /// Location ids of the last row, outermost first.
    path: Vec<u64>,
    out: GzEncoder<Vec<u8>>,
    bytes: Vec<u8>,
}

impl Pprof {
    pub(super) fn new(
        export_stacks: &ExportStacks<'_>,
        stack_source: &dyn StackSource,
        query: &FlameQuery,
        log_info: &LogInfo,
    ) -> Self {
        let by = |measure| Scale {
            measure,
            ..Scale::new(query, export_stacks.censuses())
        };
        let frames = export_stacks.frames();
        let deeper = FrameId(u32::try_from(frames.len()).unwrap_or(u32::MAX));
        let tree = export_stacks.tree(|frame| frame.0, deeper.0);
        let mut used = vec![false; frames.len() + 1];
        for row in tree.rows().iter().filter(|row| row.depth > 0) {
            if let Some(used) = used.get_mut(row.key as usize) {
                *used = true;
            }
        }
        let is_used = |id: FrameId| used.get(id.0 as usize).copied().unwrap_or(false);
        let mut strings = StringTable::new();
        let mut head = head(stack_source, query, log_info, &mut strings);
        for (id, frame) in frames.iter().filter(|(id, _)| is_used(*id)) {
            add_frame(id, frame, &mut head, &mut strings);
        }
        if is_used(deeper) {
            let frame = Frame::with_kind(FrameKind::Unknown, DEEPER);
            add_frame(deeper, &frame, &mut head, &mut strings);
        }
        head.string_table = strings.all;
        Self {
            head: Some(head),
            tree,
            unit: sources::description(query.choice.source).unit,
            amount: by(Measure::Amount),
            count: by(Measure::Count),
            next: 0,
            path: Vec::new(),
            out: GzEncoder::new(Vec::new(), Compression::default()),
            bytes: Vec::new(),
        }
    }

    /// Writes at most `stacks` stacks; returns whether the file is complete.
    pub(super) fn advance(&mut self, out: &mut impl Write, stacks: usize) -> io::Result<bool> {
        if let Some(head) = self.head.take() {
            self.part(&head)?;
        }
        let mut done = false;
        for _ in 0..stacks {
            let Some(row) = self.tree.get(self.next) else {
                done = true;
                self.out.try_finish()?;
                break;
            };
            self.next += 1;
            self.stack(row)?;
        }
        out.write_all(self.out.get_ref())?;
        self.out.get_mut().clear();
        Ok(done)
    }

    fn stack(&mut self, row: Row) -> io::Result<()> {
        if let Some(outer) = row.depth.checked_sub(1) {
            self.path.truncate(usize::from(outer));
            self.path.push(id_of(FrameId(row.key)));
        }
        let value: Vec<i64> = match self.unit {
            Unit::Time => vec![self.count.whole(row.own), self.amount.whole(row.own)],
            Unit::Bytes => vec![self.amount.whole(row.own)],
        }
        .into_iter()
        .map(clamped)
        .collect();
        if value.iter().all(|&value| value == 0) {
            return Ok(());
        }
        self.part(&ProfileProto {
            sample: vec![SampleProto {
                location_id: self.path.iter().rev().copied().collect(),
                value,
            }],
            ..ProfileProto::default()
        })
    }

    fn part(&mut self, part: &ProfileProto) -> io::Result<()> {
        self.bytes.clear();
        part.encode(&mut self.bytes).map_err(io::Error::other)?;
        self.out.write_all(&self.bytes)
    }
}

/// Returns the id of a frame's location and function; ids begin at 1.
fn id_of(frame: FrameId) -> u64 {
    u64::from(frame.0) + 1
}

fn clamped(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Returns the fields that occur once.
fn head(
    stack_source: &dyn StackSource,
    query: &FlameQuery,
    log_info: &LogInfo,
    strings: &mut StringTable,
) -> ProfileProto {
    let choice = without_comparison(query);
    let (profile, _) = stack_source.tracks_in_time_order(&choice);
    let range = choice.range.unwrap_or(profile.span);
    let started = log_info
        .clock_origin_ns
        .map(|clock| clock.saturating_add(clamped(range.start().0)));
    let types = sample_types(sources::description(choice.source).unit);
    let default = match query.measure {
        Measure::Count => types.first(),
        Measure::Amount => types.last(),
    };
    let tick = tick(&profile);
    ProfileProto {
        sample_type: types.iter().map(|&kind| strings.value_type(kind)).collect(),
        default_sample_type: default.map_or(0, |(kind, _)| strings.intern(kind)),
        // These flags keep `pprof` from looking up symbols itself.
        mapping: vec![Mapping {
            id: 1,
            filename: strings.intern(&log_info.program),
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
        }],
        time_nanos: started.unwrap_or(0),
        duration_nanos: clamped(range.duration().0),
        period_type: tick.map(|_| strings.value_type(("time", "nanoseconds"))),
        period: tick.unwrap_or(0),
        comment: vec![strings.intern(concat!("eventscope ", env!("CARGO_PKG_VERSION")))],
        ..ProfileProto::default()
    }
}

/// Returns the sampling interval of the runtime in nanoseconds, if the profile has samples.
fn tick(profile: &Profile) -> Option<i64> {
    let sampled = profile.tracks.iter().any(|track| track.sampled);
    let tick = profile.tick_interval.filter(|_| sampled)?;
    Some(clamped(tick.0))
}

/// Adds a function with a single location.
fn add_frame(id: FrameId, frame: &Frame, into: &mut ProfileProto, strings: &mut StringTable) {
    let place = frame.location.as_deref().and_then(SourceLocation::parse);
    let line = place.map_or(0, |place| i64::from(place.line));
    let name = strings.intern(&frame_name(frame));
    into.function.push(Function {
        id: id_of(id),
        name,
        system_name: name,
        filename: strings.intern(place.map_or("", |place| place.file)),
        start_line: line,
    });
    into.location.push(Location {
        id: id_of(id),
        mapping_id: 1,
        address: frame.address.unwrap_or(0),
        line: vec![Line {
            function_id: id_of(id),
            line,
            column: place.and_then(|place| place.column).map_or(0, i64::from),
        }],
    });
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::flame::query::ExportFormat;
    use crate::queries::FlameExportQuery;
    use crate::read_session;
    use analysis::flamegraph::sources;
    use eventlog::FileSource;
    use model::profile::stack_source::FlameSelection;

    /// Exports the cost centres of a fixture and decodes the file.
    fn decoded(query: &FlameQuery) -> ProfileProto {
        let fixture = "tests/fixtures/logs/ghc-9.10.3/prof-time-N2-pj-l.eventlog";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(fixture);
        let mut source = FileSource::open(&path).expect("a log");
        let session = read_session(&mut source).expect("a log");
        let file = session.ask(&FlameExportQuery {
            query: query.clone(),
            format: ExportFormat::Pprof,
        });
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(file.expect("a file").bytes.as_slice())
            .read_to_end(&mut bytes)
            .expect("gzip");
        ProfileProto::decode(bytes.as_slice()).expect("a message")
    }

    #[test]
    fn the_parts_make_up_one_message() {
        let profile = decoded(&FlameQuery::default());
        let text = |place: i64| profile.string_table[place as usize].as_str();
        let types = profile.sample_type.iter();
        let types: Vec<_> = types.map(|of| (text(of.r#type), text(of.unit))).collect();
        assert_eq!(types, [("samples", "count"), ("time", "nanoseconds")]);
        assert_eq!(text(0), "");
        assert_eq!(text(profile.default_sample_type), "time");
        let sum = |value: usize| -> i64 {
            let samples = profile.sample.iter();
            samples.map(|sample| sample.value[value]).sum()
        };
        assert_eq!((sum(0), sum(1)), (492, 475_223_647));
        assert_eq!(profile.period, 1_000_000);
        assert_eq!(profile.time_nanos / 1_000_000_000, 1_795_168_024);
        // Every referenced location exists and has a function.
        for id in profile.sample.iter().flat_map(|sample| &sample.location_id) {
            let location = profile.location.iter().find(|other| other.id == *id);
            let line = location.expect("a location").line[0];
            let function = profile.function.iter().find(|of| of.id == line.function_id);
            assert!(!text(function.expect("a function").name).is_empty());
        }
        let names = |sample: &SampleProto| -> Vec<&str> {
            let functions = sample.location_id.iter().map(|id| {
                let function = profile.function.iter().find(|of| of.id == *id);
                text(function.expect("a function").name)
            });
            functions.collect()
        };
        let innermost = profile.sample.iter().map(names);
        let mut odd = innermost.filter(|names| names[0] == "Main.isOdd'");
        assert!(odd.any(|names| names[1] == "Main.isEven'" && names.last() == Some(&"Main.CAF")));
        let even = profile
            .function
            .iter()
            .find(|of| text(of.name) == "Main.isEven'");
        let even = even.expect("a function");
        assert_eq!(even.start_line, 19);
        assert!(text(even.filename).ends_with("ProfTime.hs"));
    }

    #[test]
    fn samples_come_first_if_they_are_asked_for() {
        let query = FlameQuery {
            choice: FlameSelection {
                source: sources::COST_CENTRES,
                ..FlameSelection::default()
            },
            measure: Measure::Count,
            ..FlameQuery::default()
        };
        let profile = decoded(&query);
        let default = &profile.string_table[profile.default_sample_type as usize];
        assert_eq!(default, "samples");
    }
}
