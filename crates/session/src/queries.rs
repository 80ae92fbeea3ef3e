//! The list of all queries on an open log. A new query needs a type with an `impl Query` and an entry in this
//! list.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::flame::area::{FlameArea, FlameAreaQuery, area};
use crate::flame::export::IncompleteStacks;
use serde::{Deserialize, Serialize};

use super::check::CheckQuery;
use super::event_list::{
    CountRowsQuery, EventFieldsQuery, EventRowsQuery, FindEventAtQuery, FindEventQuery,
};
use super::query::{
    Columns, Host, Query, columns, optional_columns, queries, range_field, range_query,
};
use super::tables::TextQuery;
use super::{REPORT_BYTES, Session};
use crate::alignment::{Anchor, anchors};
use crate::census_cost;
use crate::flame::query::{
    ExportFormat, FlameBoxes, FlameHead, FlameMatches, FlameMatchesQuery, FlameOccurrence,
    FlameOccurrenceQuery, FlameQuery, FlameRow, FlameTableQuery, View, answer_with,
    find_occurrence, matches, table,
};
use crate::heap::band_info::BandInfoQuery;
use crate::heap::census_diff::CensusDiffQuery;
use crate::heap::chart::ChartQuery;
use crate::heap::growth::{BurstsQuery, CompanionsQuery, ConcurrentActivityQuery, GrowthQuery};
use crate::heap::profiles::ProfilesQuery;
use crate::heap::table::BandTableQuery;
use crate::heap::tree::TreeQuery;
use crate::tracks::bands::Bands;
use crate::tracks::details::{DetailField, DetailsQuery};
use crate::tracks::{Log, TimelineQuery};
use analysis::account::costs::GcCosts;
use analysis::account::report::ProgramTimes;
use analysis::heap::memory::HeldMemory;
use analysis::numbers::collections_query::{CollectionsQuery, CollectionsReply};
use analysis::numbers::sparks_query::SparksReply;
use analysis::numbers::summary::Summary;
use analysis::process::Process;
use analysis::ticky::{TickyQuery, TickyTable};
use analysis::timeline::flow::{Arrow, FlowQuery};
use analysis::timeline::thread_account::ThreadAccount;
use analysis::timeline::thread_lane::{ThreadListQuery, ThreadListRow};
use analysis::timeline::thread_table::{ThreadTable, ThreadTableQuery};
use analysis::timeline::wait_totals::{WaitTotals, WaitTotalsQuery};
use eventlog::ids::ThreadId;
use insight::report::{Progress, RunLimits};
use insight::{Digest, Report, RuleContext};
use model::marks::TimelineReply;
use model::profile::stack_source::CensusCounts;
use model::time::Interval;

queries! {
    TimelineQuery, FlowQuery, DetailsQuery, LabelsQuery,
    TimeQuery, ThreadTimeQuery, GcCostsQuery, SummaryQuery, CollectionsQuery, SparksQuery,
    HeldMemoryQuery, CensusCostQuery, FindingsQuery, FindingsProgressQuery, DigestQuery,
    TextQuery<CollectionsQuery>, ThreadListQuery, ThreadTableQuery, TextQuery<ThreadTableQuery>, WaitTotalsQuery,
    TickyQuery, TextQuery<TickyQuery>,
    FlameQuery, FlameTableQuery, FlameOccurrenceQuery, FlameMatchesQuery, FlameAreaQuery, FlameExportQuery,
    BandTableQuery, TextQuery<BandTableQuery>, CensusDiffQuery, TextQuery<CensusDiffQuery>, GrowthQuery, CompanionsQuery, BurstsQuery, ConcurrentActivityQuery,
    ProcessQuery, EnvironmentQuery, CheckQuery, AnchorsQuery,
    EventRowsQuery, TextQuery<EventRowsQuery>, FindEventQuery, FindEventAtQuery, EventFieldsQuery, CountRowsQuery,
    ProfilesQuery, ChartQuery, TreeQuery, TextQuery<TreeQuery>, BandInfoQuery,
}

impl Query for TimelineQuery {
    type Answer = TimelineReply;
    const NAME: &'static str = "timeline";

    async fn answer(&self, log: &Session, host: &dyn Host) -> TimelineReply {
        let shows_bands = self.rows.contains(&Bands.into());
        let heap = &self.heap;
        let chosen = shows_bands.then(|| log.heap(&heap.choice, heap.range));
        let chosen = chosen.flatten();
        let log = Log {
            heap: chosen.as_ref(),
            ..log.log()
        };
        self.marks(&log, host).await
    }

    fn columns(reply: &mut TimelineReply) -> Option<&mut dyn Columns> {
        Some(reply)
    }
}

columns!(TimelineReply {
    spans.row, spans.many, spans.class, spans.start, spans.end,
    spans.count, spans.shares, spans.payload,
    moments.row, moments.column, moments.start, moments.end, moments.count, moments.payload,
    points.row, points.series, points.start, points.end,
    points.min, points.max, points.mean, points.last,
});

/// Answers why a thread started to run, as arrows between runs.
impl Query for FlowQuery {
    type Answer = Vec<Arrow>;
    const NAME: &'static str = "flow";

    async fn answer(&self, log: &Session, _: &dyn Host) -> Vec<Arrow> {
        log.recording.store.flow(self)
    }
}

/// Answers the details of a timeline item beyond what its mark shows.
impl Query for DetailsQuery {
    type Answer = Vec<DetailField>;
    const NAME: &'static str = "details";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Vec<DetailField> {
        if let Some(thread) = self.row.thread() {
            log.recording.store.prepare_life(thread, host).await;
        }
        let chosen = (self.row == Bands.into()).then(|| log.heap_names());
        self.row.details(
            &Log {
                heap: chosen.flatten().as_ref(),
                ..log.log()
            },
            self,
        )
    }
}

/// Labels of the given threads; unlabeled threads are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelsQuery(pub Vec<ThreadId>);

impl Query for LabelsQuery {
    type Answer = Vec<(ThreadId, String)>;
    const NAME: &'static str = "labels";

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        let store = &log.recording.store;
        let label = |thread: &ThreadId| Some((*thread, store.label_of(*thread)?.to_owned()));
        self.0.iter().filter_map(label).collect()
    }
}

range_query! {
    /// Time breakdown of the program and its capabilities, in a range or in the whole log.
    TimeQuery("time") -> ProgramTimes, |log, range, _host| log.recording.times(range)
}

range_query! {
    /// Time breakdown of each thread that lived in a range or in the whole log; `None` until the log is fully read.
    ThreadTimeQuery("time of threads") -> Option<Vec<ThreadAccount>>, |log, range, host| {
        log.recording.is_finished().then_some(())?;
        Some(log.recording.store.thread_accounts(range, host).await)
    }
}

range_query! {
    /// Time that collections cost the capabilities, by generation, in a range or in the whole log; `None` until the
    /// log is fully read.
    GcCostsQuery("costs of collections") -> Option<Vec<GcCosts>>, |log, range, _host| {
        let is_finished = log.recording.is_finished();
        is_finished.then(|| log.recording.store.account().gc_costs(range))
    }
}

range_query! {
    /// The statistics of `+RTS -s`, for a range or the whole log.
    SummaryQuery("summary") -> Summary, |log, range, _host| log.recording.summary(range)
}

/// Findings about the program, in a range or in the whole log; `None` until the log is fully read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingsQuery(pub Option<Interval>);

impl Query for FindingsQuery {
    type Answer = Option<Report>;
    const NAME: &'static str = "findings";
    const IS_BACKGROUND: bool = true;

    range_field!(0);

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        log.recording.is_finished().then_some(())?;
        if let Some(known) = log.reports.get(&self.0) {
            return Some(Report::clone(&known));
        }
        let scope = RuleContext::for_rules(&log.recording, self.0).yielding(host);
        let tell = |progress: &Progress| {
            log.findings_progress().insert(self.0, progress.clone());
        };
        tell(&Progress::default());
        // Clears the progress also if the query is canceled.
        let _forget = ClearProgress(log, self.0);
        let report = Report::evaluate_with_progress(&scope, RunLimits::DEFAULT, tell).await;
        log.reports
            .insert(self.0, Arc::new(report.clone()), REPORT_BYTES);
        Some(report)
    }
}

impl Session {
    fn findings_progress(&self) -> MutexGuard<'_, BTreeMap<Option<Interval>, Progress>> {
        self.findings_progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that removes the progress of a range when dropped.
struct ClearProgress<'a>(&'a Session, Option<Interval>);

impl Drop for ClearProgress<'_> {
    fn drop(&mut self) {
        self.0.findings_progress().remove(&self.1);
    }
}

/// Waits until more than `answered` rules have finished on a range; `None` if no report is being computed for that
/// range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingsProgressQuery {
    /// Range of the report; `None` is the whole log.
    pub range: Option<Interval>,
    /// Number of finished rules that the client already has.
    pub answered: usize,
}

impl Query for FindingsProgressQuery {
    type Answer = Option<Progress>;
    const NAME: &'static str = "findings-progress";
    // It waits for the findings, which would otherwise wait for it.
    const IS_BACKGROUND: bool = true;

    range_field!(range);

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        loop {
            let now = log.findings_progress().get(&self.range).cloned()?;
            if now.answered > self.answered {
                return Some(now);
            }
            host.yield_now().await;
        }
    }
}

range_query! {
    /// Metrics by which two logs are compared, of a range or of the whole log; `None` until the log is fully read.
    DigestQuery("digest") -> Option<Digest>, |log, range, host| {
        // The cache may have them.
        let findings = FindingsQuery(range).answer(log, host).await?;
        Some(Digest::gather(&log.recording, range, Some(findings), host).await)
    }
}

impl Query for CollectionsQuery {
    type Answer = CollectionsReply;
    const NAME: &'static str = "collections";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> CollectionsReply {
        let end = log.recording.end();
        log.recording.numbers.collections(end, self)
    }
}

range_query! {
    /// Fates of the sparks (run, fizzled, …) in a range or in the whole log.
    SparksQuery("sparks") -> SparksReply, |log, range, _host| log.recording.sparks(range)
}

range_query! {
    /// Memory held from the system compared with live data, in a range or in the whole log.
    HeldMemoryQuery("memory held") -> HeldMemory, |log, range, _host| log.recording.held_memory(range)
}

/// Cost of the censuses of a heap profile, in a range or in the whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CensusCostQuery {
    /// Index of the profile in the log.
    pub profile: u32,
    /// Range to evaluate; `None` is the whole log.
    pub range: Option<Interval>,
}

/// Answers with sentences; `None` if the log has no such profile, or is not fully read.
impl Query for CensusCostQuery {
    type Answer = Option<String>;
    const NAME: &'static str = "cost of censuses";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        let profile = log.recording.heap().selected(self.profile)?;
        if !log.recording.is_finished() {
            return None;
        }
        let costs = log.recording.census_costs(profile, self.range);
        Some(census_cost::costs(&profile.kind, costs.as_ref()))
    }
}

/// Answers with the threads that pass the filter, and their number without its limit.
impl Query for ThreadListQuery {
    type Answer = (Vec<ThreadListRow>, usize);
    const NAME: &'static str = "threads";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        log.recording.store.threads(self, host).await
    }
}

/// Answers the time breakdown of threads; `None` until the log is fully read.
impl Query for ThreadTableQuery {
    type Answer = Option<ThreadTable>;
    const NAME: &'static str = "thread table";

    range_field!(range);

    async fn answer(&self, log: &Session, host: &dyn Host) -> Option<ThreadTable> {
        log.recording.store.thread_table(self, host).await
    }
}

/// Answers the wait times of a thread by cause; `None` until the log is fully read.
impl Query for WaitTotalsQuery {
    type Answer = Option<WaitTotals>;
    const NAME: &'static str = "waits of a thread";

    range_field!(range);

    async fn answer(&self, log: &Session, host: &dyn Host) -> Option<WaitTotals> {
        log.recording.store.wait_totals(self, host).await
    }
}

/// Answers the table of ticky counters.
impl Query for TickyQuery {
    type Answer = TickyTable;
    const NAME: &'static str = "ticky";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> TickyTable {
        log.recording.ticky_table(self)
    }
}

/// Answers the boxes of a flame graph; `None` if the log has no data for the source.
impl Query for FlameQuery {
    type Answer = Option<(FlameHead, FlameBoxes)>;
    const NAME: &'static str = "flame graph";

    range_field!(choice.range);

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let stack_source = if self.view == View::Time && self.choice.other.is_none() {
            let is_searched = !self.search.trim().is_empty();
            log.time_order_for(&self.choice, is_searched, host).await?
        } else {
            log.stack_source_for(&self.choice, host).await?
        };
        Some(answer_with(&log.flame_steps, &*stack_source, self))
    }

    fn columns(answer: &mut Self::Answer) -> Option<&mut dyn Columns> {
        answer.as_mut().map(|(_, boxes)| boxes as &mut dyn Columns)
    }
}

columns!(FlameBoxes {
    depth,
    left,
    width,
    frame,
    own,
    total,
    count,
    merged,
    stack,
    before,
});

/// Answers the weight of each frame in a flame graph, and the number of censuses summed in the weights.
impl Query for FlameTableQuery {
    type Answer = (Vec<FlameRow>, CensusCounts);
    const NAME: &'static str = "frames of a flame graph";

    range_field!(choice.range);

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let stack_source = log.stack_source_for(&self.choice, host).await;
        let rows = stack_source.map(|stack_source| table(&log.flame_steps, &*stack_source, self));
        rows.unwrap_or_default()
    }
}

/// Answers the next or the longest occurrence of a box's stack on the timeline, if there is one.
impl Query for FlameOccurrenceQuery {
    type Answer = Option<FlameOccurrence>;
    const NAME: &'static str = "place of a box";

    range_field!(choice.range);

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        let stack_source = log.stack_source_for(&self.choice, host).await?;
        find_occurrence(&log.flame_steps, &*stack_source, self)
    }
}

/// Answers the number of frames that match a search, and where the widest matches are.
impl Query for FlameMatchesQuery {
    type Answer = FlameMatches;
    const NAME: &'static str = "matches in a flame graph";

    range_field!(choice.range);

    async fn answer(&self, log: &Session, host: &dyn Host) -> FlameMatches {
        let stack_source = log.stack_source_for(&self.choice, host).await;
        let found =
            stack_source.map(|stack_source| matches(&log.flame_steps, &*stack_source, self));
        found.unwrap_or_default()
    }
}

/// Answers the bytes of a box by census; empty if the log has no data for the source.
impl Query for FlameAreaQuery {
    type Answer = FlameArea;
    const NAME: &'static str = "box over time";

    async fn answer(&self, log: &Session, _: &dyn Host) -> FlameArea {
        let profile = log.recording.profiles.get(self.source);
        let of = |profile| area(&log.flame_steps, profile, self);
        profile.map_or_else(FlameArea::default, of)
    }

    fn columns(area: &mut FlameArea) -> Option<&mut dyn Columns> {
        Some(area)
    }
}

columns!(FlameArea { time, total, own });

/// Export of a flame graph to the file format of another program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlameExportQuery {
    /// Content of the flame graph.
    pub query: FlameQuery,
    /// File format to write.
    pub format: ExportFormat,
}

/// Content of an exported file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBytes {
    /// Complete content of the file.
    pub bytes: Vec<u8>,
    /// Stacks that the file has only in part.
    pub left_out: IncompleteStacks,
}

columns!(FileBytes { bytes });

/// `None` if the log has no data for the source, or if memory runs out.
impl Query for FlameExportQuery {
    type Answer = Option<FileBytes>;
    const NAME: &'static str = "flame graph as a file";

    range_field!(query.choice.range);

    async fn answer(&self, log: &Session, host: &dyn Host) -> Option<FileBytes> {
        log.flame_file(&self.query, self.format, host).await
    }

    optional_columns!();
}

/// Metadata of the process that wrote the log, and all diagnostics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessQuery;

impl Query for ProcessQuery {
    type Answer = Process;
    const NAME: &'static str = "process";

    async fn answer(&self, log: &Session, _: &dyn Host) -> Process {
        log.process()
    }
}

/// Environment variables of the process, with their values, which may be secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentQuery;

impl Query for EnvironmentQuery {
    type Answer = Vec<(String, String)>;
    const NAME: &'static str = "environment";

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        log.environment()
    }
}

/// Anchors at which the log can be aligned with another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorsQuery;

impl Query for AnchorsQuery {
    type Answer = Vec<Anchor>;
    const NAME: &'static str = "places to align";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        anchors(&log.recording, host).await
    }
}
