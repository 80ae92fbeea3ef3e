//! Parser of Perfetto's format. Checks that tracks are declared and texts interned before use, slices of a track
//! are nested and closed, and flows have two ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use export::formats::perfetto::messages::{
    EventType, InternedData, InternedName, Trace, TracePacket, TrackEvent,
};
use prost::Message;

use super::{Tally, add};

#[derive(Default)]
struct Texts(HashMap<u64, String>);

impl Texts {
    fn learn(&mut self, names: &[InternedName]) {
        for name in names {
            let known = self.0.insert(name.iid(), name.name().to_owned());
            assert!(name.iid() > 0 && known.is_none(), "a number has one text");
        }
    }
    fn of(&self, number: u64) -> String {
        self.0.get(&number).expect("the text was told").clone()
    }
}

#[derive(Default)]
struct Reader {
    tally: Tally,
    categories: Texts,
    names: Texts,
    arguments: Texts,
    tracks: BTreeMap<u64, String>,
    counters: BTreeMap<u64, String>,
    /// Begins and ends of the slices of each track: time, index of the packet, category of a begin.
    ends: BTreeMap<u64, Vec<(u64, usize, Option<String>)>>,
    flows: BTreeMap<u64, u64>,
    ended: BTreeSet<u64>,
}

/// Counts the content of a trace.
pub(crate) fn read(bytes: &[u8]) -> Tally {
    let trace = Trace::decode(bytes).expect("a trace");
    let mut reader = Reader::default();
    let mut flags = trace.packet.iter().map(TracePacket::sequence_flags);
    assert_eq!(flags.next(), Some(1), "it begins without what was before");
    assert!(flags.all(|flags| flags == 2));
    for (place, packet) in trace.packet.iter().enumerate() {
        assert_eq!(packet.trusted_packet_sequence_id(), 1);
        reader.packet(place, packet);
    }
    reader.finish()
}

impl Reader {
    fn packet(&mut self, place: usize, packet: &TracePacket) {
        if let Some(InternedData {
            event_categories,
            event_names,
            debug_annotation_names,
        }) = &packet.interned_data
        {
            self.categories.learn(event_categories);
            self.names.learn(event_names);
            self.arguments.learn(debug_annotation_names);
        }
        if let Some(track) = &packet.track_descriptor {
            let parent = track.parent_uuid;
            assert!(parent.is_none_or(|parent| self.tracks.contains_key(&parent)));
            assert!(parent.is_some() != track.process.is_some());
            let process = track.process.as_ref();
            let name = process.map_or(track.name(), |process| process.process_name());
            let before = self.tracks.insert(track.uuid(), name.to_owned());
            assert!(before.is_none() && track.uuid() > 0);
            if track.counter.is_some() {
                self.counters.insert(track.uuid(), name.to_owned());
            }
        }
        if let Some(event) = &packet.track_event {
            self.event(packet.timestamp.expect("a time"), place, event);
        }
    }

    fn event(&mut self, at: u64, place: usize, event: &TrackEvent) {
        let track = event.track_uuid();
        let lane = self.tracks.get(&track).expect("a track").clone();
        let categories = event.category_iids.iter();
        let category = categories.map(|&number| self.categories.of(number)).next();
        for argument in &event.debug_annotations {
            self.arguments.of(argument.name_iid());
            assert!(argument.value.is_some());
        }
        let interned = event.name_iid.map(|name| self.names.of(name));
        if category.as_deref() == Some("blocked") {
            let name = interned.unwrap_or_else(|| event.name().to_owned());
            *self.tally.blocked.entry(name).or_default() += 1;
        }
        let is_named = event.name_iid.is_some() || event.name.is_some();
        let is_counter = self.counters.contains_key(&track);
        assert_eq!(is_counter, event.r#type() == EventType::Counter);
        for &flow in &event.flow_ids {
            assert!(self.flows.insert(flow, at).is_none(), "a flow begins once");
        }
        for &flow in &event.terminating_flow_ids {
            assert!(self.flows.get(&flow).is_some_and(|from| *from <= at));
            assert!(self.ended.insert(flow), "a flow ends once");
        }
        match event.r#type() {
            EventType::SliceBegin => {
                assert!(is_named && category.is_some());
                self.ends
                    .entry(track)
                    .or_default()
                    .push((at, place, category));
            }
            EventType::SliceEnd => {
                self.ends.entry(track).or_default().push((at, place, None));
            }
            EventType::Instant => {
                assert!(is_named);
                let category = category.expect("a category");
                *self.tally.instants.entry((lane, category)).or_default() += 1;
            }
            EventType::Counter => {
                let value = u64::try_from(event.counter_value()).expect("not below 0");
                let counter = self.tally.counters.entry(lane).or_default();
                *counter = (counter.0 + 1, value);
            }
            EventType::Unspecified => panic!("an event without a type"),
        }
    }

    fn finish(mut self) -> Tally {
        assert_eq!(self.flows.len(), self.ended.len());
        self.tally.arrows = self.flows.len() as u64;
        for (track, mut ends) in self.ends {
            // Readers sort by time; packets with equal times keep their order.
            ends.sort_by_key(|&(at, place, _)| (at, place));
            let mut open = Vec::new();
            for (at, _, begin) in ends {
                match begin {
                    Some(category) => open.push((at, category)),
                    None => {
                        let (from, category) = open.pop().expect("it has begun");
                        let lane = self.tracks[&track].clone();
                        add(&mut self.tally.spans, (lane, category), at - from);
                    }
                }
            }
            assert!(open.is_empty(), "each slice is closed");
        }
        self.tally
    }
}
