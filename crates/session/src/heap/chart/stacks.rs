//! Sampling of a heap profile for a chart of a given width.

use std::ops::Range;

use super::Stacks;
use crate::heap::choice::SelectedBands;
use analysis::heap::HeapProfile;
use eventlog::ids::Nanos;
use model::time::Interval;

/// Maximum width of a chart in pixels.
pub(crate) const MAX_PX: u32 = 1 << 14;

/// Returns the censuses in view and one on each side, so that the drawing reaches the edges.
pub(crate) fn in_view(profile: &HeapProfile, axis: Interval, end: Nanos) -> Range<u32> {
    let all = profile.censuses.len() as u32;
    if !profile.is_timed() {
        return 0..all;
    }
    let places = profile.censuses_in(Some(axis), end);
    places.start.saturating_sub(1)..places.end.saturating_add(1).min(all)
}

/// Returns the censuses to draw: all of them if each has a pixel, otherwise the one with the most bytes in each
/// pixel.
pub(crate) fn censuses_to_draw(
    profile: &HeapProfile,
    places: Range<u32>,
    axis: Interval,
    width_px: u32,
) -> Vec<u32> {
    let width = u64::from(width_px.clamp(1, MAX_PX));
    if places.len() as u64 <= width {
        return places.collect();
    }
    let pixel_ns = axis.duration().0.div_ceil(width).max(1);
    let pixel = |census: u32| match profile.time(census) {
        Some(time) => time.0 / pixel_ns,
        None => u64::from(census) / (places.len() as u64).div_ceil(width).max(1),
    };
    let total = |census: u32| profile.censuses.total(census);
    let mut picked: Vec<u32> = Vec::new();
    let mut last = None;
    for census in places.clone() {
        let here = pixel(census);
        match picked.last_mut() {
            Some(best) if last == Some(here) => {
                if total(census) > total(*best) {
                    *best = census;
                }
            }
            _ => picked.push(census),
        }
        last = Some(here);
    }
    picked
}

/// Returns the bytes of the selected bands in some censuses, band by band; the sum of the others is last.
pub(crate) fn stacks_of(
    chosen: &SelectedBands,
    profile: &HeapProfile,
    places: Range<u32>,
    picked: Vec<u32>,
) -> Stacks {
    let censuses = chosen.bands.censuses(profile);
    let mut bytes = Vec::with_capacity(picked.len() * (chosen.shown.len() + 1));
    for &band in &chosen.shown {
        let mut wanted = picked.iter().peekable();
        for run in censuses.runs(band, places.clone()) {
            while let Some(&census) = wanted.next_if(|&&census| census < run.censuses.end) {
                let held = census >= run.censuses.start;
                bytes.push(if held { run.bytes as f64 } else { 0.0 });
            }
        }
        bytes.extend(wanted.map(|_| 0.0));
    }
    if !chosen.others.is_empty() {
        let others = chosen.others_in(profile, places.clone());
        let of = |census: &u32| others.get((census - places.start) as usize).copied();
        bytes.extend(
            picked
                .iter()
                .map(|census| of(census).unwrap_or_default() as f64),
        );
    }
    let at = |census: &u32| match profile.time(*census) {
        Some(time) => time.0 as f64,
        None => f64::from(*census),
    };
    let total = |census: &u32| profile.censuses.total(*census) as f64;
    Stacks {
        at: picked.iter().map(at).collect(),
        total: picked.iter().map(total).collect(),
        census: picked,
        bytes,
    }
}
