//! Event types of a merged log.

use std::collections::BTreeMap;

use super::survey::Facts;
use crate::cut::CUT_RANGE_NAME;
use eventlog::event::{EventType, SizeClass};
use eventlog::header::{Header, TypeDecl};
use eventlog::status::StopCodes;

/// Maximum number of bytes that newer GHCs append to an event. Where sizes differ by more, the first log wins:
/// otherwise one header could make all events of other logs arbitrarily large.
const MAX_APPENDED_BYTES: u16 = 64;

/// The types that the new log declares.
#[derive(Debug)]
pub(super) struct Types {
    all: Vec<TypeDecl>,
    places: BTreeMap<EventType, usize>,
    stop_codes: StopCodes,
}

impl Types {
    /// Collects the types of all logs. Where fixed sizes differ, the largest wins, as newer GHCs append fields.
    /// `makes_processes` adds the types that define a process, `has_range` the one that declares a range.
    pub(super) fn for_logs(logs: &[Facts], makes_processes: bool, has_range: bool) -> Self {
        let mut types = Self {
            all: Vec::new(),
            places: BTreeMap::new(),
            stop_codes: StopCodes::Standard,
        };
        let same = logs.windows(2).all(|pair| pair[0].types == pair[1].types);
        for decl in logs
            .iter()
            .take(if same { 1 } else { logs.len() })
            .flat_map(|log| &log.types)
        {
            types.add(decl);
        }
        if makes_processes {
            types.require(EventType::CAPSET_CREATE, "Create capability set");
            types.require(
                EventType::CAPSET_ASSIGN_CAP,
                "Add capability to capability set",
            );
            types.require(EventType::PROGRAM_ARGS, "Program arguments");
        }
        if has_range {
            types.require(EventType::CUT_RANGE, CUT_RANGE_NAME);
        }
        let declares = |id| types.places.contains_key(&id);
        if declares(EventType::USER_MARKER) && !declares(EventType::HACK_BUG_T9003) {
            if same {
                types.stop_codes = StopCodes::Ghc782;
            } else {
                // Marks the stop codes as the standard ones; they are converted.
                types.require(EventType::HACK_BUG_T9003, "Empty event for bug #9003");
            }
        }
        types
    }

    fn add(&mut self, decl: &TypeDecl) {
        let place = self.places.get(&decl.id).copied();
        match place.and_then(|place| self.all.get_mut(place)) {
            Some(own) => {
                if let (Some(size), Some(other)) = (own.size, decl.size)
                    && size.abs_diff(other) <= MAX_APPENDED_BYTES
                {
                    own.size = Some(size.max(other));
                }
            }
            None => {
                self.places.insert(decl.id, self.all.len());
                self.all.push(decl.clone());
            }
        }
    }

    fn require(&mut self, id: EventType, description: &str) {
        if self.places.contains_key(&id) {
            return;
        }
        let is_fixed = id.expected_class() != Some(SizeClass::Variable);
        self.add(&TypeDecl {
            id,
            size: is_fixed.then(|| id.min_payload_bytes().unwrap_or(0)),
            description: description.to_owned(),
            known: true,
        });
    }

    /// Returns the types for a header.
    pub(super) fn declared(&self) -> impl Iterator<Item = (EventType, Option<u16>, &str)> + Clone {
        self.all
            .iter()
            .map(|decl| (decl.id, decl.size, &*decl.description))
    }

    /// Returns the numbering of the stop codes.
    pub(super) const fn stop_codes(&self) -> StopCodes {
        self.stop_codes
    }

    /// Converts a payload to the declared size; `false` if that is impossible.
    pub(super) fn fit(&self, header: &Header, id: EventType, payload: &mut Vec<u8>) -> bool {
        let place = self.places.get(&id).copied();
        let Some(own) = place.and_then(|place| self.all.get(place)) else {
            return false;
        };
        let Some(theirs) = header.decl(id) else {
            return false;
        };
        if own.known != theirs.known || own.size.is_some() != theirs.size.is_some() {
            return false;
        }
        let Some(size) = own.size.map(usize::from) else {
            return true;
        };
        if payload.len() < size && own.known && id == EventType::NONMOVING_HEAP_CENSUS {
            // Older GHCs write the block size as a logarithm in one byte.
            let Some(&log2) = payload.first() else {
                return false;
            };
            let bytes = 1_u16.checked_shl(u32::from(log2)).unwrap_or(0);
            payload.splice(..1, bytes.to_be_bytes());
        }
        self.pad(id, payload)
    }

    /// Appends zeros up to the declared size; `false` if the type is unknown, or its declared size is smaller.
    pub(super) fn pad(&self, id: EventType, payload: &mut Vec<u8>) -> bool {
        let place = self.places.get(&id).copied();
        let Some(own) = place.and_then(|place| self.all.get(place)) else {
            return false;
        };
        let Some(size) = own.size.map(usize::from) else {
            return payload.len() <= usize::from(u16::MAX);
        };
        let may_append = size <= payload.len() + usize::from(MAX_APPENDED_BYTES);
        if payload.len() < size && own.known && may_append {
            payload.resize(size, 0);
        }
        payload.len() == size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(types: &[(EventType, Option<u16>)]) -> Facts {
        let decl = |&(id, size): &(EventType, Option<u16>)| TypeDecl {
            id,
            size,
            description: id.name().unwrap_or("new").to_owned(),
            known: id.name().is_some(),
        };
        Facts {
            types: types.iter().map(decl).collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn one_header_does_not_make_all_events_large() {
        let run = EventType::RUN_THREAD;
        let logs = [4, 60_000].map(|size| facts(&[(run, Some(size))]));
        for logs in [logs.clone(), [logs[1].clone(), logs[0].clone()]] {
            let types = Types::for_logs(&logs, false, false);
            let header = |log: &Facts| Header::try_from(log.types.clone()).expect("types");
            let own = logs[0].types[0].size.map(usize::from).unwrap_or_default();
            assert!(types.fit(&header(&logs[0]), run, &mut vec![0; own]));
            let other = logs[1].types[0].size.map(usize::from).unwrap_or_default();
            let mut payload = vec![0; other];
            let fits = types.fit(&header(&logs[1]), run, &mut payload);
            assert!(!fits || payload.len() <= 2 * other, "{}", payload.len());
        }
    }

    #[test]
    fn payloads_get_the_size_that_is_declared() {
        let census = EventType::NONMOVING_HEAP_CENSUS;
        let (own, other) = (EventType(500), EventType(501));
        let older = facts(&[
            (census, Some(13)),
            (EventType::STOP_THREAD, Some(6)),
            (EventType::USER_MARKER, None),
            (own, Some(2)),
            (other, None),
        ]);
        let newer = facts(&[
            (census, Some(14)),
            (EventType::STOP_THREAD, Some(10)),
            (own, Some(3)),
            (other, Some(1)),
        ]);
        let types = Types::for_logs(&[older.clone(), newer.clone()], true, false);
        let declared: BTreeMap<EventType, Option<u16>> =
            types.declared().map(|(id, size, _)| (id, size)).collect();
        assert_eq!(declared[&census], Some(14));
        assert_eq!(declared[&EventType::CAPSET_CREATE], Some(6));
        assert_eq!(declared[&EventType::PROGRAM_ARGS], None);
        assert_eq!(declared[&EventType::HACK_BUG_T9003], Some(0));
        assert_eq!(types.stop_codes(), StopCodes::Standard);

        let header = Header::try_from(older.types).expect("types");
        let fit = |id, payload: &[u8]| {
            let mut payload = payload.to_vec();
            types.fit(&header, id, &mut payload).then_some(payload)
        };
        let counts = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5];
        let before = [&[3][..], &counts].concat();
        assert_eq!(fit(census, &before), Some([&[0, 8][..], &counts].concat()));
        let stop = fit(EventType::STOP_THREAD, &[0, 0, 0, 1, 0, 3]);
        assert_eq!(stop, Some(vec![0, 0, 0, 1, 0, 3, 0, 0, 0, 0]));
        assert_eq!(
            fit(own, &[1, 2]),
            None,
            "nobody knows what would be missing"
        );
        assert_eq!(fit(other, &[1, 2]), Some(vec![1, 2]));
        let header = Header::try_from(newer.types).expect("types");
        let is_fit = types.fit(&header, other, &mut vec![1]);
        assert!(!is_fit, "the first log says that it carries its length");
        assert_eq!(fit(EventType::USER_MARKER, b"text"), Some(b"text".to_vec()));
    }
}
