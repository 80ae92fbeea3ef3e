//! Collections of the program.

use crate::scene::format;
use crate::session::Session;
use analysis::numbers::Collection;
use analysis::timeline::details::{DetailsQuery, Fact, Lead};
use analysis::timeline::row::Row;
use eventlog::ids::Nanos;
use model::time::Span;

impl Session {
    /// Of one collection, or the wait before it, everything that the runtime
    /// tells; of several, their sums and the longest.
    pub(super) fn collection_details(&self, query: &DetailsQuery) -> Vec<Fact> {
        let all = self.recording.numbers.all_collections();
        let lane = self.recording.tracks.collections.lane();
        let mut numbers: Vec<u32> = lane.within(query.span).map(|piece| piece.detail).collect();
        numbers.dedup();
        let found = numbers
            .iter()
            .filter_map(|number| all.get((*number as usize).checked_sub(1)?));
        if query.many {
            several(found)
        } else {
            let one = found.into_iter().next();
            one.map_or_else(Vec::new, |collection| self.one(collection, all.len()))
        }
    }

    fn one(&self, gc: &Collection, in_all: usize) -> Vec<Fact> {
        let span = Span::new(gc.start, gc.end);
        let number = format::count(gc.number.into());
        let oldest = if self.recording.numbers.is_oldest(gc.generation) {
            ", the oldest"
        } else {
            ""
        };
        let kind = match gc.threads {
            0 | 1 => "sequential".to_owned(),
            threads => format!("parallel, {threads} threads"),
        };
        let mut facts = vec![
            Fact::new(
                "collection",
                format!("{number} of {}", format::count(in_all as u64)),
            )
            .leading(Lead::Other, Row::Collections, span),
            Fact::new("generation", format!("{}{oldest}", gc.generation)),
            Fact::new("kind", kind),
            Fact::new("led by", format!("capability {}", gc.cap)).leading(
                Lead::Other,
                Row::Cap(gc.cap),
                span,
            ),
            Fact::new("pause", format::duration(Nanos(gc.pause_ns()))),
        ];
        let mut add = |label: &str, text: Option<String>| {
            facts.extend(text.map(|text| Fact::new(label, text)));
        };
        let wait = gc.sync_ns.map(|wait| format::duration(Nanos(wait)));
        add("until all had stopped", wait);
        add("copied", Some(format::bytes(gc.copied_bytes)));
        add("live after", gc.live_bytes.map(format::bytes));
        add("heap size", gc.heap_size_bytes.map(format::bytes));
        let allocated = format::bytes(gc.allocated_bytes);
        add("allocated since the last one", Some(allocated));
        add("balance", gc.balance().map(format::fraction));
        add("fragmentation", Some(format::bytes(gc.fragmentation_bytes)));
        add("slop", Some(format::bytes(gc.slop_bytes)));
        facts
    }
}

fn several<'a>(found: impl Iterator<Item = &'a Collection>) -> Vec<Fact> {
    let (mut count, mut pauses_ns, mut copied) = (0u64, 0u64, 0u64);
    let mut longest: Option<&Collection> = None;
    for gc in found {
        count += 1;
        pauses_ns = pauses_ns.saturating_add(gc.pause_ns());
        copied = copied.saturating_add(gc.copied_bytes);
        if longest.is_none_or(|longest| longest.pause_ns() < gc.pause_ns()) {
            longest = Some(gc);
        }
    }
    let Some(longest) = longest else {
        return Vec::new();
    };
    let text = format!(
        "{}, collection {}",
        format::duration(Nanos(longest.pause_ns())),
        longest.number
    );
    let span = Span::new(longest.start, longest.end);
    vec![
        Fact::new("collections", format::count(count)),
        Fact::new("pauses in all", format::duration(Nanos(pauses_ns))),
        Fact::new("longest", text).leading(Lead::Other, Row::Collections, span),
        Fact::new("copied", format::bytes(copied)),
    ]
}
