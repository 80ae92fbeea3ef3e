//! The colours of bands. A band has the same colour in chart, table and track,
//! whatever the order: it follows from its key. Where two of those that are shown
//! would have the same one, the second takes the next that is free; as they
//! choose in the order of their names, what is larger changes no colour.

use model::sorting::SortSmall;
use scene::colour::Rgb;
use scene::palette::shares_of;

/// The number of a colour.
pub type Slot = u8;

/// How many hues there are, each of them in some lightnesses.
const HUES: Slot = 12;
/// How many colours there are.
const SLOTS: Slot = HUES * 3;
/// The colour of all bands that are shown as one.
pub const OTHERS: Slot = Slot::MAX;
/// From one colour to the next that is tried: far in hue.
const STEP: Slot = 7;

/// The colours of the bands of these keys.
#[must_use]
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
        // With more bands than colours, each is used about as often.
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

/// A colour for a page that is dark or not.
#[must_use]
pub fn colour(slot: Slot, dark: bool) -> Rgb {
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
    use scene::colour::Vision;

    #[test]
    fn all_colours_differ() {
        for dark in [false, true] {
            for a in 0..SLOTS {
                for b in 0..a {
                    let distance = colour(a, dark).distance(colour(b, dark), Vision::Full);
                    assert!(distance > 0.04, "{a} {b} {dark}: {distance}");
                }
            }
        }
    }

    #[test]
    fn every_colour_is_tried() {
        let keys: Vec<String> = (0..u32::from(SLOTS)).map(|n| format!("band {n}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut slots = slots(&keys);
        slots.sort_unstable();
        assert_eq!(slots, (0..SLOTS).collect::<Vec<_>>());
    }

    proptest! {
        /// The order in which bands stand changes no colour, and few bands have
        /// all different ones.
        #[test]
        fn colours_follow_from_the_set(keys in prop::collection::hash_set("[a-zA-Z]{1,8}", 1..30)) {
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
