//! Graphs: the value of each series in the bucket that is drawn at a time.

use crate::scene::{format, words};
use crate::session::Session;
use analysis::timeline::details::{DetailsQuery, Fact};
use analysis::timeline::graphs::series;
use eventlog::ids::Nanos;
use model::class::Class;
use model::gauge::Buckets;
use model::lane::Lane;
use model::marks::Values;
use model::time::Span;

/// Of how many capabilities the shares are told one by one.
const MOST_CAPS: usize = 64;

/// The bucket that is drawn where the span begins, if it is a pixel.
fn bucket(span: Span) -> u64 {
    let length = span.duration().0.clamp(1, 1 << 62);
    length.next_power_of_two()
}

impl Session {
    pub(super) fn graph_details(&self, query: &DetailsQuery) -> Vec<Fact> {
        let start = query.span.start;
        let buckets = Buckets {
            view: Span::new(start, Nanos(start.0.saturating_add(1))),
            bucket_ns: bucket(query.span),
            end_ns: self.recording.end().0,
        };
        let recording = &self.recording;
        let values = recording
            .tracks
            .values(&recording.numbers, query.row, buckets);
        let Some(list) = series(query.row) else {
            return Vec::new();
        };
        let fact = |(number, name): (u8, &&str)| {
            let found = values.iter().find(|(series, _)| *series == number);
            // Rates that are nothing are not drawn, but known.
            let of = match found {
                Some((_, stretch)) => stretch.values,
                None if list.is_rate() => Values::one(0.0),
                None => return None,
            };
            Some(Fact::new(*name, words::values(list.unit, of)))
        };
        (0..).zip(list.names).filter_map(fact).collect()
    }

    /// For what share of the bucket each capability ran Haskell code, and
    /// collected.
    pub(super) fn activity_details(&self, query: &DetailsQuery) -> Vec<Fact> {
        let length = bucket(query.span);
        let start = query.span.start.0 / length * length;
        let span = Span::new(Nanos(start), Nanos(start.saturating_add(length)));
        let store = &self.recording.store;
        let share = |time: u64| format::fraction(time as f64 / length as f64);
        let (mut running, mut collecting, mut caps) = (0u64, 0u64, 0usize);
        let mut each = Vec::new();
        for (cap, _) in self.recording.info.lives.caps() {
            let Some(lanes) = store.cap(cap) else {
                continue;
            };
            let ran = lanes.runs.time_in(span);
            let ran = ran[Class::Running as usize];
            let times = lanes.gc.time_in(span);
            let gc: u64 = Class::ALL
                .into_iter()
                .filter(|class| class.is_gc())
                .map(|class| times[class as usize])
                .sum();
            running = running.saturating_add(ran);
            collecting = collecting.saturating_add(gc);
            caps += 1;
            if caps <= MOST_CAPS {
                let text = format!("running {}, collecting {}", share(ran), share(gc));
                each.push(Fact::new(format!("capability {cap}"), text));
            }
        }
        let mean = |time: u64| format!("{:.2} of {caps}", time as f64 / length as f64);
        let mut facts = vec![
            Fact::new("running", mean(running)),
            Fact::new("collecting", mean(collecting)),
        ];
        facts.append(&mut each);
        facts
    }
}
