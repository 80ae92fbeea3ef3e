//! What grows, what rises and falls with it, and what was there only for a
//! short while. The rules stand in [`analysis::heap::growth`].

use serde::{Deserialize, Serialize};

use super::choice::{Chosen, HeapChoice, HeapLog};
use super::counted::{Counted, Moment, draw_spark, spark_points};
use super::table::{BandNumbers, BandRow, Called};
use analysis::heap::HeapProfile;
use analysis::heap::growth::{Burst, bursts, companions, grows};
use analysis::listen::Listen;
use analysis::recording::Recording;
use analysis::timeline::thread_table::{ThreadColumn, ThreadTableQuery};
use eventlog::ids::{Nanos, ThreadId};
use model::census::{BandId, BandSums};
use model::sorting::SortSmall;
use model::time::Interval;

/// How many bands that grow are listed.
const MOST_GROWING: usize = 100;
/// How many companions are listed.
const MOST_COMPANIONS: usize = 12;
/// How many bursts are listed.
const MOST_BURSTS: usize = 50;
/// How many threads and spans are listed that ran then.
const MOST_THEN: u64 = 5;

/// By what growth is ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GrowthBy {
    /// Bytes per second of the line through its bytes.
    #[default]
    Slope,
    /// What it gained from the first to the last census.
    Gained,
}

impl GrowthBy {
    /// Its word in links, which never changes.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Slope => "slope",
            Self::Gained => "gained",
        }
    }

    /// The one of that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let all = [Self::Slope, Self::Gained];
        all.into_iter().find(|by| by.word() == word)
    }
}

/// The bands that grow in a range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowthQuery {
    /// Which bands: how many of them are drawn by themselves does not count.
    pub choice: HeapChoice,
    /// The time that counts; all of the log without.
    pub range: Option<Interval>,
    /// In which order.
    pub by: GrowthBy,
}

/// Bands with small pictures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Growing {
    /// Which censuses count.
    pub counted: Counted,
    /// The bands that grow the most.
    pub rows: Vec<BandRow>,
    /// How many bands grow.
    pub total: u64,
    /// How many points each of the small pictures has.
    pub points: u32,
    /// The small pictures, one after the other: heights, 255 at most.
    pub sparks: Vec<u8>,
}

impl Growing {
    /// The small picture of a row.
    #[must_use]
    pub fn spark(&self, row: usize) -> &[u8] {
        let points = self.points as usize;
        let part = self.sparks.get(row * points..(row + 1) * points);
        part.unwrap_or_default()
    }
}

/// What there is of a choice: the profile, and its bands in the range.
struct Found<'a> {
    profile: &'a HeapProfile,
    chosen: Chosen,
    counted: Counted,
}

impl<'a> Found<'a> {
    fn of(log: HeapLog<'a>, choice: &HeapChoice, range: Option<Interval>) -> Option<Self> {
        let chosen = log.chosen(choice, range)?;
        let profile = log.profile(choice)?;
        let counted = Counted::of(profile, chosen.ranking.censuses(), range);
        Some(Self {
            profile,
            chosen,
            counted,
        })
    }

    /// The bands that the choice lets through, with their sums.
    fn matching(&self) -> Vec<(BandId, BandSums)> {
        let bands = self.chosen.shown.iter().chain(&self.chosen.others);
        let sums = bands.map(|&band| (band, self.chosen.ranking.sums(band)));
        sums.collect()
    }

    fn called(&self, band: BandId) -> Called {
        Called::of(&self.chosen.bands, band)
    }

    /// What a band is, and what to do if it grows.
    fn explanation(&self, log: HeapLog<'_>, band: BandId) -> Option<String> {
        if !self.chosen.bands.are_single() {
            return None;
        }
        let label = self.profile.label(band)?;
        let names = log.recording.band_names();
        let said = names.explain(self.profile.kind.breakdown, &label)?;
        Some(format!("{} {}", said.what, said.advice).trim().to_owned())
    }

    fn growing(&self, by: GrowthBy) -> Growing {
        let gained = |sums: &BandSums| sums.last as f64 - sums.first as f64;
        let rise = |sums: &BandSums| match by {
            // Censuses without a time have no slope in bytes per second.
            GrowthBy::Slope if self.counted.timed && grows(sums) => {
                sums.growth().map_or(0.0, |line| line.bytes_per_second)
            }
            GrowthBy::Slope if self.counted.timed => 0.0,
            _ => gained(sums),
        };
        let ranked = self.matching().into_iter();
        let ranked = ranked.map(|(band, sums)| (rise(&sums), band, sums));
        let mut ranked: Vec<_> = ranked.filter(|(rise, ..)| *rise > 0.0).collect();
        ranked.sort_small_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let total = ranked.len() as u64;
        ranked.truncate(MOST_GROWING);
        self.listed(
            ranked.into_iter().map(|(_, band, sums)| (band, sums)),
            total,
        )
    }

    fn listed(&self, bands: impl Iterator<Item = (BandId, BandSums)>, total: u64) -> Growing {
        let (ranking, censuses) = (
            &self.chosen.ranking,
            self.chosen.bands.censuses(self.profile),
        );
        let mut sparks = Vec::new();
        let rows = bands.map(|(band, sums)| {
            let peak = draw_spark(censuses, band, ranking.censuses(), &mut sparks);
            BandRow {
                called: self.called(band),
                numbers: BandNumbers::of(&sums, ranking.bytes(), self.counted.timed),
                peak: peak.and_then(|census| self.profile.time(census)),
                described: None,
            }
        });
        Growing {
            counted: self.counted,
            rows: rows.collect(),
            total,
            points: spark_points(ranking.censuses()),
            sparks,
        }
    }
}

impl GrowthQuery {
    /// The bands that grow the most; `None` if the log has no such profile.
    #[must_use]
    pub fn growing(&self, log: HeapLog<'_>) -> Option<Growing> {
        Some(Found::of(log, &self.choice, self.range)?.growing(self.by))
    }
}

/// The bands that rise and fall with one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanionsQuery {
    /// Which profile, and what is put together; any band may be a companion.
    pub choice: HeapChoice,
    /// The time that counts; all of the log without.
    pub range: Option<Interval>,
    /// The key of the band.
    pub suspect: String,
}

/// The companions of a band: those most alike first. The first row is the band
/// itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Companions {
    /// The bands.
    pub bands: Growing,
    /// How much each is like the suspect, −1 to 1.
    pub correlation: Vec<f64>,
    /// What the suspect is, and what to do if it grows, as far as that is known.
    pub explanation: Option<String>,
}

impl CompanionsQuery {
    /// The companions of a band; `None` if the log has no such profile, or no such
    /// band in the range.
    #[must_use]
    pub fn companions(&self, log: HeapLog<'_>) -> Option<Companions> {
        let found = Found::of(log, &self.choice, self.range)?;
        let (bands, ranking) = (&found.chosen.bands, &found.chosen.ranking);
        let all = ranking.bands();
        let has_key = |(band, _): &&(BandId, BandSums)| bands.key(*band) == self.suspect;
        let suspect = all.iter().find(has_key)?.0;
        let censuses = bands.censuses(found.profile);
        let like = companions(censuses, ranking.censuses(), all, suspect);
        let total = like.len() as u64;
        let listed = like.into_iter().take(MOST_COMPANIONS);
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

/// The bursts in a range: see [`analysis::heap::growth`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BurstsQuery {
    /// Which bands: how many of them are drawn by themselves does not count.
    pub choice: HeapChoice,
    /// The time that counts; all of the log without.
    pub range: Option<Interval>,
}

/// A burst.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BurstRow {
    /// What the band is called.
    pub called: Called,
    /// In how many censuses it was.
    pub censuses: u32,
    /// The census with the most bytes.
    pub peak: Moment,
    /// What the band held then.
    pub bytes: u64,
    /// What it usually holds.
    pub usual_bytes: u64,
    /// From the last census before it to its own last one: in that time the bytes
    /// came up, and they were there until its end. None if censuses have no time.
    pub span: Option<Interval>,
}

/// The bursts that rise the most, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    /// Which censuses count.
    pub counted: Counted,
    /// The bursts.
    pub rows: Vec<BurstRow>,
    /// How many there are.
    pub total: u64,
}

impl BurstsQuery {
    /// Transient bursts; `None` if the log has no such profile.
    #[must_use]
    pub fn bursts(&self, log: HeapLog<'_>) -> Option<Bursts> {
        let found = Found::of(log, &self.choice, self.range)?;
        let censuses = found.chosen.bands.censuses(found.profile);
        let places = found.chosen.ranking.censuses();
        let all = bursts(censuses, places, &found.matching());
        let total = all.len() as u64;
        let row = |burst: Burst| BurstRow {
            called: found.called(burst.band),
            censuses: burst.censuses.len() as u32,
            peak: Moment::of(found.profile, burst.peak),
            bytes: burst.bytes,
            usual_bytes: burst.usual_bytes,
            span: span(found.profile, &burst),
        };
        Some(Bursts {
            counted: found.counted,
            rows: all.into_iter().take(MOST_BURSTS).map(row).collect(),
            total,
        })
    }
}

fn span(profile: &HeapProfile, burst: &Burst) -> Option<Interval> {
    let start = profile.time(burst.censuses.start.saturating_sub(1))?;
    let end = profile.time(burst.censuses.end - 1)?;
    // The census itself is in the range.
    Some(Interval::new(start, Nanos(end.0.saturating_add(1))))
}

/// What ran in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RanThenQuery(pub Interval);

/// A thread that ran then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadThen {
    /// The thread.
    pub id: ThreadId,
    /// Its label, if the program gave it one.
    pub label: Option<String>,
    /// How long it ran, in nanoseconds.
    pub running_ns: u64,
}

/// A span of the program that overlaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpanThen {
    /// The place of its name among those that are listed.
    pub name_place: u32,
    /// Its name.
    pub name: String,
    /// When it was.
    pub span: Interval,
}

/// What ran in a stretch of time, the most of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RanThen {
    /// Whether that is known: when the log is read.
    pub known: bool,
    /// The threads that ran the longest.
    pub threads: Vec<ThreadThen>,
    /// How long all threads ran, in nanoseconds; several run at a time.
    pub running_ns: u64,
    /// The spans of the program that overlap the most of it; of several with as
    /// much, the shortest first, as it says more.
    pub spans: Vec<SpanThen>,
    /// How many spans overlap.
    pub span_count: u64,
}

impl RanThenQuery {
    /// What ran then.
    pub async fn ran_then(&self, recording: &Recording, listen: &dyn Listen) -> RanThen {
        let question = ThreadTableQuery {
            range: Some(self.0),
            sort: ThreadColumn::Running,
            descending: true,
            rows: 0..MOST_THEN,
            ..ThreadTableQuery::default()
        };
        let Some(table) = recording.store.thread_table(&question, listen).await else {
            return RanThen::default();
        };
        let threads = table.rows.into_iter().map(|row| ThreadThen {
            id: row.id,
            label: row.label,
            running_ns: row.sums.times.running_ns + row.sums.times.open_ns,
        });
        let (spans, span_count) = spans_in(recording, self.0);
        let all = &table.all.times;
        RanThen {
            known: true,
            threads: threads.filter(|thread| thread.running_ns > 0).collect(),
            running_ns: all.running_ns.saturating_add(all.open_ns),
            spans,
            span_count,
        }
    }
}

fn spans_in(recording: &Recording, range: Interval) -> (Vec<SpanThen>, u64) {
    let mut spans: Vec<SpanThen> = Vec::new();
    let mut count = 0;
    for (name_place, listed) in (0..).zip(recording.tracks.spans.listed()) {
        let all = &listed.spans;
        let first = all.partition_point(|span| span.end <= range.start().0);
        let here = all.iter().skip(first);
        let here = here.take_while(|span| span.start < range.end().0);
        let here = here.map(|span| SpanThen {
            name_place,
            name: listed.info.name.clone(),
            span: Interval::new(Nanos(span.start), Nanos(span.end)),
        });
        // Of each name those that overlap the most are enough.
        let mut here: Vec<SpanThen> = here.collect();
        count += here.len() as u64;
        keep_most(&mut here, range);
        spans.append(&mut here);
    }
    keep_most(&mut spans, range);
    (spans, count)
}

fn keep_most(spans: &mut Vec<SpanThen>, range: Interval) {
    spans.sort_small_by_key(|then| {
        let overlap = then.span.clip(range).duration();
        (
            std::cmp::Reverse(overlap),
            then.span.duration(),
            then.span.start(),
        )
    });
    spans.truncate(MOST_THEN as usize);
}
