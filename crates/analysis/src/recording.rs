//! All analyses of a log, wired together once.

use crate::account::facts::{Condition, Watch};
use crate::account::report::{CapTimes, ProgramTimes};
use crate::automata::gc_phase::Phase;
use crate::flamegraph::profiles::Profiles;
use crate::flamegraph::source_info::{SourceInfo, TrackInfo};
use crate::flamegraph::sources::{self, Known};
use crate::flamegraph::spans::opentelemetry::TelemetrySpans;
use crate::flamegraph::spans::totals::{WindowTotals, span_totals};
use crate::heap::HeapProfiles;
use crate::heap::collect::{HeapCollector, Telling};
use crate::heap::names::{BandNames, TableSymbols};
use crate::info::Info;
use crate::listen::Listen;
use crate::numbers::Numbers;
use crate::numbers::phases::Phases;
use crate::numbers::sparks_query::{SINGLE_SPARKS, SparksReply};
use crate::numbers::summary::Summary;
use crate::process::{OpenAtEnd, Way};
use crate::segment::Segment;
use crate::spans::{Analyses, Open, SpanAnalysis, SpanSink};
use crate::ticky::{self, Ticky, TickyQuery, TickyTable};
use crate::timeline::messages::Messages;
use crate::timeline::profile_rows::ProfileRows;
use crate::timeline::slice::Entry;
use crate::timeline::store::Store;
use crate::timeline::tracks::Tracks;
use crate::timeline::user_spans::SpanPrefixes;
use eventlog::ids::{CapId, Nanos};
use eventlog::{EventSet, EventType, LogReader, Names, Record, Sink, SlicePart};
use model::class::Class;
use model::lane::Lane;
use model::place::watch_places;
use model::profile::TrackSource;
use model::profile::origin::{Choice, Origin};
use model::profile::source::Source;
use model::shelf::Shelf;
use model::time::Interval;

/// The events of collections that automata take.
const COLLECTING: EventSet = EventSet::of(&[
    EventType::GC_START,
    EventType::GC_END,
    EventType::GC_IDLE,
    EventType::GC_WORK,
    EventType::GC_DONE,
]);

/// Who hears events that are kept.
#[derive(Clone, Copy, Debug)]
enum Hearer {
    Info,
    Numbers,
    Watch,
    Spans,
    Tracks,
    Names,
    Ticky,
    Telemetry,
    Profiles,
    Heap,
}

impl Hearer {
    /// The order in which they hear an event.
    const IN_ORDER: [Self; 10] = [
        Self::Info,
        Self::Numbers,
        Self::Watch,
        Self::Spans,
        Self::Tracks,
        Self::Names,
        Self::Ticky,
        Self::Telemetry,
        Self::Profiles,
        Self::Heap,
    ];

    /// The types of events that it takes of those that are kept.
    fn consumes(self, profiles: &Profiles) -> EventSet {
        match self {
            Self::Info => Info::OF_THE_PROCESS,
            Self::Numbers => Numbers::CONSUMES,
            Self::Watch => Watch::CONSUMES,
            Self::Spans => COLLECTING,
            Self::Tracks => Tracks::CONSUMES,
            // Labels of threads come in columns.
            Self::Names => Names::CONSUMES.without(EventSet::of(&[EventType::THREAD_LABEL])),
            Self::Ticky => Ticky::CONSUMES,
            Self::Telemetry => TelemetrySpans::CONSUMES,
            Self::Profiles => profiles.consumes(),
            Self::Heap => HeapCollector::CONSUMES,
        }
    }

    /// Who hears events of each type below 256, as bits; of no other type one is kept.
    fn by_type(profiles: &Profiles) -> Box<[u16; 256]> {
        let mut types = Box::new([0; 256]);
        for (place, hearer) in Self::IN_ORDER.into_iter().enumerate() {
            let consumes = hearer.consumes(profiles);
            for (id, hearers) in (0..).map(EventType).zip(&mut *types) {
                *hearers |= u16::from(consumes.contains(id)) << place;
            }
        }
        types
    }
}

/// All analyses of a log.
///
/// It gets slice after slice ([`append`](Self::append)) and is settled once the log is read to its
/// end. Everything that is told of a log comes from here, for the page, the
/// command line, the tests and the fuzzers.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The program, the times of capabilities, counts of events.
    pub info: Info,
    /// The numbers of `+RTS -s`.
    pub numbers: Numbers,
    /// When the runtime starts and ends, known once the log is read.
    phases: Phases,
    /// What the account of time must know of the whole log.
    watch: Watch,
    /// Taken out at the end of the log.
    spans: Option<SpanAnalysis>,
    /// What capabilities and threads did.
    pub store: Store,
    /// What the program said.
    pub messages: Messages,
    /// What the timeline shows beside capabilities and threads.
    pub tracks: Tracks,
    /// What threads, cost centres and counters are called.
    pub names: Names,
    /// The ticky counters.
    pub ticky: Ticky,
    /// The spans of opentelemetry.
    pub telemetry: TelemetrySpans,
    /// What the symbols of the executable say of info tables, once there are any.
    pub table_symbols: TableSymbols,
    /// What flame graphs are made from.
    pub profiles: Profiles,
    /// The rows of the timeline that show them.
    pub profile_rows: ProfileRows,
    heap: HeapCollector,
    /// Who hears events of each type.
    hearers: Box<[u16; 256]>,
    /// What had no end when the log ended.
    pub open: OpenAtEnd,
    /// Whether the log has more of something than can be counted.
    is_too_large: bool,
    /// How much of the log there is, once it is read to its end.
    pub condition: Option<Condition>,
    /// Whether the program may still write to the log: an end that is missing is no damage.
    pub is_followed: bool,
}

impl Default for Recording {
    fn default() -> Self {
        Self::on(Shelf::default())
    }
}

impl Recording {
    /// A recording whose columns are on that shelf.
    #[must_use]
    pub fn on(shelf: Shelf) -> Self {
        let analyses = Analyses {
            lifecycle: true,
            mutator_by_cap: false,
        };
        let profiles = Profiles::default();
        Self {
            info: Info::default(),
            numbers: Numbers::default(),
            phases: Phases::default(),
            watch: Watch::default(),
            spans: Some(SpanAnalysis::new(analyses)),
            store: Store::on(shelf),
            messages: Messages::default(),
            tracks: Tracks::default(),
            names: Names::default(),
            ticky: Ticky::default(),
            telemetry: TelemetrySpans::default(),
            table_symbols: TableSymbols::default(),
            hearers: Hearer::by_type(&profiles),
            profiles,
            profile_rows: ProfileRows::default(),
            heap: HeapCollector::default(),
            open: OpenAtEnd::default(),
            is_too_large: false,
            condition: None,
            is_followed: false,
        }
    }
}

impl Recording {
    /// The types of events that are heard in order; others become columns.
    pub(crate) fn keeps() -> EventSet {
        let profiles = Profiles::default();
        let sets = Hearer::IN_ORDER.map(|hearer| hearer.consumes(&profiles));
        sets.into_iter().fold(EventSet::NONE, EventSet::union)
    }

    /// Puts the next slice behind those before it.
    ///
    /// # Errors
    /// What was before the slice, if it was taken for something else: it must be
    /// analysed again with that.
    pub fn append(&mut self, segment: Segment) -> Result<SlicePart, Box<Entry>> {
        let (part, too_large) = watch_places(|| self.append_watched(segment));
        self.is_too_large |= too_large;
        part
    }

    fn append_watched(&mut self, mut segment: Segment) -> Result<SlicePart, Box<Entry>> {
        let threads = std::mem::take(&mut segment.threads);
        self.store.append(threads)?;
        self.info.append(&segment.info, segment.part.header());
        segment.labels.give(&mut self.store, &mut self.names);
        self.store.rest();
        self.messages.append(&segment.messages);
        self.profiles.samples(&segment.ticks);
        let mut values = Telling::of(&segment.heap);
        segment.kept(|place, record| {
            self.heap.tell(&mut values, place);
            self.event(record);
        });
        self.heap.tell(&mut values, u32::MAX);
        self.is_too_large |= segment.is_too_large;
        Ok(segment.part)
    }

    /// Whether the log has more of something than can be counted.
    pub(crate) const fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Hears an event of a type that it [`keeps`](Self::keeps).
    fn event(&mut self, record: &Record<'_>) {
        let hearers = self.hearers.get(usize::from(record.id.0));
        let mut hearers = hearers.copied().unwrap_or_default();
        while let Some(hearer) = Hearer::IN_ORDER.get(hearers.trailing_zeros() as usize) {
            hearers &= hearers - 1;
            match hearer {
                Hearer::Info => self.info.describe(record),
                Hearer::Numbers => self.numbers.event(record),
                Hearer::Watch => self.watch.event(record),
                Hearer::Spans => {
                    if let Some(spans) = &mut self.spans {
                        spans.event(record, &mut self.store);
                    }
                }
                Hearer::Tracks => self.tracks.event(record),
                Hearer::Names => self.names.event(record),
                Hearer::Ticky => self.ticky.event(record),
                Hearer::Telemetry => self.telemetry.event(record),
                Hearer::Profiles => self.profiles.event(record),
                Hearer::Heap => self.heap.event(record),
            }
        }
    }

    /// The heap profiles, as far as the log is read.
    #[must_use]
    pub const fn heap(&self) -> &HeapProfiles {
        self.heap.found()
    }

    /// When the last event was, as far as the log is read.
    #[must_use]
    pub fn end(&self) -> Nanos {
        let times = self.info.first_and_last();
        times.map_or(Nanos(0), |(_, last)| last)
    }

    /// The whole log, from the start of its clock to its last event, or the range that it was cut
    /// to: the part that numbers are of if no other is asked for.
    #[must_use]
    pub fn whole(&self) -> Interval {
        let all = || Interval::new(Nanos(0), self.end());
        self.info.cut_range.unwrap_or_else(all)
    }

    /// A range of a log that was cut: the part in the range that it was cut to, which is all of it.
    #[must_use]
    pub fn within_cut(&self, range: Option<Interval>) -> Option<Interval> {
        let Some(cut) = self.info.cut_range else {
            return range;
        };
        Some(range.map_or(cut, |range| range.clip(cut)))
    }

    /// Where the time of capabilities and of the program went in a range. As long
    /// as the log is read only the runs are told; the rest is not known yet.
    #[must_use]
    pub fn times(&self, range: Option<Interval>) -> ProgramTimes {
        if self.store.is_settled() {
            return self.store.account().program(range);
        }
        let read = self.info.first_and_last();
        let log = read.map_or(Interval::default(), |(from, to)| Interval::new(from, to));
        let range = range.unwrap_or(log);
        let caps = self.info.lives.caps().map(|(cap, life)| {
            let life = life.clip(range);
            let runs = self.store.cap(cap).map(|lane| lane.runs.time_in(life));
            let running_ns = runs.map_or(0, |times| times[Class::Running as usize]);
            let life_ns = life.duration().0;
            let times = CapTimes {
                life_ns,
                running_ns,
                unknown_ns: life_ns.saturating_sub(running_ns),
                ..CapTimes::default()
            };
            (cap, times)
        });
        ProgramTimes {
            life_ns: range.duration().0,
            caps: caps.collect(),
            so_far: true,
            ..ProgramTimes::default()
        }
    }

    /// The numbers of `+RTS -s`, of a range or of all, as far as the log is read.
    #[must_use]
    pub fn summary(&self, range: Option<Interval>) -> Summary {
        let account = self.times(range);
        // Before the log is read, nothing tells when the heap was counted.
        let is_profiled = self.info.process().ways.contains(&Way::Profiling);
        let has_prof = is_profiled && !account.so_far;
        let phases = (&self.phases, has_prof);
        let summary = self.numbers.summary(self.end(), range, &account, phases);
        self.numbers
            .of_several(summary, &self.info, self.end(), range)
    }

    /// What became of the sparks in a range, as far as the log is read.
    #[must_use]
    pub fn sparks(&self, range: Option<Interval>) -> SparksReply {
        let single = self.info.has(SINGLE_SPARKS);
        let single = single.then(|| self.store.spark_runs());
        self.numbers.sparks(self.end(), range, single)
    }

    /// What the ticky counters counted in a range, as far as the log is read.
    #[must_use]
    pub fn ticky_table(&self, query: &TickyQuery) -> TickyTable {
        let end = self.end();
        let known = ticky::Known {
            end_ns: end.0,
            allocated_bytes: self.numbers.bytes_allocated(end, query.range),
            names: &self.names,
        };
        self.ticky.table(query, known)
    }

    /// The log is read to its end.
    pub fn settle(&mut self, reader: &LogReader) {
        let ((), too_large) = watch_places(|| self.settle_watched(reader));
        self.is_too_large |= too_large;
    }

    fn settle_watched(&mut self, reader: &LogReader) {
        let end = self.end();
        let condition = Condition::of(&reader.damage(), reader.inflate_error().is_none());
        self.condition = Some(condition);
        self.heap.settle();
        let watch = std::mem::take(&mut self.watch);
        let led = self.numbers.take_led();
        let facts = watch.facts(&self.info.lives, condition, led);
        let processes = self.info.processes.caps();
        self.store
            .learn(facts.of_several(processes, &self.info.lives));
        if let Some(spans) = self.spans.take() {
            let mut sink = Ending {
                store: &mut self.store,
                open: &mut self.open,
            };
            spans.finish(end, &mut sink);
        }
        self.store.end_spans(end, |open| self.open.open(open));
        self.store.settle(end);
        self.numbers.settle(self.store.account().pauses().all());
        self.tracks
            .settle(&self.numbers, &self.messages, reader.index(), end);
        self.telemetry.settle(end);
        let (info, tasks, store) = (&self.info, &self.tracks.tasks, &self.store);
        self.phases = Phases::find(info, tasks, store, &self.numbers, condition.ends);
        self.with_profiles(Profiles::settle);
        self.profile_rows = ProfileRows::of(&self.profiles);
    }

    /// Lets the profiles see what other analyses know.
    fn with_profiles(&mut self, then: impl FnOnce(&mut Profiles, &Known<'_>)) {
        let mut profiles = std::mem::take(&mut self.profiles);
        then(&mut profiles, &self.known(&self.tracks.collections.times()));
        self.profiles = profiles;
    }

    fn known<'a>(&'a self, collections: &'a [(u64, u64)]) -> Known<'a> {
        let (first, last) = self.info.first_and_last().unwrap_or_default();
        Known {
            log: Interval::new(first, last),
            store: &self.store,
            heap: self.heap.found(),
            messages: &self.messages,
            prefixes: self.tracks.prefixes(),
            telemetry: &self.telemetry,
            info_tables: self.names.info_tables(),
            stack_samples: None,
            collections,
        }
    }

    /// How long the spans of each name lasted without collections, as
    /// `ghc-events-analyze` has it: of the whole log, or of each span of the
    /// name `window`. Nothing before the log is read to its end.
    #[must_use]
    pub fn span_totals(&self, window: Option<&str>) -> Vec<WindowTotals> {
        if !self.is_settled() || self.info.first_and_last().is_none() {
            return Vec::new();
        }
        let collections = self.tracks.collections.times();
        let known = self.known(&collections);
        span_totals(&known.spans(), &collections, known.log, window)
    }

    /// What names of bands of heap profiles are made from, as far as the log is
    /// read.
    #[must_use]
    pub const fn band_names(&self) -> BandNames<'_> {
        let tables = self.names.info_tables();
        BandNames::new(tables, self.profiles.centres(), &self.table_symbols)
    }

    /// What flame graphs of a source are made from; `None` if the log has
    /// nothing of it.
    #[must_use]
    pub fn origin(&self, source: Source) -> Option<&dyn Origin> {
        sources::origin(source).origin(self.profiles.get(source), &self.store)
    }

    /// Makes what [`origin`](Self::origin) needs for a choice, if it is not there yet.
    pub async fn prepare_origin(&self, choice: &Choice, listen: &dyn Listen) {
        if choice.source == sources::WAITING {
            self.store.prepare_waits(choice, listen).await;
        }
    }

    /// Makes what is wanted first of a log that is read, if it is not there yet.
    pub async fn prepare(&self, listen: &dyn Listen) {
        self.store.prepare_wait_groups(listen).await;
    }

    /// What flame graphs can be about, in the order in which it is offered.
    #[must_use]
    pub fn flame_sources(&self) -> Vec<SourceInfo> {
        let info = |id: Source| sources::origin(id).info(id, self.profiles.get(id), &self.store);
        let mut infos: Vec<SourceInfo> = sources::all().filter_map(info).collect();
        let tracks = infos.iter_mut().flat_map(|info| &mut info.tracks);
        tracks.for_each(|track| self.label_track(track));
        infos
    }

    fn label_track(&self, track: &mut TrackInfo) {
        let thread = match track.source {
            TrackSource::Thread(thread) => Some(thread),
            TrackSource::Spans { thread, .. } => thread,
            _ => None,
        };
        let label = thread.and_then(|thread| self.store.label_of(thread));
        track.label = label.map(str::to_owned);
    }

    /// Looks for spans of the program with other words.
    pub fn set_span_prefixes(&mut self, prefixes: SpanPrefixes) {
        let end = self.is_settled().then(|| self.end());
        self.tracks.set_prefixes(prefixes, &self.messages, end);
        if end.is_some() {
            self.with_profiles(Profiles::follow_words);
        }
    }

    /// Whether the log is read to its end.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.spans.is_none()
    }
}

/// What is still open at the end of the log is drawn, and told.
struct Ending<'a> {
    store: &'a mut Store,
    open: &'a mut OpenAtEnd,
}

impl SpanSink for Ending<'_> {
    fn gc_phase(&mut self, cap: CapId, phase: Phase, span: Interval) {
        self.store.gc_phase(cap, phase, span);
    }

    fn open(&mut self, open: Open) {
        self.open.open(open);
        self.store.open(open);
    }
}
