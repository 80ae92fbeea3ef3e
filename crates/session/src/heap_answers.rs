//! Answers of heap profile queries.

use super::Session;
use super::query::{Host, Query, columns, optional_columns, range_field};
use crate::heap::band_info::{BandInfo, BandInfoQuery};
use crate::heap::choice::{HeapChoice, HeapLog, SelectedBands};
use crate::heap::growth::{
    Bursts, BurstsQuery, Companions, CompanionsQuery, ConcurrentActivity, ConcurrentActivityQuery,
    GrowingBands, GrowthQuery,
};
use crate::heap::moments::{CensusDiff, CensusDiffQuery};
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

impl Query for BandTableQuery {
    type Answer = Option<BandTable>;
    const NAME: &'static str = "table of bands";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        self.table(log.heap_log())
    }

    optional_columns!();
}

columns!(BandTable { sparks });

impl Query for CensusDiffQuery {
    type Answer = Option<CensusDiff>;
    const NAME: &'static str = "two censuses";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        self.moments(log.heap_log())
    }

    optional_columns!();
}

columns!(CensusDiff { totals });

impl Query for GrowthQuery {
    type Answer = Option<GrowingBands>;
    const NAME: &'static str = "what grows";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        self.growing(log.heap_log())
    }

    optional_columns!();
}

columns!(GrowingBands { sparks });

impl Query for CompanionsQuery {
    type Answer = Option<Companions>;
    const NAME: &'static str = "companions";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        self.companions(log.heap_log())
    }
}

impl Query for BurstsQuery {
    type Answer = Option<Bursts>;
    const NAME: &'static str = "bursts";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        self.bursts(log.heap_log())
    }
}

impl Query for ConcurrentActivityQuery {
    type Answer = ConcurrentActivity;
    const NAME: &'static str = "what ran then";

    async fn answer(&self, log: &Session, host: &dyn Host) -> Self::Answer {
        self.concurrent_activity(&log.recording, host).await
    }
}

impl Query for TreeQuery {
    type Answer = Option<TreeAnswer>;
    const NAME: &'static str = "cost-centre tree";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        self.rows(log.heap_log())
    }
}

impl Query for BandInfoQuery {
    type Answer = Option<BandInfo>;
    const NAME: &'static str = "heap band";

    async fn answer(&self, log: &Session, _: &dyn Host) -> Self::Answer {
        self.band_info(log.heap_log())
    }
}
