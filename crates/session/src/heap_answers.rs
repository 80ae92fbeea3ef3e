//! Answers of heap profile queries.

use super::Session;
use super::query::{Host, Query, columns, optional_columns, range_field};
use crate::heap::band_info::{BandInfo, BandInfoQuery};
use crate::heap::census_diff::{CensusDiff, CensusDiffQuery};
use crate::heap::choice::{HeapChoice, HeapLog, SelectedBands};
use crate::heap::growth::{
    Bursts, BurstsQuery, Companions, CompanionsQuery, ConcurrentActivity, ConcurrentActivityQuery,
    GrowingBands, GrowthQuery,
};
use crate::heap::profiles::{ProfileInfo, ProfilesQuery};
use crate::heap::table::{BandTable, BandTableQuery};
use crate::heap::tree::{TreeAnswer, TreeQuery};
use model::time::Interval;

impl Session {
    /// Returns the heap profiles with the cache of their queries.
    pub const fn heap_log(&self) -> HeapLog<'_> {
        HeapLog {
            recording: &self.recording,
            cache: &self.heap_cache,
        }
    }

    /// Returns the selected bands in a range; see [`HeapLog::select_bands`].
    pub fn heap(&self, choice: &HeapChoice, range: Option<Interval>) -> Option<SelectedBands> {
        self.heap_log().select_bands(choice, range)
    }

    /// Returns the bands of the first profile whose censuses have times.
    pub(crate) fn heap_names(&self) -> Option<SelectedBands> {
        let mut profiles = self.recording.heap().iter();
        let profile = profiles.position(|profile| profile.is_timed())? as u32;
        let choice = HeapChoice {
            profile,
            ..HeapChoice::default()
        };
        self.heap(&choice, None)
    }
}

impl Query for ProfilesQuery {
    type Answer = Vec<ProfileInfo>;
    const NAME: &'static str = "heap profiles";

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        let from_text = log.reader.heap_report().is_some();
        self.profiles(log.heap_log(), from_text)
    }
}

/// Implements queries that a method of theirs answers from the heap profiles, with the macros in braces.
macro_rules! heap_queries {
    ($($query:ident, $name:literal: $method:ident -> $answer:ty { $($macros:tt)* })+) => {
        $(impl Query for $query {
            type Answer = $answer;
            const NAME: &'static str = $name;

            async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
                self.$method(log.heap_log())
            }

            $($macros)*
        })+
    };
}

heap_queries! {
    BandTableQuery, "table of bands": table -> Option<BandTable> { range_field!(range); optional_columns!(); }
    CensusDiffQuery, "two censuses": moments -> Option<CensusDiff> { range_field!(range); optional_columns!(); }
    GrowthQuery, "what grows": growing -> Option<GrowingBands> { range_field!(range); optional_columns!(); }
    CompanionsQuery, "companions": companions -> Option<Companions> { range_field!(range); }
    BurstsQuery, "bursts": bursts -> Option<Bursts> { range_field!(range); }
    TreeQuery, "cost-centre tree": rows -> Option<TreeAnswer> { range_field!(range); }
    BandInfoQuery, "heap band": band_info -> Option<BandInfo> {}
}

columns!(BandTable { sparks });
columns!(CensusDiff { totals });
columns!(GrowingBands { sparks });

impl Query for ConcurrentActivityQuery {
    type Answer = ConcurrentActivity;
    const NAME: &'static str = "what ran then";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        self.concurrent_activity(&log.recording, host).await
    }
}
