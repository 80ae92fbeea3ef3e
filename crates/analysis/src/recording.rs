//! Combination of all analyses of a log.

use crate::account::facts::{CensusCollector, LogCompleteness};
use crate::account::report::{CapTimes, ProgramTimes};
use crate::automata::gc_phase::Phase;
use crate::flamegraph::profiles::Profiles;
use crate::flamegraph::source_info::{SourceInfo, TrackInfo};
use crate::flamegraph::sources::{self, AnalysisResults};
use crate::flamegraph::spans::SpanProcesses;
use crate::flamegraph::spans::opentelemetry::TelemetrySpans;
use crate::flamegraph::spans::totals::{WindowTotals, span_totals};
use crate::heap::HeapProfiles;
use crate::heap::collect::{HeapCollector, SampleCursor};
use crate::heap::names::{BandNames, TableSymbols};
use crate::info::Info;
use crate::numbers::Numbers;
use crate::numbers::phases::Phases;
use crate::numbers::sparks_query::{SINGLE_SPARKS, SparksReply};
use crate::numbers::summary::Summary;
use crate::process::{OpenSpanDiagnostics, Way};
use crate::segment::Segment;
use crate::spans::{Analyses, OpenSpan, SpanAnalysis, SpanSink};
use crate::ticky::{self, Ticky, TickyQuery, TickyTable};
use crate::timeline::messages::Messages;
use crate::timeline::profile_rows::ProfileRows;
use crate::timeline::slice::BoundaryState;
use crate::timeline::store::Store;
use crate::timeline::tracks::Tracks;
use crate::timeline::user_spans::SpanPrefixes;
use crate::yielder::Yield;
use eventlog::ids::{CapId, Nanos};
use eventlog::{EventSet, EventType, LogReader, Names, Record, Sink, SliceResult};
use model::class::Class;
use model::lane::Lane;
use model::profile::TrackSource;
use model::profile::source::Source;
use model::profile::stack_source::{FlameSelection, StackSource};
use model::saturating::watch_saturation;
use model::spill_store::SpillStore;
use model::time::Interval;

/// Collection events that the span automata process.
const COLLECTING: EventSet = EventSet::from_types(&[
    EventType::GC_START,
    EventType::GC_END,
    EventType::GC_IDLE,
    EventType::GC_WORK,
    EventType::GC_DONE,
]);

/// An analysis that processes raw events.
#[derive(Clone, Copy, Debug)]
enum Consumer {
    Info,
    Numbers,
    CensusCollector,
    Spans,
    Tracks,
    Names,
    Ticky,
    Telemetry,
    Profiles,
    Heap,
}

impl Consumer {
    /// Order in which the analyses process an event.
    const IN_ORDER: [Self; 10] = [
        Self::Info,
        Self::Numbers,
        Self::CensusCollector,
        Self::Spans,
        Self::Tracks,
        Self::Names,
        Self::Ticky,
        Self::Telemetry,
        Self::Profiles,
        Self::Heap,
    ];

    /// Returns the event types that the analysis processes as raw events.
    fn consumes(self, profiles: &Profiles) -> EventSet {
        match self {
            Self::Info => Info::PROCESS_EVENTS,
            Self::Numbers => Numbers::CONSUMES,
            Self::CensusCollector => CensusCollector::CONSUMES,
            Self::Spans => COLLECTING,
            Self::Tracks => Tracks::CONSUMES,
            // Thread labels arrive as columns instead.
            Self::Names => {
                Names::CONSUMES.difference(EventSet::from_types(&[EventType::THREAD_LABEL]))
            }
            Self::Ticky => Ticky::CONSUMES,
            Self::Telemetry => TelemetrySpans::CONSUMES,
            Self::Profiles => profiles.consumes(),
            Self::Heap => HeapCollector::CONSUMES,
        }
    }

    /// Returns, for each event type below 256, a bit set of the analyses that process it. Events of other types
    /// are never kept raw.
    fn by_type(profiles: &Profiles) -> Box<[u16; 256]> {
        let mut types = Box::new([0; 256]);
        for (place, consumer) in Self::IN_ORDER.into_iter().enumerate() {
            let consumes = consumer.consumes(profiles);
            for (id, consumers) in (0..).map(EventType).zip(&mut *types) {
                *consumers |= u16::from(consumes.contains(id)) << place;
            }
        }
        types
    }
}

/// All analyses of a log.
///
/// Slices are [appended](Self::append) one by one; after the last one the recording is settled. Page, command
/// line, tests and fuzzers take all results from here.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Program, capability lifetimes, and event counts.
    pub info: Info,
    /// Figures of `+RTS -s`.
    pub numbers: Numbers,
    /// Startup and shutdown phases of the runtime; known once the log has been read to its end.
    phases: Phases,
    /// Facts about the whole log that the time attribution needs.
    census_collector: CensusCollector,
    /// `None` once the log has been read to its end.
    spans: Option<SpanAnalysis>,
    /// Runs and collections of capabilities, and threads.
    pub store: Store,
    /// Messages and markers of the program.
    pub messages: Messages,
    /// Timeline rows other than capabilities, threads and messages.
    pub tracks: Tracks,
    /// Names of threads, cost centres and counters.
    pub names: Names,
    /// Ticky-ticky counters, with their samples.
    pub ticky: Ticky,
    /// Spans in the format of the `opentelemetry` package.
    pub telemetry: TelemetrySpans,
    /// Info table names from the symbols of the executable; empty until an executable is loaded.
    pub table_symbols: TableSymbols,
    /// Profiles, the input of flame graphs.
    pub profiles: Profiles,
    /// Timeline rows of the profiles.
    pub profile_rows: ProfileRows,
    heap: HeapCollector,
    /// Bit set of the analyses that process events of each type below 256.
    consumers: Box<[u16; 256]>,
    /// Spans that were still open when the log ended.
    pub open: OpenSpanDiagnostics,
    /// Whether an index or count exceeded 32 bits.
    is_too_large: bool,
    /// Completeness of the log; `None` until it has been read to its end.
    pub completeness: Option<LogCompleteness>,
    /// Whether the program may still be writing the log; a missing end is then no damage.
    pub is_followed: bool,
}

impl Default for Recording {
    fn default() -> Self {
        Self::with_spill_store(SpillStore::default())
    }
}

impl Recording {
    /// Creates an empty recording whose columns are kept in `spill_store`.
    pub fn with_spill_store(spill_store: SpillStore) -> Self {
        let analyses = Analyses {
            lifecycle: true,
            mutator_by_cap: false,
        };
        let profiles = Profiles::default();
        Self {
            info: Info::default(),
            numbers: Numbers::default(),
            phases: Phases::default(),
            census_collector: CensusCollector::default(),
            spans: Some(SpanAnalysis::new(analyses)),
            store: Store::with_spill_store(spill_store),
            messages: Messages::default(),
            tracks: Tracks::default(),
            names: Names::default(),
            ticky: Ticky::default(),
            telemetry: TelemetrySpans::default(),
            table_symbols: TableSymbols::default(),
            consumers: Consumer::by_type(&profiles),
            profiles,
            profile_rows: ProfileRows::default(),
            heap: HeapCollector::default(),
            open: OpenSpanDiagnostics::default(),
            is_too_large: false,
            completeness: None,
            is_followed: false,
        }
    }
}

impl Recording {
    /// Returns the event types that are kept raw and processed in order; others become columns or are only
    /// counted.
    pub(crate) fn keeps() -> EventSet {
        let profiles = Profiles::default();
        let sets = Consumer::IN_ORDER.map(|consumer| consumer.consumes(&profiles));
        sets.into_iter().fold(EventSet::NONE, EventSet::union)
    }

    /// Appends the next slice.
    ///
    /// # Errors
    /// Returns the true thread states before the slice if the slice was analyzed with wrong assumptions about
    /// them. It must then be analyzed again from these states.
    pub fn append(&mut self, segment: Segment) -> Result<SliceResult, Box<BoundaryState>> {
        let (part, too_large) = watch_saturation(|| self.append_inner(segment));
        self.is_too_large |= too_large;
        part
    }

    fn append_inner(&mut self, mut segment: Segment) -> Result<SliceResult, Box<BoundaryState>> {
        let threads = std::mem::take(&mut segment.threads);
        self.store.append(threads)?;
        self.info.append(&segment.info, segment.part.header());
        self.numbers.begin = self.info.begin();
        segment.labels.apply(&mut self.store, &mut self.names);
        self.store.pack_idle();
        self.messages.append(&segment.messages);
        self.profiles.samples(&segment.cost_centre_samples);
        let mut values = SampleCursor::new(&segment.heap);
        segment.deferred(|place, record| {
            self.heap.add_values(&mut values, place);
            self.event(record);
        });
        self.heap.add_values(&mut values, u32::MAX);
        self.is_too_large |= segment.is_too_large;
        Ok(segment.part)
    }

    /// Returns whether an index or count exceeded 32 bits.
    pub(crate) const fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Processes an event of a type that it [`keeps`](Self::keeps).
    fn event(&mut self, record: &Record<'_>) {
        let consumers = self.consumers.get(usize::from(record.id.0));
        let mut consumers = consumers.copied().unwrap_or_default();
        while let Some(consumer) = Consumer::IN_ORDER.get(consumers.trailing_zeros() as usize) {
            consumers &= consumers - 1;
            match consumer {
                Consumer::Info => self.info.describe(record),
                Consumer::Numbers => self.numbers.event(record),
                Consumer::CensusCollector => self.census_collector.event(record),
                Consumer::Spans => {
                    if let Some(spans) = &mut self.spans {
                        spans.event(record, &mut self.store);
                    }
                }
                Consumer::Tracks => self.tracks.event(record),
                Consumer::Names => self.names.event(record),
                Consumer::Ticky => self.ticky.event(record),
                Consumer::Telemetry => self.telemetry.event(record),
                Consumer::Profiles => self.profiles.event(record),
                Consumer::Heap => self.heap.event(record),
            }
        }
    }

    /// Returns the heap profiles of the part of the log read so far.
    pub const fn heap(&self) -> &HeapProfiles {
        self.heap.found()
    }

    /// Returns the time of the last event read so far.
    pub fn end(&self) -> Nanos {
        let times = self.info.first_and_last();
        times.map_or(Nanos(0), |(_, last)| last)
    }

    /// Returns the default range of all figures: from the [begin](Info::begin) of the log to the last event, within
    /// the range that the log was cut to.
    pub fn whole_range(&self) -> Interval {
        let all = Interval::new(self.info.begin(), self.end());
        self.info.cut_range.map_or(all, |cut| cut.clip(all))
    }

    /// Clips `range` to the range that the log was cut to. Without a cut, `range` is returned unchanged; with a
    /// cut, `None` becomes the cut range.
    pub fn clip_to_cut(&self, range: Option<Interval>) -> Option<Interval> {
        let Some(cut) = self.info.cut_range else {
            return range;
        };
        Some(range.map_or(cut, |range| range.clip(cut)))
    }

    /// Returns how capabilities and the program spent the time of a range.
    ///
    /// While the log is still being read, only the run times are known; everything else counts as unknown.
    pub fn times(&self, range: Option<Interval>) -> ProgramTimes {
        if self.store.is_finished() {
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

    /// Returns the figures of `+RTS -s` for a range, or for the part of the log read so far.
    pub fn summary(&self, range: Option<Interval>) -> Summary {
        let account = self.times(range);
        // Heap censuses are known only once the log has been read to its end.
        let is_profiled = self.info.process().ways.contains(&Way::Profiling);
        let has_prof = is_profiled && !account.so_far;
        let phases = (&self.phases, has_prof);
        let summary = self.numbers.summary(self.end(), range, &account, phases);
        self.numbers
            .summary_with_processes(summary, &self.info, self.end(), range)
    }

    /// Returns the fates of the sparks in a range, as far as the log has been read.
    pub fn sparks(&self, range: Option<Interval>) -> SparksReply {
        let single = self.info.has(SINGLE_SPARKS);
        let single = single.then(|| self.store.spark_runs());
        self.numbers.sparks(self.end(), range, single)
    }

    /// Returns the ticky-ticky counts of a range, as far as the log has been read.
    pub fn ticky_table(&self, query: &TickyQuery) -> TickyTable {
        let end = self.end();
        let known = ticky::TableContext {
            end_ns: end.0,
            allocated_bytes: self.numbers.bytes_allocated(end, query.range),
            names: &self.names,
        };
        self.ticky.table(query, known)
    }

    /// Completes all analyses once the log has been read to its end.
    pub fn finish(&mut self, reader: &LogReader) {
        let ((), too_large) = watch_saturation(|| self.finish_inner(reader));
        self.is_too_large |= too_large;
    }

    fn finish_inner(&mut self, reader: &LogReader) {
        let end = self.end();
        let completeness =
            LogCompleteness::from_damage(&reader.damage(), reader.inflate_error().is_none());
        self.completeness = Some(completeness);
        self.heap.finish();
        let census_collector = std::mem::take(&mut self.census_collector);
        let led = self.numbers.take_led_collections();
        let facts = census_collector.facts(&self.info.lives, completeness, led);
        let processes = self.info.processes.caps();
        self.store
            .set_facts(facts.with_processes(processes, &self.info.lives));
        if let Some(spans) = self.spans.take() {
            let mut sink = OpenSpanSink {
                store: &mut self.store,
                open: &mut self.open,
            };
            spans.finish(end, &mut sink);
        }
        self.store.end_spans(end, |open| self.open.add(open));
        self.store.finish(end);
        let processes = self.store.account().processes();
        self.numbers
            .finish(processes.flat_map(|(_, pauses)| pauses.all()));
        self.tracks.finish(&self.numbers, reader.index(), end);
        let span_processes = self.span_processes();
        self.tracks
            .find_spans(&self.messages, |cap| span_processes.end(cap));
        self.telemetry.finish(&span_processes);
        let (info, tasks, store) = (&self.info, &self.tracks.tasks, &self.store);
        self.phases = Phases::find(info, tasks, store, &self.numbers, completeness.ends);
        self.with_profiles(Profiles::finish);
        self.profile_rows = ProfileRows::new(&self.profiles);
    }

    /// Calls `then` with the profiles and the results of the other analyses.
    fn with_profiles(&mut self, then: impl FnOnce(&mut Profiles, &AnalysisResults<'_>)) {
        let mut profiles = std::mem::take(&mut self.profiles);
        then(
            &mut profiles,
            &self.analysis_results(&self.span_processes()),
        );
        self.profiles = profiles;
    }

    /// Returns the processes that announce spans, once the log has been read to its end.
    fn span_processes(&self) -> SpanProcesses {
        let collections = self.tracks.collections.times();
        SpanProcesses::find(self.store.account(), collections, self.end())
    }

    fn analysis_results<'a>(&'a self, processes: &'a SpanProcesses) -> AnalysisResults<'a> {
        let (first, last) = self.info.first_and_last().unwrap_or_default();
        AnalysisResults {
            log: Interval::new(first, last),
            store: &self.store,
            heap: self.heap.found(),
            messages: &self.messages,
            prefixes: self.tracks.prefixes(),
            telemetry: &self.telemetry,
            info_tables: self.names.info_tables(),
            stack_samples: None,
            processes,
        }
    }

    /// Returns the total duration per span name without collections, as defined by `ghc-events-analyze`: in the
    /// whole log, or in each span named `window`. Empty until the log has been read to its end.
    pub fn span_totals(&self, window: Option<&str>) -> Vec<WindowTotals> {
        if !self.is_finished() || self.info.first_and_last().is_none() {
            return Vec::new();
        }
        let processes = self.span_processes();
        let results = self.analysis_results(&processes);
        span_totals(&results.spans(), &processes, results.log, window)
    }

    /// Returns the sources of heap profile band names, as far as the log has been read.
    pub const fn band_names(&self) -> BandNames<'_> {
        let tables = self.names.info_tables();
        BandNames::new(tables, self.profiles.centres(), &self.table_symbols)
    }

    /// Returns the flame graph data of a source; `None` if the log has none.
    pub fn stack_source(&self, source: Source) -> Option<&dyn StackSource> {
        sources::origin(source).origin(self.profiles.get(source), &self.store)
    }

    /// Computes the data that [`stack_source`](Self::stack_source) needs for a choice, unless it is cached.
    pub async fn prepare_origin(&self, choice: &FlameSelection, yielder: &dyn Yield) {
        if choice.source == sources::WAITING {
            self.store.prepare_waits(choice, yielder).await;
        }
    }

    /// Computes the data that a view of a choice in time order needs, unless it is cached.
    pub async fn prepare_time_order(&self, choice: &FlameSelection, yielder: &dyn Yield) {
        if choice.source == sources::WAITING {
            self.store.prepare_waits_in_time(choice, yielder).await;
        }
    }

    /// Computes the data that views need first after loading, unless it is cached.
    pub async fn prepare(&self, yielder: &dyn Yield) {
        self.store.prepare_wait_groups(yielder).await;
    }

    /// Returns the available flame graph sources in display order.
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

    /// Changes the prefixes of span messages, and searches the messages again if the log has been read to its end.
    pub fn set_span_prefixes(&mut self, prefixes: SpanPrefixes) {
        self.tracks.set_prefixes(prefixes);
        if self.is_finished() {
            let processes = self.span_processes();
            self.tracks
                .find_spans(&self.messages, |cap| processes.end(cap));
            self.with_profiles(Profiles::rebuild_for_prefixes);
        }
    }

    /// Returns whether the log has been read to its end.
    pub const fn is_finished(&self) -> bool {
        self.spans.is_none()
    }
}

/// Sink for the spans still open at the end of the log: they are drawn and reported.
struct OpenSpanSink<'a> {
    store: &'a mut Store,
    open: &'a mut OpenSpanDiagnostics,
}

impl SpanSink for OpenSpanSink<'_> {
    fn gc_phase(&mut self, cap: CapId, phase: Phase, span: Interval) {
        self.store.gc_phase(cap, phase, span);
    }

    fn open(&mut self, open: OpenSpan) {
        self.open.add(open);
        self.store.open(open);
    }
}
