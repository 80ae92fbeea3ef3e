//! Main reason for a change of the run time: total time is the sum of its parts, and one of them may account for
//! most of the change.

use super::{Claim, Comparison, Difference};
use crate::digest::{Key, NumberGroup};

/// Parts of `time.wall`, which add up to it.
const PARTS: [&str; 5] = [
    "time.init",
    "time.mutator",
    "time.gc",
    "time.prof",
    "time.exit",
];
/// Minimum share of the change for a part to be its main reason.
const MIN_SHARE: f64 = 0.5;

/// Change of the total time with its main part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MainReason<'a> {
    /// Total elapsed time (`time.wall`).
    pub wall: &'a Difference,
    /// Part that accounts for most of the change, if there is one.
    pub part: Option<&'a Difference>,
    /// Detail of `part`. For mutator time: the cost centre, or else the threads of one label, with most of the
    /// change. For collections: their number or the bytes that they copied, whichever changed more.
    pub inner: Option<&'a Difference>,
}

impl Comparison {
    /// Returns the main reason for the change of total time; `None` if a side does not have it, if there is no
    /// difference, or only one within [`Options::noise`]. With too few runs it is returned without a claim.
    ///
    /// [`Options::noise`]: super::Options::noise
    pub fn main_reason(&self) -> Option<MainReason<'_>> {
        let wall = self.program_metric("time.wall")?;
        if wall.claim == Claim::NoDifference || wall.relative() <= self.options.noise {
            return None;
        }
        let parts = PARTS.iter().filter_map(|name| self.program_metric(name));
        let part = main_part(parts, wall);
        let inner = part.and_then(|part| match part.key.name.as_str() {
            "time.mutator" => [NumberGroup::CostCentres, NumberGroup::Threads]
                .iter()
                .find_map(|group| {
                    let own = |row: &&Difference| {
                        row.key.group == *group && matches!(row.key.part.as_ref(), "time" | "ran")
                    };
                    main_part(self.rows.iter().filter(own), part)
                }),
            "time.init" | "time.exit" | "time.prof" => None,
            _ => self.collections_reason(part),
        });
        Some(MainReason { wall, part, inner })
    }

    fn program_metric(&self, name: &str) -> Option<&Difference> {
        let is_it = |row: &&Difference| {
            let keys = std::iter::once(&row.key).chain(&row.equal);
            let is = |key: &Key| key.group == NumberGroup::Program && key.full_name() == name;
            keys.into_iter().any(is)
                && !row.before.values.is_empty()
                && !row.after.values.is_empty()
        };
        self.rows.iter().find(is_it)
    }

    fn collections_reason(&self, gc: &Difference) -> Option<&Difference> {
        let all = ["gc.count", "gc.copied"]
            .iter()
            .filter_map(|name| self.program_metric(name));
        let is_cause = |row: &&Difference| {
            row.claim != Claim::NoDifference && (row.change > 0.0) == (gc.change > 0.0)
        };
        let far = |row: &Difference| row.ratio.map_or(0.0, |ratio| ratio.ln().abs());
        all.filter(is_cause)
            .max_by(|a, b| far(a).total_cmp(&far(b)))
    }
}

/// Returns the part with the greatest change in the direction of the whole, if it accounts for most of that
/// change. If the whole is claimed to have changed, the part must be too.
fn main_part<'a>(
    parts: impl Iterator<Item = &'a Difference>,
    whole: &Difference,
) -> Option<&'a Difference> {
    let part = parts
        .filter(|part| !part.before.values.is_empty() && !part.after.values.is_empty())
        .max_by(|a, b| (a.change / whole.change).total_cmp(&(b.change / whole.change)))?;
    let is_most = part.change / whole.change >= MIN_SHARE;
    let is_sure = whole.claim != Claim::Changed || part.claim == Claim::Changed;
    (is_most && is_sure).then_some(part)
}
