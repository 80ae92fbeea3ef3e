//! Tables indexed by capability. Runtimes number capabilities from 0 on, but a damaged log may contain any number:
//! memory and work are proportional to the capabilities that occur, not to the greatest number.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::CapId;

/// Capabilities below this number have fixed lanes, in the order of their numbers.
const NEAR_CAPS: u16 = 64;

/// Dense numbering of capabilities: lane 0 is for events without a capability, each other lane for one capability.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapLanes {
    far: BTreeMap<CapId, u32>,
    /// Capabilities with lanes behind the fixed ones, in the order of their first occurrence.
    far_caps: Vec<CapId>,
}

impl CapLanes {
    const FIRST_FAR: usize = NEAR_CAPS as usize + 1;

    /// Returns the lane of a capability; `None` if it has a great number and never occurred.
    #[inline]
    pub fn lane(&self, cap: Option<CapId>) -> Option<usize> {
        match cap {
            None => Some(0),
            Some(cap) if cap.0 < NEAR_CAPS => Some(usize::from(cap.0) + 1),
            Some(cap) => Some(Self::FIRST_FAR + *self.far.get(&cap)? as usize),
        }
    }

    /// Returns the lane of a capability, assigning one if necessary.
    #[inline]
    pub fn lane_or_insert(&mut self, cap: Option<CapId>) -> usize {
        match cap {
            Some(cap) if cap.0 >= NEAR_CAPS => self.far_lane(cap),
            _ => cap.map_or(0, |cap| usize::from(cap.0) + 1),
        }
    }

    fn far_lane(&mut self, cap: CapId) -> usize {
        let far_caps = &mut self.far_caps;
        let place = *self.far.entry(cap).or_insert_with(|| {
            far_caps.push(cap);
            (far_caps.len() - 1) as u32
        });
        Self::FIRST_FAR + place as usize
    }

    /// Returns the capability of a lane; `None` for lane 0 and for unassigned lanes.
    pub fn cap(&self, lane: usize) -> Option<CapId> {
        match lane.checked_sub(Self::FIRST_FAR) {
            Some(place) => self.far_caps.get(place).copied(),
            None => lane.checked_sub(1).map(|cap| CapId(cap as u16)),
        }
    }
}

/// A value for each capability, and one for events without a capability; initially the default.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CapTable<T> {
    lanes: CapLanes,
    values: Vec<T>,
}

impl<T: Default> CapTable<T> {
    /// Returns the value of a capability, inserting the default if absent.
    #[inline]
    pub fn get_mut(&mut self, cap: Option<CapId>) -> &mut T {
        let lane = self.lanes.lane_or_insert(cap);
        if lane >= self.values.len() {
            self.values.resize_with(lane + 1, T::default);
        }
        &mut self.values[lane]
    }

    /// Returns the value of a capability; `None` implies the default.
    pub fn get(&self, cap: Option<CapId>) -> Option<&T> {
        self.values.get(self.lanes.lane(cap)?)
    }

    /// Iterates over all values, by capability number. May include values that were never accessed.
    pub fn iter(&self) -> impl Iterator<Item = (Option<CapId>, &T)> {
        let near = self.values.iter().take(CapLanes::FIRST_FAR).enumerate();
        let near = near.map(|(lane, value)| (self.lanes.cap(lane), value));
        let far = self.lanes.far.iter().filter_map(|(cap, place)| {
            let value = self.values.get(CapLanes::FIRST_FAR + *place as usize)?;
            Some((Some(*cap), value))
        });
        near.chain(far)
    }

    /// Returns all values, in lane order.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns all values for modification, in lane order.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_great_number_takes_little_memory() {
        let mut table = CapTable::default();
        *table.get_mut(Some(CapId(u16::MAX))) = 1;
        *table.get_mut(Some(CapId(9))) = 2;
        assert!(table.values().len() <= 70);
        assert_eq!(table.get(Some(CapId(u16::MAX))), Some(&1));
        assert_eq!(table.get(Some(CapId(60_000))), None);
    }

    proptest! {
        #[test]
        fn each_capability_has_its_own_value(numbers: Vec<Option<u16>>) {
            let mut table = CapTable::default();
            let mut model = BTreeMap::new();
            for (value, number) in (1..).zip(numbers) {
                let cap = number.map(CapId);
                *table.get_mut(cap) = value;
                model.insert(cap, value);
            }
            let all: Vec<_> = table.iter().filter(|(_, value)| **value > 0).collect();
            prop_assert_eq!(all, model.iter().map(|(cap, value)| (*cap, value)).collect::<Vec<_>>());
            for (cap, value) in &model {
                prop_assert_eq!(table.get(*cap), Some(value));
                let lane = table.lanes.lane(*cap);
                prop_assert_eq!(lane.and_then(|lane| table.lanes.cap(lane)), *cap);
            }
        }
    }
}
