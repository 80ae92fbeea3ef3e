//! Is that an event? One look ahead, so that one damaged event costs itself and
//! hardly ever its neighbours.
//!
//! The events of a block are in the order of time, but for the end of a
//! collection, which the runtime dates back to when it was over, and for the start of
//! one as the first event of a block, which can be dated before the block was begun. So an event is
//! believed if its time fits between the one before and the next, and if
//! something sound stands where it ends: another event, a block marker, the end
//! of the data or of the block. If not, the next run of sound events is looked
//! for, and where that begins decides what is wrong:
//!
//! | the next sound events begin | what is wrong |
//! |---|---|
//! | right behind the event | its time: it keeps its place, at the time of its neighbours |
//! | inside of it | its type or length: it ends there, or is left out |
//! | later, or nowhere | what follows it, if its own time fits; else the event |
//!
//! An event that leads to something sound can still be wrong, if it reaches over
//! whole events. So a length is compared with what the fields themselves say,
//! and where they say nothing, events that would fit into it exactly are looked for.
//! An event with its own length is never shortened for the look of its payload alone if the events behind it are
//! sound: bytes that a program chose may look like events.

use serde::{Deserialize, Serialize};

use super::event::{EventType, Shape};
use super::header::{BLOCK_MARKER, Header, PayloadSize};
use super::problem::DamageKind;
use super::record::{Extent, Marker, NoEvent, PREFIX, extent, prefix};
use super::scan::{Bounds, is_undated, pass_zeros};
use crate::ids::Nanos;

/// The times that the next event of a block may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) bounds: Bounds,
    /// The latest event so far.
    pub(crate) last: Nanos,
    /// When the last collection began: its end is not dated before that.
    pub(crate) collection: Nanos,
}

impl Order {
    /// Of a block of which nothing is read.
    pub(crate) const fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            last: bounds.from,
            collection: bounds.from,
        }
    }

    /// Whether an event of that type and time can be the next.
    fn accepts(&self, id: u16, time: Nanos) -> bool {
        let earliest = if id == EventType::GC_END.0 {
            self.collection
        } else {
            self.last
        };
        is_undated(id) || (earliest <= time && time <= self.bounds.to)
    }

    /// What holds after such an event.
    pub(crate) fn after(mut self, id: u16, time: Nanos) -> Self {
        if id == EventType::GC_START.0 {
            self.collection = time;
        }
        if !is_undated(id) {
            self.last = self.last.max(time);
        }
        self
    }
}

/// What is to be done about the bytes where an event should begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Here is an event.
    Event {
        event: Extent,
        /// Whether what follows it is sound.
        leads_on: bool,
        /// The next event is not dated before this, nor before this event.
        latest: Nanos,
        /// What is wrong with it.
        told: Option<DamageKind>,
    },
    /// These bytes are no event.
    Skip(usize, DamageKind),
    /// The events from here on are sound, but for the times that were expected
    /// of them: these are the times that can be expected.
    Expect(Order, DamageKind),
    /// The end-of-data marker, at the end of the block.
    EndOfData,
    /// The file ends inside of the event that begins here.
    CutOff,
}

/// The rest of a block, as far as it is at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) header: &'a Header,
    pub(crate) bytes: &'a [u8],
    /// Whether the block ends where the bytes do.
    pub(crate) whole: bool,
    /// Whether the file ends there, before the block does.
    pub(crate) cut: bool,
    /// Beyond this many bytes nothing is looked for: more must be at hand for it.
    pub(crate) reach: usize,
    /// The times that the blocks around this one allow.
    pub(crate) wide: Bounds,
    /// The times of the capability's block before this one.
    pub(crate) previous: Option<Bounds>,
}

/// How many events in a row convince.
const CONVINCING: usize = 3;
/// How many convince against what was expected of a block's times.
const OVERWHELMING: usize = 16;
/// After a longer pause than this, it is looked whether events were passed over.
pub(super) const LONG_PAUSE: u64 = 50_000_000;
/// From this size on an event of fixed size could hold two whole events.
pub(super) const LARGE: u16 = 2 * PREFIX as u16;

impl<'a> View<'a> {
    /// A view of which no more is known than the bytes.
    pub(crate) const fn new(header: &'a Header, bytes: &'a [u8]) -> Self {
        Self {
            header,
            bytes,
            whole: false,
            cut: false,
            reach: bytes.len(),
            wide: Bounds::ANY,
            previous: None,
        }
    }

    /// What stands at the beginning.
    pub(crate) fn judge(&self, order: Order) -> Verdict {
        let event = match extent(self.header, self.bytes) {
            Err(NoEvent::EndOfData) if self.whole && !self.cut && self.bytes.len() == 2 => {
                return Verdict::EndOfData;
            }
            Err(why) => {
                let cut = self.cut && matches!(why, NoEvent::Short(_));
                return self.no_event(why.kind(), order, cut);
            }
            Ok(event) if event.id == BLOCK_MARKER => {
                return self.no_event(DamageKind::BlockMarker, order, false);
            }
            Ok(event) => event,
        };
        let fits = order.accepts(event.id, event.time) || self.precedes_block(&event, order);
        let after = order.after(event.id, event.time);
        if fits && self.follows(event.end, after) {
            if let Some(end) = self.passed_over(&event, order, after) {
                return ends_early(event, end);
            }
            return Verdict::Event {
                event,
                leads_on: true,
                latest: Nanos(0),
                told: None,
            };
        }
        if !fits && let Some(expected) = self.other_times(&event, order) {
            return expected;
        }
        let reach = self.reach.max(event.end + 1).min(self.bytes.len());
        let resumed = self.resume(1, order, reach);
        match resumed.or(self.is_end(event.end).then_some(event.end)) {
            Some(next) if next == event.end => self.misdated(event, order),
            Some(next) if next < event.end => {
                if fits && self.shape(&event) == Shape::Whole {
                    return believed(event, None);
                }
                if fits {
                    return ends_early(event, next);
                }
                Verdict::Skip(next, DamageKind::TimeOutsideBlock(event.time))
            }
            Some(next) if fits && self.run(next, after, CONVINCING) => believed(event, None),
            None if fits => believed(event, None),
            Some(next) => Verdict::Skip(next, DamageKind::TimeOutsideBlock(event.time)),
            None => self.no_event(DamageKind::TimeOutsideBlock(event.time), order, false),
        }
    }

    /// Whether this is a `GC_START` that caused the previous block to be written. The runtime takes the
    /// event's time before it makes room for the event; if it has to begin a new block for that, the event
    /// is dated before the block.
    fn precedes_block(&self, event: &Extent, order: Order) -> bool {
        let is_first = order.last == order.bounds.from;
        let previous = self
            .previous
            .filter(|_| is_first && event.id == EventType::GC_START.0);
        previous.is_some_and(|previous| previous.contains(event.time))
    }

    /// No event begins here: where the next one does. In a file that breaks
    /// off, what cannot be read to its end may be its last event.
    fn no_event(&self, kind: DamageKind, order: Order, cut: bool) -> Verdict {
        if let Some(next) = self.resume(1, order, self.reach) {
            return Verdict::Skip(next, kind);
        }
        // Perhaps the times before were wrong, or those of the block.
        let found = |at: usize| {
            let mut others = self.others(order);
            others.any(|other| self.run(at, other, OVERWHELMING))
        };
        match self.find_start(1, self.reach, found) {
            Some(next) => Verdict::Skip(next, kind),
            None if cut => Verdict::CutOff,
            None => Verdict::Skip(self.reach, kind),
        }
    }

    /// The first place from `from` on where a run of sound events begins.
    pub(crate) fn resume(&self, from: usize, order: Order, reach: usize) -> Option<usize> {
        self.find_start(from, reach, |at| self.run(at, order, CONVINCING))
    }

    /// The first place between `from` and `reach` that `is_start` accepts and where an event can begin: zeros, as a
    /// hole in a file has them, are passed over at once.
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

    /// Whether so many sound events stand at `at`, or fewer that lead to the
    /// end of the block or as far as can be seen.
    fn run(&self, at: usize, mut order: Order, count: usize) -> bool {
        let least = if count > CONVINCING { CONVINCING } else { 1 };
        let mut pos = at;
        for found in 0..count {
            match extent(self.header, &self.bytes[pos..]) {
                Ok(event) if event.id == BLOCK_MARKER => {
                    return found >= least && is_marker(&self.bytes[pos..]);
                }
                Ok(event) if order.accepts(event.id, event.time) => {
                    order = order.after(event.id, event.time);
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

    /// Whether something sound stands at `at`. An event that is dated back is
    /// sound if the next is in order again.
    fn follows(&self, mut at: usize, order: Order) -> bool {
        const MOST_DATED_BACK: usize = 4;
        for _ in 0..MOST_DATED_BACK {
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
            if !declared || !order.accepts(id, time) {
                return false;
            }
            if time >= order.last || is_undated(id) {
                return true;
            }
            match extent(self.header, rest) {
                Ok(event) => at += event.end,
                Err(_) => return self.cut || !self.whole,
            }
        }
        true
    }

    /// Whether the block ends at `at`, or the data do.
    fn is_end(&self, at: usize) -> bool {
        let rest = &self.bytes[at..];
        self.whole && (rest.is_empty() || rest == [0xFF, 0xFF])
    }

    /// What the fields say of an event's length.
    fn shape(&self, event: &Extent) -> Shape {
        if !event.is_variable() {
            return Shape::Unknown;
        }
        let payload = &self.bytes[event.payload..event.end];
        EventType(event.id).shape(payload)
    }

    /// Where an event that leads to something sound ends all the same: before
    /// the events that it would reach over.
    fn passed_over(&self, event: &Extent, order: Order, after: Order) -> Option<usize> {
        let next = prefix(&self.bytes[event.end..]).map(|(_, time)| time);
        let next_time = next.unwrap_or(order.bounds.to).min(order.bounds.to);
        let until = |to: Nanos| Order {
            bounds: Bounds { to, ..order.bounds },
            ..after
        };
        let long_pause = next.is_some_and(|next| next.since(event.time).0 > LONG_PAUSE);
        let is_confirmed = || event.is_variable() && self.is_sound_from(event.end, after);
        if long_pause && !is_undated(event.id) && !is_confirmed() {
            // Events at other places, dated before the pause, are more likely.
            let earlier = until(Nanos(event.time.0.saturating_add(LONG_PAUSE)));
            let found = (1..event.end).find(|&at| self.run(at, earlier, CONVINCING));
            if found.is_some() {
                return found;
            }
        }
        self.reached_over(event, after, until(next_time))
    }

    /// Where an event that is followed soon ends all the same: before events
    /// that it would reach over. `within` is what these must be like, `after` what follows the event.
    pub(crate) fn reached_over(
        &self,
        event: &Extent,
        after: Order,
        within: Order,
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
        if event.end < PREFIX + usize::from(LARGE) {
            return None;
        }
        let ends = self.header.shorter_ends(event.id).iter();
        let mut ends = ends.map(|&end| usize::from(end));
        let in_time = |at: usize| {
            prefix(&self.bytes[at..event.end]).is_some_and(|(id, time)| within.accepts(id, time))
        };
        ends.find(|&end| in_time(end) && self.tiles(end, event.end, within))
    }

    /// Whether many sound events stand at `at`, or fewer that reach to the end of the block, of the
    /// data or of what is at hand.
    fn is_sound_from(&self, mut at: usize, mut order: Order) -> bool {
        for _ in 0..OVERWHELMING {
            if self.is_end(at) {
                return true;
            }
            let rest = &self.bytes[at..];
            match extent(self.header, rest) {
                Ok(event) if event.id == BLOCK_MARKER => return is_marker(rest),
                Ok(event) if order.accepts(event.id, event.time) => {
                    order = order.after(event.id, event.time);
                    at += event.end;
                }
                Err(NoEvent::Short(_)) => return self.cut || !self.whole,
                _ => return false,
            }
        }
        true
    }

    /// The first place inside of an event from which other events fill it
    /// exactly. What is looked at is bounded by the event's length.
    fn hidden(&self, event: &Extent, order: Order) -> Option<usize> {
        let mut budget = 64 + event.end;
        (PREFIX..event.end).find(|&at| {
            let mut steps = 0;
            let tiles = budget > 0 && self.tile(at, event.end, order, &mut steps);
            budget = budget.saturating_sub(steps);
            tiles
        })
    }

    fn tiles(&self, from: usize, to: usize, order: Order) -> bool {
        self.tile(from, to, order, &mut 0)
    }

    /// Whether two or more sound events stand one behind the other from `from` to
    /// `to`. One alone may be there by chance, and would be no great loss.
    fn tile(&self, from: usize, to: usize, mut order: Order, steps: &mut usize) -> bool {
        let mut pos = from;
        let before = *steps;
        while pos < to {
            *steps += 1;
            let rest = &self.bytes[pos..to];
            let Some((id, time)) = prefix(rest) else {
                return false;
            };
            if id == BLOCK_MARKER || is_undated(id) || !order.accepts(id, time) {
                return false;
            }
            let Ok(event) = extent(self.header, rest) else {
                return false;
            };
            order = order.after(id, time);
            pos += event.end;
        }
        pos == to && *steps >= before + 2
    }

    /// An event whose time does not fit between its neighbours, of which the next
    /// fits the one before: it takes a time between them.
    ///
    /// If its time would fit between the one before and the next but one, either
    /// this event or the next can be wrong. The earlier of their two times is
    /// right for this event in either case, the later for the next.
    fn misdated(&self, event: Extent, order: Order) -> Verdict {
        let next = extent(self.header, &self.bytes[event.end..]);
        let at = next.map_or(order.last, |next| next.time.max(order.last));
        let later = order.after(event.id, event.time);
        let fits = order.accepts(event.id, event.time) && event.time > at;
        let either = fits && next.is_ok_and(|next| self.follows(event.end + next.end, later));
        Verdict::Event {
            event: Extent {
                time: event.time.clamp(order.last, at),
                ..event
            },
            leads_on: false,
            latest: if either { event.time } else { at },
            told: Some(DamageKind::TimeOutsideBlock(event.time)),
        }
    }

    /// What else could be expected of the times in a block.
    fn others(&self, order: Order) -> impl Iterator<Item = Order> {
        let others = [order.bounds, self.wide, Bounds::ANY].map(Order::new);
        others.into_iter().filter(move |other| *other != order)
    }

    /// If not only this event is at another time than was expected, but those
    /// after it are too: the times to expect from here on.
    fn other_times(&self, event: &Extent, order: Order) -> Option<Verdict> {
        if self.is_end(event.end) || self.run(event.end, order, CONVINCING) {
            return None;
        }
        let expect = |expected| {
            let kind = DamageKind::BlockTimes(event.time);
            Some(Verdict::Expect(expected, kind))
        };
        // The block's own times are wrong, those of its neighbours are not.
        let unread = order.last == order.bounds.from;
        let widened = Order {
            bounds: self.wide,
            last: if unread { self.wide.from } else { order.last },
            collection: order.collection.min(self.wide.from),
        };
        if widened != order && self.run(0, widened, CONVINCING) {
            return expect(widened);
        }
        // The clock was set back, or a lone block's times are wrong.
        let far = (event.end + FAR).min(self.bytes.len());
        let mut others = self.others(order);
        let other = others.find(|&other| self.run(0, other, OVERWHELMING))?;
        let alone = self.resume(1, order, far).is_none();
        alone.then_some(other).and_then(expect)
    }
}

/// How far beyond an event one in the expected order is looked for, before
/// another order is expected.
const FAR: usize = 4 << 10;

fn is_marker(bytes: &[u8]) -> bool {
    Marker::parse(bytes).is_some_and(|marker| marker.is_plausible())
}

/// An event before something that must be looked at closely.
fn believed(event: Extent, told: Option<DamageKind>) -> Verdict {
    Verdict::Event {
        event,
        leads_on: false,
        latest: Nanos(0),
        told,
    }
}

/// An event reaches over those that begin at `end`. Its length is wrong, or it
/// has none: then its type is.
fn ends_early(event: Extent, end: usize) -> Verdict {
    if event.is_variable() && end >= event.payload {
        let told = Some(DamageKind::Length(event.id));
        believed(Extent { end, ..event }, told)
    } else {
        Verdict::Skip(end, DamageKind::Misfit(event.id))
    }
}
