//! Decides whether bytes are an event, with one event of lookahead, so that a damaged event rarely costs its
//! neighbors.
//!
//! The events of a block are in time order, with two exceptions: the runtime back-dates the end of a collection to
//! when it was over, and the start of a collection can be dated before its block if it is the first event there.
//! An event is therefore accepted if its time fits between the previous event and the next, and if something valid
//! starts where it ends: another event, a block marker, or the end of the data or of the block. Otherwise the next
//! run of valid events is searched, and its position decides what is wrong:
//!
//! | the next valid events begin | what is wrong |
//! |---|---|
//! | right behind the event | its time: it is kept, with the time of its neighbors |
//! | inside it | its type or length: it ends there, or is left out |
//! | later, or nowhere | what follows it, if its own time fits; else the event |
//!
//! An event followed by something valid can still be wrong if it spans whole events. So its length is compared
//! with the end of its fields; where the fields do not determine it, events that fill the payload exactly are
//! searched. An event that carries its length is never shortened because of its payload alone if the events behind
//! it are valid: payload bytes that a program chose may look like events.

use serde::{Deserialize, Serialize};

use super::event::{EventType, Shape};
use super::header::{BLOCK_MARKER, Header, PayloadSize};
use super::problem::DamageKind;
use super::record::{Extent, Marker, NoEvent, PREFIX, extent, prefix};
use super::scan::{Bounds, is_undated, pass_zeros};
use crate::ids::Nanos;

/// Constraints on the time of the next event of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeConstraints {
    pub(crate) bounds: Bounds,
    /// Time of the latest event so far.
    pub(crate) last: Nanos,
    /// Start of the last collection, the lower bound for the time of its end.
    pub(crate) collection: Nanos,
}

impl TimeConstraints {
    /// Constraints at the start of a block.
    pub(crate) const fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            last: bounds.from,
            collection: bounds.from,
        }
    }

    /// Whether an event of this type and time can be next.
    fn accepts(&self, id: u16, time: Nanos) -> bool {
        let earliest = if id == EventType::GC_END.0 {
            self.collection
        } else {
            self.last
        };
        is_undated(id) || (earliest <= time && time <= self.bounds.to)
    }

    /// Returns the constraints after such an event.
    #[inline]
    pub(crate) fn after_event(mut self, id: u16, time: Nanos) -> Self {
        if id == EventType::GC_START.0 {
            self.collection = time;
        }
        if !is_undated(id) {
            self.last = self.last.max(time);
        }
        self
    }
}

/// Decision about the bytes where an event should begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// An event begins here.
    Event {
        event: Extent,
        /// Whether something valid follows.
        leads_on: bool,
        /// Lower bound for the time of the next event, besides the time of this one.
        latest: Nanos,
        /// Damage to report for this event.
        damage_kind: Option<DamageKind>,
    },
    /// This many bytes are not an event.
    Skip(usize, DamageKind),
    /// The events from here on are valid, but violate the time constraints; these constraints replace them.
    Reconstrain(TimeConstraints, DamageKind),
    /// The end-of-data marker, at the end of the block.
    EndOfData,
    /// The file ends inside the event that begins here.
    CutOff,
}

/// The rest of a block, as far as it is buffered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockTail<'a> {
    pub(crate) header: &'a Header,
    pub(crate) bytes: &'a [u8],
    /// Whether the block ends where the bytes do.
    pub(crate) whole: bool,
    /// Whether the file ends there, before the block does.
    pub(crate) cut: bool,
    /// Searches stop at this offset, because they need more bytes behind it.
    pub(crate) reach: usize,
    /// The times that the neighboring blocks allow.
    pub(crate) neighbor_bounds: Bounds,
    /// The times of the capability's previous block.
    pub(crate) previous: Option<Bounds>,
}

/// Number of consecutive valid events that confirm a position.
const CONFIRMING_RUN: usize = 3;
/// Number of consecutive valid events that overrule a block's time constraints.
const OVERRULING_RUN: usize = 16;
/// After a pause longer than this (nanoseconds), the event is checked for spanning others.
pub(super) const LONG_PAUSE: u64 = 50_000_000;
/// Payload size from which a fixed-size event could span two whole events.
pub(super) const LARGE_EVENT_BYTES: u16 = 2 * PREFIX as u16;

impl<'a> BlockTail<'a> {
    /// Creates a view without context.
    pub(crate) const fn new(header: &'a Header, bytes: &'a [u8]) -> Self {
        Self {
            header,
            bytes,
            whole: false,
            cut: false,
            reach: bytes.len(),
            neighbor_bounds: Bounds::ANY,
            previous: None,
        }
    }

    /// Classifies the bytes at the start.
    pub(crate) fn classify(&self, constraints: TimeConstraints) -> Verdict {
        let event = match extent(self.header, self.bytes) {
            Err(NoEvent::EndOfData) if self.whole && !self.cut && self.bytes.len() == 2 => {
                return Verdict::EndOfData;
            }
            Err(why) => {
                let cut = self.cut && matches!(why, NoEvent::Short(_));
                return self.no_event(why.kind(), constraints, cut);
            }
            Ok(event) if event.id == BLOCK_MARKER => {
                return self.no_event(DamageKind::BlockMarker, constraints, false);
            }
            Ok(event) => event,
        };
        let fits =
            constraints.accepts(event.id, event.time) || self.precedes_block(&event, constraints);
        let after = constraints.after_event(event.id, event.time);
        if fits && self.follows(event.end, after) {
            if let Some(end) = self.spanned_events_end(&event, constraints, after) {
                return ends_early(event, end);
            }
            return Verdict::Event {
                event,
                leads_on: true,
                latest: Nanos(0),
                damage_kind: None,
            };
        }
        if !fits && let Some(expected) = self.detect_other_times(&event, constraints) {
            return expected;
        }
        let reach = self.reach.max(event.end + 1).min(self.bytes.len());
        let resumed = self.resume(1, constraints, reach);
        match resumed.or(self.is_end(event.end).then_some(event.end)) {
            Some(next) if next == event.end => self.misdated(event, constraints),
            Some(next) if next < event.end => {
                if fits && self.shape(&event) == Shape::Whole {
                    return accept(event, None);
                }
                if fits {
                    return ends_early(event, next);
                }
                Verdict::Skip(next, DamageKind::TimeOutsideBlock(event.time))
            }
            Some(next) if fits && self.is_run_of(next, after, CONFIRMING_RUN) => {
                accept(event, None)
            }
            None if fits => accept(event, None),
            Some(next) => Verdict::Skip(next, DamageKind::TimeOutsideBlock(event.time)),
            None => self.no_event(DamageKind::TimeOutsideBlock(event.time), constraints, false),
        }
    }

    /// Whether this is a `GC_START` that caused the previous block to be written. The runtime takes the event's
    /// time before it reserves space for it; if that requires a new block, the event is dated before the block.
    fn precedes_block(&self, event: &Extent, constraints: TimeConstraints) -> bool {
        let is_first = constraints.last == constraints.bounds.from;
        let previous = self
            .previous
            .filter(|_| is_first && event.id == EventType::GC_START.0);
        previous.is_some_and(|previous| previous.contains(event.time))
    }

    /// Handles bytes that are not an event: skips to the next one. In a truncated file, an incomplete event may be
    /// the last.
    fn no_event(&self, kind: DamageKind, constraints: TimeConstraints, cut: bool) -> Verdict {
        if let Some(next) = self.resume(1, constraints, self.reach) {
            return Verdict::Skip(next, kind);
        }
        // Perhaps the previous times were wrong, or those of the block.
        let found = |at: usize| {
            let mut alternative_constraints = self.alternative_constraints(constraints);
            alternative_constraints.any(|other| self.is_run_of(at, other, OVERRULING_RUN))
        };
        match self.find_start(1, self.reach, found) {
            Some(next) => Verdict::Skip(next, kind),
            None if cut => Verdict::CutOff,
            None => Verdict::Skip(self.reach, kind),
        }
    }

    /// Returns the first offset from `from` on at which a run of valid events begins.
    pub(crate) fn resume(
        &self,
        from: usize,
        constraints: TimeConstraints,
        reach: usize,
    ) -> Option<usize> {
        self.find_start(from, reach, |at| {
            self.is_run_of(at, constraints, CONFIRMING_RUN)
        })
    }

    /// Returns the first offset between `from` and `reach` where an event can begin and that `is_start` accepts.
    /// Zeros, as in a hole of a file, are skipped at once.
    fn find_start(
        &self,
        from: usize,
        reach: usize,
        is_start: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let bytes = self
            .bytes
            .get(..reach.saturating_add(PREFIX))
            .unwrap_or(self.bytes);
        let mut at = from;
        loop {
            at = pass_zeros(bytes, at);
            if at >= reach {
                return None;
            }
            if is_start(at) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Whether `count` valid events start at `at`, or fewer that lead to the end of the block or of the buffer.
    fn is_run_of(&self, at: usize, mut constraints: TimeConstraints, count: usize) -> bool {
        let least = if count > CONFIRMING_RUN {
            CONFIRMING_RUN
        } else {
            1
        };
        let mut pos = at;
        for found in 0..count {
            match extent(self.header, &self.bytes[pos..]) {
                Ok(event) if event.id == BLOCK_MARKER => {
                    return found >= least && is_marker(&self.bytes[pos..]);
                }
                Ok(event) if constraints.accepts(event.id, event.time) => {
                    constraints = constraints.after_event(event.id, event.time);
                    pos += event.end;
                }
                Err(NoEvent::EndOfData) => {
                    return found >= least && self.is_end(pos);
                }
                Err(NoEvent::Short(_)) => {
                    let to_the_end = self.whole && pos == self.bytes.len();
                    return found >= least && !self.cut && (to_the_end || !self.whole);
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether something valid starts at `at`. A back-dated event is valid if the next is in order again.
    fn follows(&self, mut at: usize, constraints: TimeConstraints) -> bool {
        const MAX_DATED_BACK: usize = 4;
        for _ in 0..MAX_DATED_BACK {
            if self.is_end(at) {
                return true;
            }
            let rest = &self.bytes[at..];
            let Some((id, time)) = prefix(rest) else {
                return self.cut || !self.whole;
            };
            if id == BLOCK_MARKER {
                return is_marker(rest);
            }
            let zeros = id == 0 && time == Nanos(0);
            let declared = self.header.size(id) != PayloadSize::Undeclared && !zeros;
            if !declared || !constraints.accepts(id, time) {
                return false;
            }
            if time >= constraints.last || is_undated(id) {
                return true;
            }
            match extent(self.header, rest) {
                Ok(event) => at += event.end,
                Err(_) => return self.cut || !self.whole,
            }
        }
        true
    }

    /// Whether the block or the data end at `at`.
    fn is_end(&self, at: usize) -> bool {
        let rest = &self.bytes[at..];
        self.whole && (rest.is_empty() || rest == [0xFF, 0xFF])
    }

    /// Compares an event's length with the end of its fields.
    fn shape(&self, event: &Extent) -> Shape {
        if !event.is_variable() {
            return Shape::Unknown;
        }
        let payload = &self.bytes[event.payload..event.end];
        EventType(event.id).shape(payload)
    }

    /// Returns the true end of an event that is followed by something valid, but spans other events.
    fn spanned_events_end(
        &self,
        event: &Extent,
        constraints: TimeConstraints,
        after: TimeConstraints,
    ) -> Option<usize> {
        let next = prefix(&self.bytes[event.end..]).map(|(_, time)| time);
        let next_time = next
            .unwrap_or(constraints.bounds.to)
            .min(constraints.bounds.to);
        let until = |to: Nanos| TimeConstraints {
            bounds: Bounds {
                to,
                ..constraints.bounds
            },
            ..after
        };
        let long_pause = next.is_some_and(|next| next.since(event.time).0 > LONG_PAUSE);
        let is_confirmed = || event.is_variable() && self.is_sound_from(event.end, after);
        if long_pause && !is_undated(event.id) && !is_confirmed() {
            // Events at other offsets, dated before the pause, are more likely.
            let earlier = until(Nanos(event.time.0.saturating_add(LONG_PAUSE)));
            let found = (1..event.end).find(|&at| self.is_run_of(at, earlier, CONFIRMING_RUN));
            if found.is_some() {
                return found;
            }
        }
        self.end_before_spanned(event, after, until(next_time))
    }

    /// Returns the true end of an event that spans other events, which must satisfy `within`. `after` are the
    /// constraints behind the event.
    pub(crate) fn end_before_spanned(
        &self,
        event: &Extent,
        after: TimeConstraints,
        within: TimeConstraints,
    ) -> Option<usize> {
        if event.is_variable() {
            return match self.shape(event) {
                Shape::Whole => None,
                Shape::Ends(at) if self.tiles(event.payload + at, event.end, within) => {
                    Some(event.payload + at)
                }
                Shape::Ends(_) | Shape::Unknown => {
                    let hidden = self.hidden(event, within);
                    hidden.filter(|_| !self.is_sound_from(event.end, after))
                }
            };
        }
        if event.end < PREFIX + usize::from(LARGE_EVENT_BYTES) {
            return None;
        }
        let ends = self.header.shorter_ends(event.id).iter();
        let mut ends = ends.map(|&end| usize::from(end));
        let in_time = |at: usize| {
            prefix(&self.bytes[at..event.end]).is_some_and(|(id, time)| within.accepts(id, time))
        };
        ends.find(|&end| in_time(end) && self.tiles(end, event.end, within))
    }

    /// Whether many valid events start at `at`, or fewer that lead to the end of the block, the data or the
    /// buffer.
    fn is_sound_from(&self, mut at: usize, mut constraints: TimeConstraints) -> bool {
        for _ in 0..OVERRULING_RUN {
            if self.is_end(at) {
                return true;
            }
            let rest = &self.bytes[at..];
            match extent(self.header, rest) {
                Ok(event) if event.id == BLOCK_MARKER => return is_marker(rest),
                Ok(event) if constraints.accepts(event.id, event.time) => {
                    constraints = constraints.after_event(event.id, event.time);
                    at += event.end;
                }
                Err(NoEvent::Short(_)) => return self.cut || !self.whole,
                _ => return false,
            }
        }
        true
    }

    /// Returns the first offset inside an event from which other events fill it exactly. The work is bounded by
    /// the event's length.
    fn hidden(&self, event: &Extent, constraints: TimeConstraints) -> Option<usize> {
        let mut budget = 64 + event.end;
        (PREFIX..event.end).find(|&at| {
            let mut steps = 0;
            let tiles = budget > 0 && self.tile(at, event.end, constraints, &mut steps);
            budget = budget.saturating_sub(steps);
            tiles
        })
    }

    fn tiles(&self, from: usize, to: usize, constraints: TimeConstraints) -> bool {
        self.tile(from, to, constraints, &mut 0)
    }

    /// Whether two or more valid events fill the bytes from `from` to `to` exactly. A single one may be a
    /// coincidence, and would be no great loss.
    fn tile(
        &self,
        from: usize,
        to: usize,
        mut constraints: TimeConstraints,
        steps: &mut usize,
    ) -> bool {
        let mut pos = from;
        let before = *steps;
        while pos < to {
            *steps += 1;
            let rest = &self.bytes[pos..to];
            let Some((id, time)) = prefix(rest) else {
                return false;
            };
            if id == BLOCK_MARKER || is_undated(id) || !constraints.accepts(id, time) {
                return false;
            }
            let Ok(event) = extent(self.header, rest) else {
                return false;
            };
            constraints = constraints.after_event(id, time);
            pos += event.end;
        }
        pos == to && *steps >= before + 2
    }

    /// Accepts an event whose time does not fit between its neighbors, though the next event fits the previous
    /// one: it gets a time between them.
    ///
    /// If its time would fit between the previous event and the one after the next, either this event or the next
    /// can be wrong. In both cases, the earlier of their two times is right for this event, the later for the
    /// next.
    fn misdated(&self, event: Extent, constraints: TimeConstraints) -> Verdict {
        let next = extent(self.header, &self.bytes[event.end..]);
        let at = next.map_or(constraints.last, |next| next.time.max(constraints.last));
        let later = constraints.after_event(event.id, event.time);
        let fits = constraints.accepts(event.id, event.time) && event.time > at;
        let either = fits && next.is_ok_and(|next| self.follows(event.end + next.end, later));
        Verdict::Event {
            event: Extent {
                time: event.time.clamp(constraints.last, at),
                ..event
            },
            leads_on: false,
            latest: if either { event.time } else { at },
            damage_kind: Some(DamageKind::TimeOutsideBlock(event.time)),
        }
    }

    /// Returns alternative time constraints for a block.
    fn alternative_constraints(
        &self,
        constraints: TimeConstraints,
    ) -> impl Iterator<Item = TimeConstraints> {
        let alternative_constraints =
            [constraints.bounds, self.neighbor_bounds, Bounds::ANY].map(TimeConstraints::new);
        alternative_constraints
            .into_iter()
            .filter(move |other| *other != constraints)
    }

    /// If this event and those after it violate the time constraints, returns the constraints from here on.
    fn detect_other_times(&self, event: &Extent, constraints: TimeConstraints) -> Option<Verdict> {
        if self.is_end(event.end) || self.is_run_of(event.end, constraints, CONFIRMING_RUN) {
            return None;
        }
        let expect = |expected| {
            let kind = DamageKind::BlockTimes(event.time);
            Some(Verdict::Reconstrain(expected, kind))
        };
        // The block's own times are wrong, those of its neighbors are not.
        let unread = constraints.last == constraints.bounds.from;
        let widened = TimeConstraints {
            bounds: self.neighbor_bounds,
            last: if unread {
                self.neighbor_bounds.from
            } else {
                constraints.last
            },
            collection: constraints.collection.min(self.neighbor_bounds.from),
        };
        if widened != constraints && self.is_run_of(0, widened, CONFIRMING_RUN) {
            return expect(widened);
        }
        // The clock was set back, or a lone block's times are wrong.
        let far = (event.end + FAR).min(self.bytes.len());
        let mut alternative_constraints = self.alternative_constraints(constraints);
        let other =
            alternative_constraints.find(|&other| self.is_run_of(0, other, OVERRULING_RUN))?;
        let alone = self.resume(1, constraints, far).is_none();
        alone.then_some(other).and_then(expect)
    }
}

/// New constraints replace the current ones only if no event within this distance satisfies the current ones.
const FAR: usize = 4 << 10;

fn is_marker(bytes: &[u8]) -> bool {
    Marker::parse(bytes).is_some_and(|marker| marker.is_plausible())
}

/// Accepts an event before something that needs a closer look.
fn accept(event: Extent, damage_kind: Option<DamageKind>) -> Verdict {
    Verdict::Event {
        event,
        leads_on: false,
        latest: Nanos(0),
        damage_kind,
    }
}

/// Handles an event that spans those beginning at `end`. Its length is wrong; if it carries none, its type is.
fn ends_early(event: Extent, end: usize) -> Verdict {
    if event.is_variable() && end >= event.payload {
        let damage_kind = Some(DamageKind::Length(event.id));
        accept(Extent { end, ..event }, damage_kind)
    } else {
        Verdict::Skip(end, DamageKind::Misfit(event.id))
    }
}
