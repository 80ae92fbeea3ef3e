//! All analyses of a log, wired together once.

use crate::flamegraph::foreign::CallOddity;
use crate::flamegraph::profiles::{Profiles, ProfilesCollector};
use crate::flamegraph::spans::ProgramSpans;
use crate::info::Info;
use crate::numbers::Numbers;
use crate::process::OpenAtEnd;
use crate::spans::{Analyses, Open, SpanAnalysis, SpanSink};
use crate::timeline::messages::Messages;
use crate::timeline::profile_rows::ProfileRows;
use crate::timeline::store::Store;
use crate::timeline::tracks::Tracks;
use crate::timeline::user_spans::SpanPrefixes;
use eventlog::blocks::BlockIndex;
use eventlog::ids::Nanos;
use eventlog::{Event, EventType, Names, Record, Sink};
use model::profile::source::Source;

/// All analyses of a log, in one pass.
///
/// It hears every event ([`Sink`]) and is settled once the log is read to its
/// end. Everything that is told of a log comes from here, for the page, the
/// command line, the tests and the fuzzers.
#[derive(Debug)]
pub struct Recording {
    /// The program, the times of capabilities, counts of events.
    pub info: Info,
    /// The numbers of `+RTS -s`.
    pub numbers: Numbers,
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
    /// Taken out at the end of the log.
    samples: Option<ProfilesCollector>,
    /// What flame graphs are made from.
    pub profiles: Profiles,
    /// The rows of the timeline that show them.
    pub profile_rows: ProfileRows,
    /// What is odd about announced foreign calls.
    pub call_oddities: Vec<CallOddity>,
    /// How many spans overlap too many others for a flame graph.
    pub spans_left_out: u64,
    /// What had no end when the log ended.
    pub open: OpenAtEnd,
}

impl Default for Recording {
    fn default() -> Self {
        let analyses = Analyses {
            lifecycle: true,
            mutator_by_cap: false,
        };
        Self {
            info: Info::default(),
            numbers: Numbers::default(),
            spans: Some(SpanAnalysis::new(analyses)),
            store: Store::default(),
            messages: Messages::default(),
            tracks: Tracks::default(),
            names: Names::default(),
            samples: Some(ProfilesCollector::default()),
            profiles: Profiles::default(),
            profile_rows: ProfileRows::default(),
            call_oddities: Vec::new(),
            spans_left_out: 0,
            open: OpenAtEnd::default(),
        }
    }
}

impl Sink for Recording {
    #[inline]
    fn event(&mut self, record: &Record<'_>) {
        self.info.offer(record);
        self.numbers.offer(record);
        self.store.offer(record);
        if let Some(spans) = &mut self.spans {
            spans.event(record, &mut self.store);
        }
        self.messages.offer(record);
        self.tracks.offer(record);
        self.names.offer(record);
        if let Some(samples) = &mut self.samples {
            samples.offer(record);
        }
        if record.id == EventType::THREAD_LABEL {
            self.label(record);
        }
    }
}

impl Recording {
    fn label(&mut self, record: &Record<'_>) {
        if let Event::ThreadLabel { thread, label } = record.event() {
            self.store.label(thread, &label.to_str());
        }
    }

    /// When the last event was, as far as the log is read.
    #[must_use]
    pub fn end(&self) -> Nanos {
        let times = self.info.first_and_last();
        times.map_or(Nanos(0), |(_, last)| last)
    }

    /// The log is read to its end.
    pub fn settle(&mut self, blocks: &BlockIndex) {
        let end = self.end();
        self.tracks
            .settle(&self.numbers, &self.messages, blocks, end);
        if let Some(spans) = self.spans.take() {
            let mut sink = Ending {
                store: &mut self.store,
                open: &mut self.open,
            };
            spans.finish(end, &mut sink);
        }
        self.store.settle(end);
        if let Some(samples) = self.samples.take() {
            (self.profiles, self.call_oddities) = samples.finish(end);
            let store = &self.store;
            let running = |cap, at, place: &mut usize| store.running(cap, at, place);
            self.profiles.learn_threads(running);
            self.profile_rows = ProfileRows::of(&self.profiles);
        }
        self.settle_spans();
    }

    /// The spans that the program announced.
    #[must_use]
    pub fn program_spans(&self) -> ProgramSpans {
        let prefixes = self.tracks.prefixes();
        let mut spans = ProgramSpans::of_messages(&self.messages, prefixes, self.end());
        spans.add(self.profiles.telemetry());
        spans
    }

    /// Makes the profile of spans once the log is read, and again when other
    /// words announce them.
    fn settle_spans(&mut self) {
        let collections = self.tracks.collections.times();
        let spans = self.program_spans();
        let (profile, left_out) = spans.profile(&collections, &self.store, self.end());
        self.profiles.set(Source::Spans, profile);
        self.spans_left_out = left_out;
    }

    /// Looks for spans of the program with other words.
    pub fn set_span_prefixes(&mut self, prefixes: SpanPrefixes) {
        let end = self.is_settled().then(|| self.end());
        self.tracks.set_prefixes(prefixes, &self.messages, end);
        if end.is_some() {
            self.settle_spans();
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
    fn open(&mut self, open: Open) {
        self.open.open(open);
        self.store.open(open);
    }
}
