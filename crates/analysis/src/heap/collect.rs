//! Builds heap profiles from events.
//!
//! A census consists of the events from `HEAP_PROF_SAMPLE_BEGIN` to `HEAP_PROF_SAMPLE_END`, or to the next begin
//! (there is no end before GHC 8.10). The runtime writes a value for each label that holds anything (`dumpCensus`
//! in `rts/ProfHeap.c`); with `-hT`, it may write several for one label.

use std::borrow::Cow;

use super::values::{HeapValues, Run, Source};
use super::{Breakdown, HeapProfile, HeapProfiles, ProfileKind, ShortBytes};
use eventlog::ids::Nanos;
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::census::BandId;

/// Memory budget for the values of a profile.
const BUDGET_BYTES: usize = 512 << 20;
/// Limit of bands of a profile.
const MAX_BANDS: usize = 1 << 18;
/// Number of values between checks of the memory budget.
const VALUES_PER_CHECK: usize = 1 << 22;

/// Collects the heap profiles of a log. Intermediate results are available at any time.
#[derive(Clone, Debug)]
pub struct HeapCollector {
    found: HeapProfiles,
    writers: Vec<ProfileWriter>,
    /// Index of the profile announced last.
    current: Option<usize>,
    /// The open census.
    census: Option<OpenCensus>,
    budget_bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct OpenCensus {
    at: Nanos,
    era: u64,
    /// Whether the event has the time of the census.
    has_time: bool,
    /// Whether any profile has the census.
    used: bool,
}

/// State of a profile under construction.
#[derive(Clone, Debug, Default)]
struct ProfileWriter {
    /// Number of the profile in events.
    id: u8,
    open: bool,
    values: usize,
    /// Number of values in the open census beyond the limit of bands.
    over_limit: u64,
}

/// Cursor over the heap profile values of a slice.
#[derive(Debug)]
pub(crate) struct SampleCursor<'a> {
    values: &'a HeapValues,
    runs: std::slice::Iter<'a, Run>,
    /// Number of values consumed.
    consumed: usize,
    /// Profile of each source, and the band of each label.
    bands: Vec<(usize, Vec<BandId>)>,
}

impl<'a> SampleCursor<'a> {
    /// Creates a cursor before the first value.
    pub(crate) fn new(values: &'a HeapValues) -> Self {
        Self {
            values,
            runs: values.runs.iter(),
            consumed: 0,
            bands: vec![(usize::MAX, Vec::new()); values.sources.len()],
        }
    }

    /// Returns the next run, if at most `kept` stored events precede it.
    fn next(&mut self, kept: u32) -> Option<&'a Run> {
        let next = self.runs.as_slice().first();
        next.filter(|run| run.before <= kept)?;
        self.runs.next()
    }
}

/// Sentinel for a label without a lookup so far.
const NOT_LOOKED_UP: BandId = BandId(u32::MAX);
/// Sentinel for a label beyond the limit of bands.
const OVER_LIMIT: BandId = BandId(u32::MAX - 1);

impl Default for HeapCollector {
    fn default() -> Self {
        Self {
            found: HeapProfiles::default(),
            writers: Vec::new(),
            current: None,
            census: None,
            budget_bytes: BUDGET_BYTES,
        }
    }
}

impl Sink for HeapCollector {
    const CONSUMES: EventSet = EventSet::from_types(&[
        EventType::HEAP_PROF_BEGIN,
        EventType::HEAP_PROF_SAMPLE_BEGIN,
        EventType::HEAP_BIO_PROF_SAMPLE_BEGIN,
        EventType::HEAP_PROF_SAMPLE_END,
    ]);

    fn event(&mut self, record: &Record<'_>) {
        self.heap_event(&record.event(), record.time);
    }
}

impl HeapCollector {
    /// Returns the profiles found so far, without the open census.
    pub const fn found(&self) -> &HeapProfiles {
        &self.found
    }

    /// Closes the open census at the end of the log.
    pub(crate) fn finish(&mut self) {
        self.end();
    }

    fn heap_event(&mut self, event: &Event<'_>, at: Nanos) {
        match *event {
            Event::HeapProfBegin { id, .. } => self.announced(id, kind_of(event)),
            Event::HeapProfSampleBegin { era } => self.begin(at, era, false),
            Event::HeapBioProfSampleBegin { era, time } => {
                self.begin(Nanos(time).min(at), era, true);
            }
            Event::HeapProfSampleEnd { .. } => self.end(),
            _ => {}
        }
    }

    /// Begins a profile, or continues one that is announced again, as some programs do.
    fn announced(&mut self, id: u8, kind: ProfileKind) {
        self.end();
        let again = (self.writers.iter().zip(&self.found.profiles))
            .position(|(writer, profile)| writer.id == id && profile.kind == kind);
        let stacks = kind.breakdown == Breakdown::CostCentreStack;
        self.current = Some(again.unwrap_or_else(|| self.add(id, stacks, kind)));
    }

    fn add(&mut self, id: u8, stacks: bool, kind: ProfileKind) -> usize {
        self.writers.push(ProfileWriter {
            id,
            ..ProfileWriter::default()
        });
        self.found.profiles.push(HeapProfile {
            kind,
            stacks,
            ..HeapProfile::default()
        });
        self.writers.len() - 1
    }

    fn begin(&mut self, at: Nanos, era: u64, has_time: bool) {
        self.end();
        self.census = Some(OpenCensus {
            at,
            era,
            has_time,
            used: false,
        });
    }

    /// Returns the profile for values of this kind, creating it if necessary.
    ///
    /// Prefers the profile announced last, then the latest other one that matches.
    fn profile_of(&mut self, id: u8, stacks: bool) -> usize {
        let fits = |place: &usize| {
            let writer = self
                .writers
                .get(*place)
                .is_some_and(|writer| writer.id == id);
            let profile = self.found.profiles.get(*place);
            writer && profile.is_some_and(|profile| profile.stacks == stacks)
        };
        let found = self.current.filter(fits);
        let found = found.or_else(|| (0..self.writers.len()).rev().find(fits));
        found.unwrap_or_else(|| {
            let breakdown = if stacks {
                Breakdown::CostCentreStack
            } else {
                Breakdown::Unknown
            };
            self.add(
                id,
                stacks,
                ProfileKind {
                    breakdown,
                    ..ProfileKind::default()
                },
            )
        })
    }

    /// Adds the values of a slice that at most `kept` of its stored events precede.
    pub(crate) fn add_values(&mut self, cursor: &mut SampleCursor<'_>, kept: u32) {
        while let Some(run) = cursor.next(kept) {
            let values = cursor.values;
            let places = cursor.consumed..cursor.consumed + run.count;
            cursor.consumed = places.end;
            if let (Some(source), Some(bands), Some(labels), Some(bytes)) = (
                values.sources.get(run.source),
                cursor.bands.get_mut(run.source),
                values.labels.get(places.clone()),
                values.bytes.get(places),
            ) {
                self.run(run.at, source, bands, (labels, bytes));
            }
        }
    }

    /// Adds a run of values of one source; `at` is the time of the first.
    fn run(
        &mut self,
        at: Nanos,
        source: &Source,
        (of, bands): &mut (usize, Vec<BandId>),
        (labels, bytes): (&[u32], &[u64]),
    ) {
        let place = self.profile_of(source.id, source.stacks);
        let (Some(writer), Some(profile)) = (
            self.writers.get_mut(place),
            self.found.profiles.get_mut(place),
        ) else {
            return;
        };
        if !writer.open {
            // If the begin is missing, the first value begins a census.
            let begun = OpenCensus {
                at,
                era: 0,
                has_time: false,
                used: true,
            };
            let census = self.census.get_or_insert(begun);
            census.used = true;
            writer.begin(profile, *census);
        }
        if *of != place {
            *of = place;
            bands.clear();
            bands.resize(source.len(), NOT_LOOKED_UP);
        }
        for &label in labels {
            if let Some(band) = bands.get_mut(label as usize)
                && *band == NOT_LOOKED_UP
            {
                *band = profile
                    .intern_band(source.label(label))
                    .unwrap_or(OVER_LIMIT);
            }
        }
        let rest = profile.rest.map_or(NOT_LOOKED_UP, |(rest, _)| rest);
        let censuses = profile.censuses_mut();
        for (&label, &bytes) in labels.iter().zip(bytes) {
            let band = bands.get(label as usize).copied().unwrap_or(NOT_LOOKED_UP);
            let is_over = band == OVER_LIMIT;
            writer.over_limit += u64::from(is_over);
            censuses.add(if is_over { rest } else { band }, bytes);
        }
        writer.values += labels.len();
    }

    fn end(&mut self) {
        let Some(census) = self.census.take() else {
            return;
        };
        // A census without values belongs to the profile announced last.
        if let Some(place) = self.current.filter(|_| !census.used)
            && let (Some(writer), Some(profile)) = (
                self.writers.get_mut(place),
                self.found.profiles.get_mut(place),
            )
        {
            writer.begin(profile, census);
        }
        for (writer, profile) in self.writers.iter_mut().zip(&mut self.found.profiles) {
            writer.end(profile, self.budget_bytes);
        }
    }
}

impl ProfileWriter {
    fn begin(&mut self, profile: &mut HeapProfile, census: OpenCensus) {
        let of_lives = profile
            .kind
            .filters
            .iter()
            .any(|(name, _)| *name == "biography");
        profile.untimed |= of_lives && !census.has_time;
        profile.censuses_mut().begin(census.at);
        profile.eras.push(census.era);
        self.open = true;
    }

    fn end(&mut self, profile: &mut HeapProfile, budget_bytes: usize) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        profile.censuses_mut().end();
        profile.over_limit = profile.over_limit.max(std::mem::take(&mut self.over_limit));
        if self.values < VALUES_PER_CHECK.min(budget_bytes / 8) {
            return;
        }
        self.values = 0;
        if profile.censuses.size_bytes() > budget_bytes {
            let (rest, before) = profile.rest_band();
            let folded = profile.censuses_mut().fold_smallest(rest) as u64;
            profile.rest = Some((rest, before + folded));
        }
    }
}

impl HeapProfile {
    /// Returns the band of a label, creating it if it is new.
    ///
    /// Beyond the limit, returns `None`, and the label counts towards the merged band.
    fn intern_band(&mut self, label: &[u8]) -> Option<BandId> {
        let place = match self.labels.get_index_of(label) {
            Some(place) => place,
            None if self.labels.len() < MAX_BANDS => {
                self.censuses_mut().add_band();
                self.labels.insert_full(ShortBytes::from_slice(label)).0
            }
            None => {
                self.rest = Some(self.rest_band());
                return None;
            }
        };
        Some(self.band_of(place))
    }

    /// Returns the band of a label by its index. Skips the merged band, which has no label.
    fn band_of(&self, place: usize) -> BandId {
        let place = place as u32;
        let before = u32::from(self.rest.is_some_and(|(rest, _)| rest.0 <= place));
        BandId(place + before)
    }

    fn rest_band(&mut self) -> (BandId, u64) {
        self.rest
            .unwrap_or_else(|| (self.censuses_mut().add_band(), 0))
    }
}

fn kind_of(event: &Event<'_>) -> ProfileKind {
    let Event::HeapProfBegin {
        sampling_period,
        breakdown,
        module_filter,
        closure_descr_filter,
        type_descr_filter,
        cost_centre_filter,
        cost_centre_stack_filter,
        retainer_filter,
        biography_filter,
        ..
    } = event
    else {
        return ProfileKind::default();
    };
    let filters = [
        ("module", module_filter),
        ("closure description", closure_descr_filter),
        ("type", type_descr_filter),
        ("cost centre", cost_centre_filter),
        ("cost-centre stack", cost_centre_stack_filter),
        ("retainer", retainer_filter),
        ("biography", biography_filter),
    ];
    let text = |filter: &Option<eventlog::cursor::CText<'_>>| {
        filter.map(|text| text.0.to_str().into_owned())
    };
    let filters = filters
        .into_iter()
        .filter_map(|(name, filter)| Some((Cow::from(name), text(filter)?)));
    ProfileKind {
        breakdown: Breakdown::of_number(breakdown.0),
        period_ns: *sampling_period,
        filters: filters.filter(|(_, text)| !text.is_empty()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Label;
    use super::super::values::HeapValueAnalysis;
    use super::*;
    use eventlog::status::StopCodes;

    impl HeapCollector {
        fn take(&mut self, at: u64, id: u16, payload: &[u8]) {
            let event = Event::decode(EventType(id), payload, StopCodes::default());
            let mut values = HeapValueAnalysis::default();
            values.event(&event, Nanos(at), 0);
            self.add_values(&mut SampleCursor::new(&values.finish()), 0);
            self.heap_event(&event, Nanos(at));
        }

        fn profile(&mut self, at: u64, breakdown: u32, biography: &str) {
            let head = [&[0][..], &10_u64.to_be_bytes(), &breakdown.to_be_bytes()].concat();
            self.take(
                at,
                160,
                &[&head, &b"\0\0\0\0\0\0"[..], biography.as_bytes(), b"\0"].concat(),
            );
        }

        fn text(&mut self, at: u64, bytes: u64, label: &str) {
            self.take(
                at,
                164,
                &[&[0][..], &bytes.to_be_bytes(), label.as_bytes(), b"\0"].concat(),
            );
        }

        fn stack(&mut self, at: u64, bytes: u64, stack: &[u32]) {
            let mut payload = [&[0][..], &bytes.to_be_bytes(), &[stack.len() as u8]].concat();
            payload.extend(stack.iter().flat_map(|id| id.to_be_bytes()));
            self.take(at, 163, &payload);
        }

        fn begin_census(&mut self, at: u64) {
            self.take(at, 162, &at.to_be_bytes());
        }
    }

    fn rows(profile: &HeapProfile) -> Vec<String> {
        let censuses = 0..profile.censuses.len() as u32;
        let row = |census: u32| {
            let time = profile
                .time(census)
                .map_or("-".to_owned(), |time| time.0.to_string());
            let band = |band| match profile.censuses.bytes_at(band, census) {
                0 => None,
                bytes => Some(match profile.label(band)? {
                    Label::Text(text) => format!(" {text}={bytes}"),
                    Label::Stack(stack) => format!(
                        " {:?}={bytes}",
                        stack.iter().map(|id| id.0).collect::<Vec<_>>()
                    ),
                    Label::Rest => format!(" rest={bytes}"),
                }),
            };
            time + &profile.bands().filter_map(band).collect::<String>()
        };
        censuses.map(row).collect()
    }

    #[test]
    fn a_census_ends_at_its_end_or_the_next_begin() {
        let mut heap = HeapCollector::default();
        heap.profile(1, 7, "");
        heap.begin_census(10);
        heap.text(11, 40, "THUNK");
        heap.text(11, 2, "[]");
        heap.text(11, 8, "THUNK");
        heap.begin_census(20);
        heap.take(21, 165, &20_u64.to_be_bytes());
        // The begin is missing.
        heap.text(30, 5, "[]");
        assert_eq!(
            heap.found().iter().map(|p| p.censuses.len()).sum::<usize>(),
            2
        );
        heap.take(31, 165, &0_u64.to_be_bytes());
        let profile = heap.found().get(0).expect("it has censuses");
        assert_eq!(rows(profile), ["10 THUNK=48 []=2", "20", "30 []=5"]);
        assert_eq!(profile.kind.breakdown, Breakdown::ClosureType);
        assert_eq!((profile.kind.period_ns, profile.era(0)), (10, Some(10)));
    }

    #[test]
    fn announced_once_more_it_goes_on_otherwise_another_begins() {
        let mut heap = HeapCollector::default();
        for (at, breakdown) in [(1, 7), (2, 7), (3, 4), (4, 7)] {
            heap.profile(at * 10, breakdown, "");
            heap.begin_census(at * 10);
            heap.text(at * 10, at, "x");
            heap.take(at * 10, 165, &0_u64.to_be_bytes());
        }
        // Values of another kind form another profile.
        heap.begin_census(50);
        heap.stack(50, 7, &[3, 2]);
        heap.stack(50, 8, &[]);
        heap.take(51, 165, &0_u64.to_be_bytes());
        let all: Vec<_> = heap.found().iter().map(rows).collect();
        assert_eq!(
            all,
            [
                vec!["10 x=1", "20 x=2", "40 x=4"],
                vec!["30 x=3"],
                vec!["50 [3, 2]=7 []=8"]
            ]
        );
    }

    #[test]
    fn censuses_of_a_part_of_lives_have_a_time_if_they_say_it() {
        let mut heap = HeapCollector::default();
        heap.profile(1, 1, "drag");
        heap.begin_census(50);
        heap.stack(50, 7, &[1]);
        heap.profile(50, 6, "");
        heap.take(
            50,
            166,
            &[9_u64.to_be_bytes(), 5_u64.to_be_bytes()].concat(),
        );
        heap.text(50, 8, "LAG");
        heap.take(50, 165, &0_u64.to_be_bytes());
        let all: Vec<_> = heap.found().iter().map(rows).collect();
        assert_eq!(all, [["- [1]=7"], ["5 LAG=8"]]);
        let untimed = heap.found().get(0).expect("it has a census");
        let range = Some(model::time::Interval::new(Nanos(0), Nanos(1)));
        assert_eq!(untimed.censuses_in(range, Nanos(60)), 0..1);
    }

    #[test]
    fn without_memory_small_bands_are_one() {
        let mut heap = HeapCollector {
            budget_bytes: 100_000,
            ..HeapCollector::default()
        };
        heap.profile(1, 8, "");
        let bytes = |census: u64, band: u64| 8 * (1 + band) * (1 + (census * 7 + band) % 5);
        for census in 0..400 {
            heap.begin_census(census);
            (0..100)
                .for_each(|band| heap.text(census, bytes(census, band), &format!("0x{band:x}")));
            heap.take(census, 165, &0_u64.to_be_bytes());
        }
        heap.begin_census(400);
        heap.text(400, 5, "0x0");
        heap.text(400, 6, "new");
        heap.end();
        let profile = heap.found().get(0).expect("it has censuses");
        assert!(profile.folded() > 10, "{}", profile.folded());
        assert!(
            profile.censuses.size_bytes() < 200_000,
            "{}",
            profile.censuses.size_bytes()
        );
        assert_eq!(profile.bands().count() as u64 + profile.folded(), 102);
        let sum: u64 = profile
            .bands()
            .map(|band| profile.censuses.bytes_at(band, 399))
            .sum();
        assert_eq!(sum, (0..100).map(|band| bytes(399, band)).sum::<u64>());
        assert_eq!(
            rows(profile).last().map(String::as_str),
            Some("400 rest=5 new=6")
        );
        let largest = profile
            .bands()
            .find(|&band| profile.label(band) == Some(Label::Text("0x63".into())));
        assert_eq!(
            largest.map(|band| profile.censuses.bytes_at(band, 3)),
            Some(bytes(3, 99))
        );
    }
}
