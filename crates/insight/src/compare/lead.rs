//! Why a program takes longer or shorter: the time from its start to its end is the sum of
//! its parts, and one of these may be most of the change.

use super::{Claim, Comparison, Difference};
use crate::digest::{Group, Key};

/// The parts of `time.wall`, which add up to it.
const PARTS: [&str; 5] = [
    "time.init",
    "time.mutator",
    "time.gc",
    "time.prof",
    "time.exit",
];
/// A part that makes up less of the change is not most of it.
const MOST: f64 = 0.5;

/// The change of the time from start to end, and where most of it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lead<'a> {
    /// The time from start to end.
    pub wall: &'a Difference,
    /// The part that is most of the change; `None` if no part is.
    pub part: Option<&'a Difference>,
    /// Of the time outside of collections: the cost centre, or else the threads of one label,
    /// with most of the change. Of the time in collections: how many there are, or what they
    /// copied, whichever changed more.
    pub inner: Option<&'a Difference>,
}

impl Comparison {
    /// What is said of the time from start to end: `None` if a side does not have it, if no
    /// difference is seen, or only one that is of no interest ([`Options::noise`]). Of few runs
    /// it is told without a claim.
    ///
    /// [`Options::noise`]: super::Options::noise
    #[must_use]
    pub fn lead(&self) -> Option<Lead<'_>> {
        let wall = self.program("time.wall")?;
        if wall.claim == Claim::NoDifference || wall.relative() <= self.options.noise {
            return None;
        }
        let parts = PARTS.iter().filter_map(|name| self.program(name));
        let part = most_of(parts, wall);
        let inner = part.and_then(|part| match part.key.name.as_str() {
            "time.mutator" => [Group::CostCentres, Group::Threads]
                .iter()
                .find_map(|group| {
                    let own = |row: &&Difference| {
                        row.key.group == *group && matches!(row.key.part.as_ref(), "time" | "ran")
                    };
                    most_of(self.rows.iter().filter(own), part)
                }),
            "time.init" | "time.exit" | "time.prof" => None,
            _ => self.more_collections(part),
        });
        Some(Lead { wall, part, inner })
    }

    fn program(&self, name: &str) -> Option<&Difference> {
        let is_it = |row: &&Difference| {
            let keys = std::iter::once(&row.key).chain(&row.equal);
            let is = |key: &Key| key.group == Group::Program && key.full_name() == name;
            keys.into_iter().any(is)
                && !row.before.values.is_empty()
                && !row.after.values.is_empty()
        };
        self.rows.iter().find(is_it)
    }

    fn more_collections(&self, gc: &Difference) -> Option<&Difference> {
        let all = ["gc.count", "gc.copied"]
            .iter()
            .filter_map(|name| self.program(name));
        let is_cause = |row: &&Difference| {
            row.claim != Claim::NoDifference && (row.change > 0.0) == (gc.change > 0.0)
        };
        let far = |row: &Difference| row.ratio.map_or(0.0, |ratio| ratio.ln().abs());
        all.filter(is_cause)
            .max_by(|a, b| far(a).total_cmp(&far(b)))
    }
}

/// The one that changed the most in the same direction, if that is most of the change of the
/// whole; where the whole is claimed, it has to be claimed too.
fn most_of<'a>(
    parts: impl Iterator<Item = &'a Difference>,
    whole: &Difference,
) -> Option<&'a Difference> {
    let part = parts
        .filter(|part| !part.before.values.is_empty() && !part.after.values.is_empty())
        .max_by(|a, b| (a.change / whole.change).total_cmp(&(b.change / whole.change)))?;
    let is_most = part.change / whole.change >= MOST;
    let is_sure = whole.claim != Claim::Changed || part.claim == Claim::Changed;
    (is_most && is_sure).then_some(part)
}
