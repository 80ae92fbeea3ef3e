//! Growing bands, bands correlated with them, and short bursts. [`analysis::heap::growth`] has the criteria.

use serde::{Deserialize, Serialize};

use super::census_range::{CensusInfo, CensusRange, draw_spark, spark_points};
use super::choice::{HeapChoice, HeapLog, SelectedBands};
use super::table::{BandLabel, BandNumbers, BandRow};
use analysis::heap::HeapProfile;
use analysis::heap::growth::{Burst, bursts, companions, grows};
use analysis::recording::Recording;
use analysis::timeline::thread_table::{ThreadColumn, ThreadTableQuery};
use analysis::yielder::Yield;
use eventlog::ids::{Nanos, ThreadId};
use model::census::{BandId, BandSums};
use model::sorting::CompactSort;
use model::time::Interval;

/// Maximum number of listed growing bands.
const MAX_GROWING: usize = 100;
/// Maximum number of listed companions.
const MAX_COMPANIONS: usize = 12;
/// Maximum number of listed bursts.
const MAX_BURSTS: usize = 50;
/// Maximum number of listed threads, and of user spans, in a [`ConcurrentActivity`].
const MAX_THEN: u64 = 5;

model::named_enum! {
    /// Measure of growth for the ranking.
    #[derive(Default, Hash, Serialize, Deserialize)]
    pub enum GrowthBy: from_name {
        /// Slope of the regression line, in bytes per second.
        #[default]
        Slope: "slope";
        /// Difference between the last and the first census.
        Gained: "gained";
    }
    /// Returns the word in links, which never changes.
    fn name;
}

/// Query for the bands that grow in a range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowthQuery {
    /// Selection of bands; the maximum number of individual bands is ignored.
    pub choice: HeapChoice,
    /// Range to evaluate; `None` is the whole log.
    pub range: Option<Interval>,
    /// Measure for the ranking.
    pub by: GrowthBy,
}

/// List of bands with sparklines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GrowingBands {
    /// Censuses that the list covers.
    pub census_range: CensusRange,
    /// Bands in rank order.
    pub rows: Vec<BandRow>,
    /// Number of all bands that qualify, including those that are not listed.
    pub total: u64,
    /// Number of points in each sparkline.
    pub points: u32,
    /// Concatenated sparklines of the rows: heights from 0 to 255.
    pub sparks: Vec<u8>,
}

impl GrowingBands {
    /// Returns the sparkline of a row.
    pub fn spark(&self, row: usize) -> &[u8] {
        let points = self.points as usize;
        let part = self.sparks.get(row * points..(row + 1) * points);
        part.unwrap_or_default()
    }
}

/// Selected profile, with its bands in the range.
struct BandSelection<'a> {
    profile: &'a HeapProfile,
    chosen: SelectedBands,
    census_range: CensusRange,
}

impl<'a> BandSelection<'a> {
    fn new(log: HeapLog<'a>, choice: &HeapChoice, range: Option<Interval>) -> Option<Self> {
        let chosen = log.select_bands(choice, range)?;
        let profile = log.profile(choice)?;
        let census_range = CensusRange::new(profile, chosen.ranking.censuses(), range);
        Some(Self {
            profile,
            chosen,
            census_range,
        })
    }

    /// Returns the bands that pass the selection, with their sums.
    fn matching(&self) -> Vec<(BandId, BandSums)> {
        let bands = self.chosen.shown.iter().chain(&self.chosen.others);
        let sums = bands.map(|&band| (band, self.chosen.ranking.sums(band)));
        sums.collect()
    }

    fn band_label(&self, band: BandId) -> BandLabel {
        BandLabel::new(&self.chosen.bands, band)
    }

    /// Returns an explanation of a band, with advice if it grows.
    fn explanation(&self, log: HeapLog<'_>, band: BandId) -> Option<String> {
        if !self.chosen.bands.are_single() {
            return None;
        }
        let label = self.profile.label(band)?;
        let names = log.recording.band_names();
        let said = names.explain(self.profile.kind.breakdown, &label)?;
        Some(format!("{} {}", said.what, said.advice).trim().to_owned())
    }

    fn growing(&self, by: GrowthBy) -> GrowingBands {
        let gained = |sums: &BandSums| sums.last as f64 - sums.first as f64;
        let rise = |sums: &BandSums| match by {
            // Censuses without times have no slope in bytes per second.
            GrowthBy::Slope if self.census_range.timed && grows(sums) => {
                sums.growth().map_or(0.0, |line| line.bytes_per_second)
            }
            GrowthBy::Slope if self.census_range.timed => 0.0,
            _ => gained(sums),
        };
        let ranked = self.matching().into_iter();
        let ranked = ranked.map(|(band, sums)| (rise(&sums), band, sums));
        let mut ranked: Vec<_> = ranked.filter(|(rise, ..)| *rise > 0.0).collect();
        ranked.sort_small_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let total = ranked.len() as u64;
        ranked.truncate(MAX_GROWING);
        self.listed(
            ranked.into_iter().map(|(_, band, sums)| (band, sums)),
            total,
        )
    }

    fn listed(&self, bands: impl Iterator<Item = (BandId, BandSums)>, total: u64) -> GrowingBands {
        let (ranking, censuses) = (
            &self.chosen.ranking,
            self.chosen.bands.censuses(self.profile),
        );
        let mut sparks = Vec::new();
        let rows = bands.map(|(band, sums)| {
            let peak = draw_spark(censuses, band, ranking.censuses(), &mut sparks);
            BandRow {
                band_label: self.band_label(band),
                numbers: BandNumbers::from_sums(&sums, ranking.bytes(), self.census_range.timed),
                peak: peak.and_then(|census| self.profile.time(census)),
                described: None,
            }
        });
        GrowingBands {
            census_range: self.census_range,
            rows: rows.collect(),
            total,
            points: spark_points(ranking.censuses()),
            sparks,
        }
    }
}

impl GrowthQuery {
    /// Returns the bands that grow the most; `None` if the log has no such profile.
    pub fn growing(&self, log: HeapLog<'_>) -> Option<GrowingBands> {
        Some(BandSelection::new(log, &self.choice, self.range)?.growing(self.by))
    }
}

/// Query for the bands that rise and fall with a given one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanionsQuery {
    /// Profile and grouping; any band can be a companion, whether or not it passes the filter.
    pub choice: HeapChoice,
    /// Range to evaluate; `None` is the whole log.
    pub range: Option<Interval>,
    /// Key of the band to compare with.
    pub suspect: String,
}

/// Companions of a band, most similar first. The first row is the band itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Companions {
    /// The suspect and its companions.
    pub bands: GrowingBands,
    /// Pearson correlation of each band with the suspect, from −1 to 1.
    pub correlation: Vec<f64>,
    /// Explanation of the suspect, with advice if it grows; `None` if unknown.
    pub explanation: Option<String>,
}

impl CompanionsQuery {
    /// Returns the companions of a band; `None` if the log has no such profile, or no such band in the range.
    pub fn companions(&self, log: HeapLog<'_>) -> Option<Companions> {
        let found = BandSelection::new(log, &self.choice, self.range)?;
        let (bands, ranking) = (&found.chosen.bands, &found.chosen.ranking);
        let all = ranking.bands();
        let has_key = |(band, _): &&(BandId, BandSums)| bands.key(*band) == self.suspect;
        let suspect = all.iter().find(has_key)?.0;
        let censuses = bands.censuses(found.profile);
        let like = companions(censuses, ranking.censuses(), all, suspect);
        let total = like.len() as u64;
        let listed = like.into_iter().take(MAX_COMPANIONS);
        let (mut list, mut correlation) = (vec![suspect], vec![1.0]);
        for companion in listed {
            list.push(companion.band);
            correlation.push(companion.correlation);
        }
        let sums = list.into_iter().map(|band| (band, ranking.sums(band)));
        Some(Companions {
            bands: found.listed(sums, total),
            correlation,
            explanation: found.explanation(log, suspect),
        })
    }
}

/// Query for the bursts in a range; see [`analysis::heap::growth`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BurstsQuery {
    /// Selection of bands; the maximum number of individual bands is ignored.
    pub choice: HeapChoice,
    /// Range to evaluate; `None` is the whole log.
    pub range: Option<Interval>,
}

/// One burst of a band.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BurstRow {
    /// Names of the band.
    pub band_label: BandLabel,
    /// Number of censuses in the burst.
    pub censuses: u32,
    /// Census with the most bytes.
    pub peak: CensusInfo,
    /// Bytes of the band at the peak.
    pub bytes: u64,
    /// Median of the band's bytes.
    pub usual_bytes: u64,
    /// From the census before the burst to its last census: the bytes appeared in that time. `None` if the
    /// censuses have no times.
    pub span: Option<Interval>,
}

/// Bursts with the highest rise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    /// Censuses that the answer covers.
    pub census_range: CensusRange,
    /// Bursts, highest rise first.
    pub rows: Vec<BurstRow>,
    /// Number of all bursts, including those that are not listed.
    pub total: u64,
}

impl BurstsQuery {
    /// Returns the bursts; `None` if the log has no such profile.
    pub fn bursts(&self, log: HeapLog<'_>) -> Option<Bursts> {
        let found = BandSelection::new(log, &self.choice, self.range)?;
        let censuses = found.chosen.bands.censuses(found.profile);
        let places = found.chosen.ranking.censuses();
        let all = bursts(censuses, places, &found.matching());
        let total = all.len() as u64;
        let row = |burst: Burst| BurstRow {
            band_label: found.band_label(burst.band),
            censuses: burst.censuses.len() as u32,
            peak: CensusInfo::new(found.profile, burst.peak),
            bytes: burst.bytes,
            usual_bytes: burst.usual_bytes,
            span: span(found.profile, &burst),
        };
        Some(Bursts {
            census_range: found.census_range,
            rows: all.into_iter().take(MAX_BURSTS).map(row).collect(),
            total,
        })
    }
}

fn span(profile: &HeapProfile, burst: &Burst) -> Option<Interval> {
    let start = profile.time(burst.censuses.start.saturating_sub(1))?;
    let end = profile.time(burst.censuses.end - 1)?;
    // Ranges are half-open, so one nanosecond includes the last census.
    Some(Interval::new(start, Nanos(end.0.saturating_add(1))))
}

/// Query for the threads and user spans that ran in a time range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConcurrentActivityQuery(pub Interval);

/// Thread that ran in the range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConcurrentThread {
    /// Number of the thread.
    pub id: ThreadId,
    /// Label of the thread, if it has one.
    pub label: Option<String>,
    /// Run time in the range.
    pub running_ns: u64,
}

/// User span that overlaps the range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConcurrentSpan {
    /// Index of the span name in the list of span names.
    pub name_place: u32,
    /// Name of the span.
    pub name: String,
    /// Start and end, not clipped to the range.
    pub span: Interval,
}

/// Threads and user spans with the largest shares of a time range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConcurrentActivity {
    /// Whether the data is available: only once the log is fully read.
    pub known: bool,
    /// Threads with the longest run times in the range.
    pub threads: Vec<ConcurrentThread>,
    /// Sum of the run times of all threads, which may exceed the length of the range.
    pub running_ns: u64,
    /// User spans with the largest overlap; among equals, the shortest first, because it is more specific.
    pub spans: Vec<ConcurrentSpan>,
    /// Number of all overlapping spans.
    pub span_count: u64,
}

impl ConcurrentActivityQuery {
    /// Returns the threads and user spans that ran in the range.
    pub async fn concurrent_activity(
        &self,
        recording: &Recording,
        yielder: &dyn Yield,
    ) -> ConcurrentActivity {
        let query = ThreadTableQuery {
            range: Some(self.0),
            sort: ThreadColumn::Running,
            descending: true,
            rows: 0..MAX_THEN,
            ..ThreadTableQuery::default()
        };
        let Some(table) = recording.store.thread_table(&query, yielder).await else {
            return ConcurrentActivity::default();
        };
        let threads = table.rows.into_iter().map(|row| ConcurrentThread {
            id: row.id,
            label: row.label,
            running_ns: row.sums.times.running_ns + row.sums.times.open_ns,
        });
        let (spans, span_count) = spans_in(recording, self.0);
        let all = &table.all.times;
        ConcurrentActivity {
            known: true,
            threads: threads.filter(|thread| thread.running_ns > 0).collect(),
            running_ns: all.running_ns.saturating_add(all.open_ns),
            spans,
            span_count,
        }
    }
}

fn spans_in(recording: &Recording, range: Interval) -> (Vec<ConcurrentSpan>, u64) {
    let mut spans: Vec<ConcurrentSpan> = Vec::new();
    let mut count = 0;
    for (name_place, listed) in (0..).zip(recording.tracks.spans.listed()) {
        let all = &listed.spans;
        let first = all.partition_point(|span| span.end <= range.start().0);
        let here = all.iter().skip(first);
        let here = here.take_while(|span| span.start < range.end().0);
        let here = here.map(|span| ConcurrentSpan {
            name_place,
            name: listed.info.name.clone(),
            span: Interval::new(Nanos(span.start), Nanos(span.end)),
        });
        // Truncating each name's spans first bounds the memory.
        let mut here: Vec<ConcurrentSpan> = here.collect();
        count += here.len() as u64;
        keep_most(&mut here, range);
        spans.append(&mut here);
    }
    keep_most(&mut spans, range);
    (spans, count)
}

fn keep_most(spans: &mut Vec<ConcurrentSpan>, range: Interval) {
    spans.sort_small_by_key(|then| {
        let overlap = then.span.clip(range).duration();
        (
            std::cmp::Reverse(overlap),
            then.span.duration(),
            then.span.start(),
        )
    });
    spans.truncate(MAX_THEN as usize);
}
