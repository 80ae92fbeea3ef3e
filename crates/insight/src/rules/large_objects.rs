//! Is most of what is allocated large objects?
//!
//! An object of 3 KiB or more gets blocks of its own. It is never copied, but its memory is fresh each time: it has
//! to be taken from the block allocator and, in most cases, written before it is used. An allocation area holds small
//! objects only, so what was allocated beyond it before a collection was large objects.
//!
//! A chunk of a stack is one, too. A recursion that is deep again and again takes new chunks each time: the thread
//! stops for each.

use super::gc_sync_straggler::{late_by_thread, late_stops};
use super::prelude::*;
use crate::threads::median;
use model::class::StopCode;

/// Minimum share of allocation that is certainly large objects.
const MIN_SHARE: f64 = 0.20;
/// Minimum allocation per second; with less, making the objects takes little of the time.
const MIN_PER_SECOND: f64 = 1e9;
/// Allocation per second above which the rest is probably large objects, which are made by copying memory: loops that
/// make nothing but small objects reached 10.6 GB/s on one machine, and 20.6 GB/s on a faster one.
const SMALL_PER_SECOND: f64 = 24e9;
/// Share of minor collections that large objects caused, from which most of the allocation is such objects.
const BY_LARGE: f64 = 0.90;
const MOST: f64 = 0.50;
/// Minimum allocation per second of running time for that, and maximum share of it that is copied.
const MIN_PER_RUNNING_SECOND: f64 = 4e9;
const HARDLY_COPIED: f64 = 0.005;
/// Share of the area that a capability leaves empty at most, if small objects filled it.
const FILLED: f64 = 0.90;
/// Large objects per second from which making them takes much of the time: 1 GB/s took 85 % of it when measured.
const MUCH_PER_SECOND: f64 = 5e8;
/// Minimum allocation in all; less is over soon.
const MIN_BYTES: u64 = 500_000_000;
/// Minimum number of minor collections for a median.
const MIN_COUNT: usize = 50;

/// Minimum share of the waits for capabilities to stop that one thread caused, and minimum share of capability time
/// lost by them: then it is the copies that the others wait for.
const MIN_LATE: f64 = 0.70;
const MIN_LOST: f64 = 0.02;

pub(super) const RULE: Rule = Rule {
    name: "large-objects",
    question: "Are large objects much of the allocation?",
    inputs: &[Input::GcStatistics],
    evaluate: yielding!(evaluate),
};

/// Allocation between collections.
struct Allocation {
    area: u64,
    all: u64,
    /// Median that one capability allocated.
    usual: u64,
    /// Median of its rate, in bytes a second.
    usual_rate: f64,
    /// Share of minor collections that large objects caused, and what was copied by those.
    by_large: f64,
    copied: f64,
    collections: usize,
}

impl Allocation {
    async fn new(context: &RuleContext<'_>) -> Self {
        let area = context.allocation_area_bytes();
        let (mut before, mut rates, mut steps) = (Vec::new(), Vec::new(), context.steps());
        let (mut minors, mut by_large, mut copied, mut all) = (0_u64, 0_u64, 0_u64, 0_u64);
        let collections = context.collections_where(|gc| gc.statistics.is_some());
        let mut collections = collections.peekable();
        let mut last_end = None;
        while let Some((_, gc)) = collections.next() {
            steps.step().await;
            // A collection logs the allocation before it after its own start.
            let Some((_, next)) = collections.peek() else {
                break;
            };
            let numbers = &context.log.numbers;
            let most = numbers.most_allocated_bytes(gc.pause.start, next.pause.start);
            before.push(most);
            if let Some(last_end) = last_end.replace(gc.pause.end) {
                let ns = gc.pause.requested.0.saturating_sub(last_end.0);
                rates.push(most as f64 * 1e9 / ns.max(1) as f64);
            }
            let allocated = gc.statistics.map_or(0, |of| of.allocated_bytes).max(most);
            all = all.saturating_add(allocated);
            if let Some(statistics) = gc.statistics.filter(|_| !gc.is_major) {
                minors += 1;
                copied = copied.saturating_add(statistics.copied_bytes);
                // Large objects cause a collection if they are as large as an area in sum; small ones, if they fill
                // the area of one capability.
                let is_full = context.caps > 1 && most as f64 >= area as f64 * FILLED;
                by_large += u64::from(allocated >= area && !is_full);
            }
        }
        rates.sort_unstable_by(f64::total_cmp);
        Self {
            area,
            all,
            usual: median(&mut before),
            usual_rate: rates.get(rates.len() / 2).copied().unwrap_or(0.0),
            by_large: by_large as f64 / minors.max(1) as f64,
            copied: copied as f64 / all.max(1) as f64,
            collections: before.len(),
        }
    }

    /// Returns the share of large objects at least, and how it is known.
    fn large(&self, running_ns: u64) -> (f64, HowKnown) {
        let beyond = self.usual.saturating_sub(self.area) as f64 / self.usual.max(1) as f64;
        let by_rate = 1.0 - SMALL_PER_SECOND / self.usual_rate.max(1.0);
        let per_second = self.all as f64 * 1e9 / running_ns.max(1) as f64;
        let is_by_large = self.by_large >= BY_LARGE
            && self.copied < HARDLY_COPIED
            && per_second >= MIN_PER_RUNNING_SECOND;
        let by_cause = if is_by_large { MOST } else { 0.0 };
        let all = [
            (beyond, HowKnown::BeyondArea),
            (by_cause, HowKnown::ByCause),
            (by_rate, HowKnown::ByRate),
        ];
        { all.into_iter() }.fold((0.0, HowKnown::BeyondArea), |best, one| {
            if one.0 > best.0 { one } else { best }
        })
    }

    fn explain(&self, how_known: HowKnown) -> String {
        match how_known {
            HowKnown::BeyondArea => format!(
                "Small objects fill at most the allocation area of {}, but {} were allocated before each collection",
                format::bytes(self.area),
                format::bytes(self.usual)
            ),
            HowKnown::ByCause => format!(
                "Before {} of minor collections, more was allocated than the area of {} holds, and hardly anything was copied, as if large objects caused them",
                format::fraction(self.by_large),
                format::bytes(self.area)
            ),
            HowKnown::ByRate => format!(
                "Between two collections a capability allocated {} a second, more than small objects reach",
                format::bytes(self.usual_rate as u64)
            ),
        }
    }
}

/// Evidence of large objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HowKnown {
    /// More was allocated than small objects fill.
    BeyondArea,
    /// Collections began that small objects do not cause.
    ByCause,
    /// Small objects are not allocated that fast.
    ByRate,
}

/// Claims what is unclaimed of the stopping times that one thread caused by most late stops. Copying a large object is
/// one step for the runtime: a collection waits until it is done. Returns the thread, with the time that each other
/// capability waited.
fn claim_stops(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Option<Stops> {
    let others = context.caps.checked_sub(1).filter(|others| *others > 0)?;
    let mut late = late_stops(context, 0);
    let by_thread = late_by_thread(&late);
    let all_ns = by_thread.values().copied().fold(0, u64::saturating_add);
    let (thread, ns) = by_thread.into_iter().max_by_key(|(_, ns)| *ns)?;
    let is_cause = ns as f64 >= MIN_LATE * all_ns as f64
        && context.share_of_caps(ns.saturating_mul(others)) >= MIN_LOST;
    late.retain(|one| is_cause && one.thread == thread && loss_budget.claim_sync(one.index));
    let ns = { late.iter() }.map(|one| one.late_ns);
    let ns = ns.fold(0, u64::saturating_add);
    is_cause.then(|| Stops {
        thread,
        ns,
        claimed_ns: loss_budget.claim(Pool::Stopping, ns.saturating_mul(others)),
    })
}

/// Time that collections waited for a thread that copies large objects.
struct Stops {
    thread: ThreadId,
    ns: u64,
    /// Capability time divided by capabilities.
    claimed_ns: u64,
}

impl Stops {
    /// Adds the waits to a finding about large objects.
    fn explain(&self, context: &RuleContext<'_>, finding: &mut Finding) {
        let by_share = Severity::of_share(context.share(self.claimed_ns));
        finding.severity = finding.severity.max(by_share);
        finding.claimed_ns = self.claimed_ns;
        finding.meaning = format!(
            "{} While a thread copies a large object it cannot stop for a collection: the others waited {} for {}.",
            finding.meaning,
            format::duration_ns(self.ns),
            context.thread_name(self.thread)
        )
        .into();
        let waited = ("others waited for copies".into(), Value::Ns(self.ns));
        finding.numbers.push(waited);
    }
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    let allocation = Allocation::new(context).await;
    let Allocation {
        area, all, usual, ..
    } = allocation;
    if allocation.collections < MIN_COUNT {
        return Outcome::Clear(format!(
            "there were {}; the limit is {MIN_COUNT}",
            format::pluralize(allocation.collections as u64, "collection")
        ));
    }
    let per_second = context.per_second(all);
    let is_much = all >= MIN_BYTES && per_second >= MIN_PER_SECOND;
    if is_much {
        let chunks = StackChunks::count(context);
        let of_stacks = chunks.bytes() as f64 / all as f64;
        if of_stacks >= MIN_SHARE {
            return Outcome::Found(vec![chunks.finding(context, (all, of_stacks))]);
        }
    }
    let (share, how_known) = allocation.large(context.times.all_caps().running_ns);
    if share < MIN_SHARE || !is_much {
        return Outcome::Clear(format!(
            "{} were allocated before a collection, with an area of {}, and {} a second; the limits are a fifth of that beyond the area, 500 MB in total, and 1 GB a second",
            format::bytes(usual),
            format::bytes(area),
            format::bytes(per_second as u64)
        ));
    }
    let large_bytes = (all as f64 * share) as u64;
    let title = format!(
        "{} or more of {} allocated are large objects, {} a second",
        format::fraction(share),
        format::bytes(all),
        format::bytes((per_second * share) as u64)
    );
    let mut finding = Finding::new(RULE.name, Axis::Time, title);
    finding.severity = match per_second * share >= MUCH_PER_SECOND {
        true => Severity::Medium,
        false => Severity::Low,
    };
    finding.confidence = match how_known {
        HowKnown::ByRate => Confidence::Hint,
        HowKnown::BeyondArea | HowKnown::ByCause => Confidence::Probable,
    };
    finding.cost = Value::Bytes(large_bytes);
    finding.share = share;
    let why = allocation.explain(how_known);
    finding.meaning = format!(
        "{why}. Large objects are arrays, long integers or buffers of 3 KiB and more. Each is fresh memory that must be filled, and misses the processor's caches. This costs mutator time."
    )
    .into();
    finding.tries = Advice::code_changes([
        "Do not append or update piece by piece: each (<>) of a strict ByteString or Text, and each (//) of an immutable array or vector, copies all of it. Collect the pieces and join them once (concat, a Builder), or update in place (STUArray, a mutable vector).",
        "Allocate one buffer or array, and reuse it for each piece of work.",
        "Process data in smaller pieces that stay in the processor's cache.",
    ]);
    finding.distrust =
        "Data that the program must produce, such as its result, must be allocated once.".into();
    finding.set_numbers([
        ("allocated", Value::Bytes(all)),
        ("before a collection", Value::Bytes(usual)),
        ("allocation area", Value::Bytes(area)),
    ]);
    let stops = claim_stops(context, loss_budget);
    if let Some(stops) = &stops {
        stops.explain(context, &mut finding);
    }
    let evidence = Evidence {
        range: context.range,
        subjects: { stops.iter() }
            .map(|it| Subject::Thread(it.thread))
            .collect(),
        amount: Value::Bytes(large_bytes),
    };
    Outcome::Found(vec![finding.with_evidence([evidence])])
}

/// Chunks that stacks grew by.
struct StackChunks {
    count: u64,
    each_bytes: u64,
}

impl StackChunks {
    fn count(context: &RuleContext<'_>) -> Self {
        let store = &context.log.store;
        Self {
            count: store.runs_ended_by(StopCode::STACK_OVERFLOW, context.range) as u64,
            each_bytes: context.stack_chunk_bytes(),
        }
    }

    const fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.each_bytes)
    }

    fn finding(&self, context: &RuleContext<'_>, (all_bytes, share): (u64, f64)) -> Finding {
        let title = format!(
            "Stacks grew by a chunk {}: {} of all that was allocated",
            format::pluralize(self.count, "time"),
            format::fraction(share)
        );
        let mut finding = Finding::new(RULE.name, Axis::Time, title);
        finding.severity = Severity::Medium;
        finding.confidence = Confidence::Certain;
        finding.cost = Value::Bytes(self.bytes());
        finding.share = share;
        finding.meaning = format!(
            "A thread that recurses deeply takes stack chunks of {}, and drops them when it returns: here again and again, {} in total. Each is fresh memory, and the thread stops for it.",
            format::bytes(self.each_bytes),
            format::bytes(self.bytes())
        )
        .into();
        finding.tries = vec![
            Advice::code(
                "Do not append to the end of a list again and again: left-nested (++) recurses through all of it each time. Collect the pieces in a Builder, a difference list or a Seq.",
            ),
            Advice::code("Use an accumulator (foldl', not foldr or foldl), so that no calls wait."),
            Advice::flag(
                "-kc256k",
                "Take larger chunks. The gain is not certain: measure it. One program took 32 % less time, another 6 % more.",
                "memory: as much for each thread whose stack grows",
            ),
        ];
        finding.distrust = "A recursion may be as deep as its data, such as a tree.".into();
        finding.set_numbers([
            ("stack chunks", Value::Count(self.count)),
            ("allocated", Value::Bytes(all_bytes)),
        ]);
        finding.with_evidence([Evidence::new(context.range, Value::Bytes(self.bytes()))])
    }
}
