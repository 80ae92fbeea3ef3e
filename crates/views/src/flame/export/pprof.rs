//! The compressed protocol buffer of pprof
//! (<https://github.com/google/pprof/blob/main/proto/profile.proto>).

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::{About, Place, Scale, frame_name, weighed};
use crate::flame::query::{FlameQuery, Measure};
use model::profile::Profile;
use model::profile::frames::{Frame, FrameId};
use model::profile::origin::{Choice, Origin};
use model::profile::source::Unit;
use model::profile::stacks::StackId;

/// `perftools.profiles.Profile`. Texts are places in its table of texts.
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
    /// Innermost first.
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

/// The table of texts; the first is empty, as the format wants it.
#[derive(Debug)]
struct Texts {
    all: Vec<String>,
    places: HashMap<String, i64>,
}

impl Texts {
    fn new() -> Self {
        let mut texts = Self {
            all: Vec::new(),
            places: HashMap::new(),
        };
        texts.place("");
        texts
    }

    fn place(&mut self, text: &str) -> i64 {
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
            r#type: self.place(kind),
            unit: self.place(unit),
        }
    }
}

/// What the values of a sample mean: their kinds and units.
const fn sample_types(unit: Unit) -> &'static [(&'static str, &'static str)] {
    match unit {
        Unit::Time => &[("samples", "count"), ("time", "nanoseconds")],
        Unit::Bytes => &[("inuse_space", "bytes")],
    }
}

/// Writes the stacks. Protocol buffers may be put together from parts, of
/// which lists are appended: the samples go out one after the other.
pub(super) fn write(
    origin: &dyn Origin,
    query: &FlameQuery,
    about: &About,
    out: &mut impl Write,
) -> io::Result<()> {
    let weighed = weighed(origin, query);
    let unit = query.choice.source.unit();
    let by = |measure| Scale {
        measure,
        ..Scale::new(query, weighed.heap_samples)
    };
    let (amount, count) = (by(Measure::Amount), by(Measure::Count));
    let mut out = Parts {
        out: GzEncoder::new(out, Compression::default()),
        bytes: Vec::new(),
    };
    let mut used = vec![false; weighed.frames.len()];
    for (stack, &own) in (0..).map(StackId).zip(&weighed.own) {
        let values = match unit {
            Unit::Time => vec![count.whole(own), amount.whole(own)],
            Unit::Bytes => vec![amount.whole(own)],
        };
        if values.iter().all(|&value| value == 0) {
            continue;
        }
        let location = |frame: FrameId| {
            if let Some(used) = used.get_mut(frame.0 as usize) {
                *used = true;
            }
            id_of(frame)
        };
        out.write(ProfileProto {
            sample: vec![SampleProto {
                location_id: weighed
                    .stacks
                    .innermost_first(stack)
                    .map(location)
                    .collect(),
                value: values.into_iter().map(clamped).collect(),
            }],
            ..ProfileProto::default()
        })?;
    }
    let mut texts = Texts::new();
    let mut head = head(origin, query, about, &mut texts);
    for (id, frame) in weighed.frames.iter() {
        if used.get(id.0 as usize).copied().unwrap_or(false) {
            add_frame(id, frame, &mut head, &mut texts);
        }
    }
    head.string_table = texts.all;
    out.write(head)?;
    out.out.finish().map(drop)
}

/// Numbers of locations and functions begin at 1.
fn id_of(frame: FrameId) -> u64 {
    u64::from(frame.0) + 1
}

fn clamped(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Writes parts of one message.
struct Parts<W: Write> {
    out: GzEncoder<W>,
    bytes: Vec<u8>,
}

impl<W: Write> Parts<W> {
    fn write(&mut self, part: ProfileProto) -> io::Result<()> {
        self.bytes.clear();
        part.encode(&mut self.bytes).map_err(io::Error::other)?;
        self.out.write_all(&self.bytes)
    }
}

/// What is said once.
fn head(origin: &dyn Origin, query: &FlameQuery, about: &About, texts: &mut Texts) -> ProfileProto {
    let choice = Choice {
        before: None,
        ..query.choice.clone()
    };
    let (profile, _) = origin.in_time(&choice);
    let range = choice.range.unwrap_or(profile.span);
    let started = about
        .clock_origin_ns
        .map(|clock| clock.saturating_add(clamped(range.start.0)));
    let types = sample_types(choice.source.unit());
    let default = match query.measure {
        Measure::Count => types.first(),
        Measure::Amount => types.last(),
    };
    let tick = tick(&profile);
    ProfileProto {
        sample_type: types.iter().map(|&kind| texts.value_type(kind)).collect(),
        default_sample_type: default.map_or(0, |(kind, _)| texts.place(kind)),
        // With these `pprof` does not look for the program's symbols itself.
        mapping: vec![Mapping {
            id: 1,
            filename: texts.place(&about.program),
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
        }],
        time_nanos: started.unwrap_or(0),
        duration_nanos: clamped(range.duration().0),
        period_type: tick.map(|_| texts.value_type(("time", "nanoseconds"))),
        period: tick.unwrap_or(0),
        comment: vec![texts.place(concat!("eventscope ", env!("CARGO_PKG_VERSION")))],
        ..ProfileProto::default()
    }
}

/// How often the runtime takes a sample, if samples are what this is about.
fn tick(profile: &Profile) -> Option<i64> {
    let sampled = profile.tracks.iter().any(|track| track.sampled);
    let tick = profile.tick_interval.filter(|_| sampled)?;
    Some(clamped(tick.0))
}

/// A function, and the only location in it.
fn add_frame(id: FrameId, frame: &Frame, into: &mut ProfileProto, texts: &mut Texts) {
    let place = frame.location.as_deref().and_then(Place::parse);
    let line = place.map_or(0, |place| i64::from(place.line));
    let name = texts.place(&frame_name(frame));
    into.function.push(Function {
        id: id_of(id),
        name,
        system_name: name,
        filename: texts.place(place.map_or("", |place| place.file)),
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
    use crate::session::read_session;
    use eventlog::source::FileSource;
    use model::profile::source::Source;

    /// The file of a fixture's cost centres, decoded.
    fn decoded(query: &FlameQuery) -> ProfileProto {
        let fixture = "tests/fixtures/logs/ghc-9.10.3/prof-time-N2-pj-l.eventlog";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(fixture);
        let mut source = FileSource::open(&path).expect("a log");
        let session = read_session(&mut source).expect("a log");
        let file = session.flame_export(query, ExportFormat::Pprof);
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(file.expect("a file").as_slice())
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
        // Every location that is named is there, and has a function.
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
            choice: Choice {
                source: Source::CostCentres,
                ..Choice::default()
            },
            measure: Measure::Count,
            ..FlameQuery::default()
        };
        let profile = decoded(&query);
        let default = &profile.string_table[profile.default_sample_type as usize];
        assert_eq!(default, "samples");
    }
}
