//! Helpers shared by the tests of flame graph sources.

use proptest::prelude::*;

use super::centres::CostCentres;
use eventlog::ids::Nanos;
use eventlog::status::StopCodes;
use eventlog::{Event, EventType};
use model::profile::Profile;
use model::profile::weights::Weight;
use model::time::Interval;

/// Declares cost centres from numbers and their label, module and location, separated by zero bytes.
pub(crate) fn declared(centres: &[(u32, &str)]) -> CostCentres {
    let mut all = CostCentres::default();
    for (id, text) in centres {
        let payload = [&id.to_be_bytes()[..], text.as_bytes(), &[0]].concat();
        let event = EventType::HEAP_PROF_COST_CENTRE;
        all.declare(&Event::decode(event, &payload, StopCodes::default()));
    }
    all
}

/// Asserts that the weights of the parts of any division of the time add up to the weights of the whole.
pub(super) fn parts_sum(
    profile: &Profile,
    tracks: &[usize],
    cuts: Vec<u64>,
) -> Result<(), TestCaseError> {
    let (start, end) = (profile.span.start().0, profile.span.end().0);
    let mut ends: Vec<u64> = cuts.into_iter().map(|cut| cut.clamp(start, end)).collect();
    ends.extend([start, end]);
    ends.sort_unstable();
    let whole = profile.weigh(tracks, profile.span);
    let mut sums = vec![Weight::default(); whole.len()];
    for pair in ends.windows(2) {
        let part = profile.weigh(tracks, Interval::new(Nanos(pair[0]), Nanos(pair[1])));
        for (sum, part) in sums.iter_mut().zip(part) {
            sum.add(part);
        }
    }
    if start < end {
        prop_assert_eq!(sums, whole);
    }
    Ok(())
}
