//! Band colors. A band has the same color in chart, table and track, because its key determines it.
//!
//! If two shown bands collide, the second takes the next free color. Bands choose in the order of their keys, so
//! sizes do not affect colors.

use model::sorting::CompactSort;
use scene::color::Rgb;
use scene::palette::shares_of;

/// Index of a color in the palette.
pub type Slot = u8;

/// Number of hues; each has three lightnesses.
const HUES: Slot = 12;
const SLOTS: Slot = HUES * 3;
/// Color of the bands that are shown as one.
pub const OTHERS: Slot = Slot::MAX;
/// Step to the next color after a collision: far away in hue.
const STEP: Slot = 7;

/// Assigns a color to each key.
pub fn slots(keys: &[&str]) -> Vec<Slot> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_small_by_key(|&place| keys.get(place));
    let mut used = [0_u16; SLOTS as usize];
    let mut slots = vec![0; keys.len()];
    for place in order {
        let share = keys.get(place).map_or(0.0, |key| shares_of(key)[0]);
        let wished = (share * f64::from(SLOTS)) as Slot % SLOTS;
        let tried = (0..SLOTS).map(|tries| (wished + tries * STEP % SLOTS) % SLOTS);
        let uses = |slot: &Slot| used.get(usize::from(*slot)).copied().unwrap_or(u16::MAX);
        // With more bands than colors, uses each about equally often.
        let slot = tried.min_by_key(uses).unwrap_or(wished);
        if let Some(uses) = used.get_mut(usize::from(slot)) {
            *uses = uses.saturating_add(1);
        }
        if let Some(found) = slots.get_mut(place) {
            *found = slot;
        }
    }
    slots
}

/// Returns a color for the dark or the light theme.
pub fn color(slot: Slot, dark: bool) -> Rgb {
    if slot == OTHERS {
        return Rgb::oklch(if dark { 0.48 } else { 0.74 }, 0.008, 260.0);
    }
    let hue = f64::from(slot % HUES) * 360.0 / f64::from(HUES) + 20.0;
    let (lightness, chroma) = match (slot / HUES % 3, dark) {
        (0, false) => (0.67, 0.135),
        (1, false) => (0.52, 0.12),
        (_, false) => (0.80, 0.10),
        (0, true) => (0.68, 0.12),
        (1, true) => (0.53, 0.12),
        (_, true) => (0.80, 0.09),
    };
    Rgb::oklch(lightness, chroma, hue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use scene::color::Vision;

    #[test]
    fn all_colors_differ() {
        for dark in [false, true] {
            for a in 0..SLOTS {
                for b in 0..a {
                    let distance = color(a, dark).distance(color(b, dark), Vision::Full);
                    assert!(distance > 0.04, "{a} {b} {dark}: {distance}");
                }
            }
        }
    }

    #[test]
    fn every_color_is_tried() {
        let keys: Vec<String> = (0..u32::from(SLOTS)).map(|n| format!("band {n}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut slots = slots(&keys);
        slots.sort_unstable();
        assert_eq!(slots, (0..SLOTS).collect::<Vec<_>>());
    }

    proptest! {
        /// The order of bands does not affect their colors, and a few bands have distinct colors.
        #[test]
        fn colors_follow_from_the_set(keys in prop::collection::hash_set("[a-zA-Z]{1,8}", 1..30)) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let turned: Vec<&str> = keys.iter().rev().copied().collect();
            let (there, mut back) = (slots(&keys), slots(&turned));
            back.reverse();
            prop_assert_eq!(&there, &back);
            let mut distinct = there;
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), keys.len());
        }
    }
}
