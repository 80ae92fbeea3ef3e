//! Do threads that begin together have uneven parts, again and again?
//!
//! A program that starts a thread for each part of a step, and waits for all, is as fast as its longest part. A single
//! such step is a stretch in which one thread works alone; if there are many, each is too short to be looked at by
//! itself.

use super::one_worker::uneven_advice;
use super::prelude::*;
use crate::threads::FinishedThread;

/// Minimum number of such groups; fewer are examined as stretches.
const MIN_GROUPS: usize = 5;
/// Minimum share of the running time of finished threads in groups of which one works on alone.
const MOST_GROUPS: f64 = 0.50;
/// Minimum share of a life, after the end of all others of the group.
const ALONE: f64 = 0.50;
/// Minimum share of its life in which that thread runs: otherwise it waits for something.
const BUSY: f64 = 0.50;
/// Maximum time between the first and the last start of a group, as a share of its longest life.
const TOGETHER: f64 = 0.05;
/// Minimum work of another thread of the group, as a share of the longest.
const LITTLE: f64 = 0.01;
/// Maximum work of any other thread of the group, as a share of the longest.
const UNEVEN: f64 = 0.67;
/// Minimum share of the program's time in which one works alone.
const MIN_SHARE: f64 = 0.10;

pub(super) const RULE: Rule = Rule {
    name: "uneven-parts",
    question: "Do threads that begin together have uneven parts, again and again?",
    inputs: &[Input::Threads],
    evaluate: yielding!(evaluate),
};

/// Threads that began together.
struct Group<'t> {
    longest: &'t FinishedThread,
    /// The one of the others that ran longest.
    next: &'t FinishedThread,
    threads: u64,
    ran_ns: u64,
    /// Time of the longest after the end of all others.
    alone_ns: u64,
}

impl<'t> Group<'t> {
    /// Returns the group if one of its threads works on alone for long, and another one worked, too.
    fn new(threads: &'t [FinishedThread]) -> Option<Self> {
        let longest = threads.iter().max_by_key(|one| one.life.end())?;
        let others = || threads.iter().filter(|one| one.thread != longest.thread);
        let next = others().max_by_key(|one| one.ran_ns)?;
        let ended = others().map(|one| one.life.end().0).max()?;
        let alone_ns = longest.life.end().0.saturating_sub(ended);
        let life_ns = longest.life.duration().0 as f64;
        let is_alone = alone_ns as f64 >= ALONE * life_ns;
        let is_busy = longest.ran_ns as f64 >= BUSY * life_ns;
        let share = next.ran_ns as f64 / longest.ran_ns.max(1) as f64;
        (is_alone && is_busy && (LITTLE..=UNEVEN).contains(&share)).then(|| Self {
            longest,
            next,
            threads: threads.len() as u64,
            ran_ns: threads.iter().map(|one| one.ran_ns).sum(),
            alone_ns,
        })
    }
}

/// Divides threads, in order of their starts, into those that began together, and returns the uneven groups.
fn groups(threads: &[FinishedThread]) -> Vec<Group<'_>> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(first) = threads.get(from) {
        let mut longest_ns = first.life.duration().0;
        let rest = threads.iter().skip(from + 1).take_while(|one| {
            longest_ns = longest_ns.max(one.life.duration().0);
            let apart_ns = one.life.start().0.saturating_sub(first.life.start().0);
            apart_ns as f64 <= TOGETHER * longest_ns as f64
        });
        let to = from + 1 + rest.count();
        found.extend(Group::new(&threads[from..to]));
        from = to;
    }
    found
}

async fn evaluate(context: &RuleContext<'_>, loss_budget: &mut LossBudget) -> Outcome {
    if context.caps < 2 {
        return Outcome::Clear("there is one capability".into());
    }
    let mut threads = context.finished_threads().await;
    context.sort(&mut threads).await;
    let mut found = groups(&threads);
    found.retain(|group| !context.have_different_roles(group.longest.thread, group.next.thread));
    let sum = |of: fn(&Group<'_>) -> u64| found.iter().map(of).fold(0, u64::saturating_add);
    let (alone_ns, ran_ns) = (sum(|group| group.alone_ns), sum(|group| group.ran_ns));
    let all_ns = threads.iter().map(|one| one.ran_ns).sum::<u64>();
    if found.len() < MIN_GROUPS
        || (ran_ns as f64) < MOST_GROUPS * all_ns as f64
        || context.share(alone_ns) < MIN_SHARE
    {
        return Outcome::Clear(format!(
            "in {} of threads that began together, one worked on alone for half of its life or longer, for {} of the time in all; the limits are 5 and 10 %",
            format::pluralize(found.len() as u64, "group"),
            format::fraction(context.share(alone_ns))
        ));
    }
    let longest_ns = sum(|group| group.longest.ran_ns);
    let title = format!(
        "{} groups of {} that began together were uneven: one thread of each did {} of the work",
        format::count(found.len() as u64),
        format::pluralize(sum(|group| group.threads) / found.len() as u64, "thread"),
        format::fraction(longest_ns as f64 / ran_ns.max(1) as f64)
    );
    let others = context.caps.saturating_sub(1);
    let cap_ns = alone_ns.saturating_mul(others);
    let mut finding = context.time_finding(RULE.name, title, loss_budget, (Pool::Serial, cap_ns));
    finding.severity = finding.severity.min(Severity::Medium);
    finding.confidence = Confidence::Probable;
    finding.meaning = "Each time, the others ended early, and the program waited for the thread with the largest part: meanwhile the other capabilities were idle.".into();
    finding.tries = uneven_advice();
    finding.distrust =
        "In other parts of the run, or with other input, the work may be balanced.".into();
    finding.set_numbers([
        ("groups", Value::Count(found.len() as u64)),
        ("worked alone", Value::Ns(alone_ns)),
        ("the longest of each ran for", Value::Ns(longest_ns)),
        ("all of them ran for", Value::Ns(ran_ns)),
    ]);
    let evidence = found.iter().map(|group| Evidence {
        subjects: vec![
            Subject::Thread(group.longest.thread),
            Subject::Thread(group.next.thread),
        ],
        ..Evidence::new(group.longest.life, Value::Ns(group.alone_ns))
    });
    Outcome::Found(vec![finding.with_evidence(evidence)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(id: u32, from: u64, to: u64, ran_ns: u64) -> FinishedThread {
        FinishedThread {
            thread: ThreadId(id),
            life: Interval::new(Nanos(from), Nanos(to)),
            ran_ns,
        }
    }

    /// Returns the longest thread and the lone time of each uneven group.
    fn uneven(threads: &[FinishedThread]) -> Vec<(u32, u64)> {
        let group = |group: Group<'_>| (group.longest.thread.0, group.alone_ns);
        groups(threads).into_iter().map(group).collect()
    }

    #[test]
    fn a_group_is_uneven_if_one_works_on_alone() {
        let short = thread(1, 0, 100, 90);
        let long = |ran_ns| thread(2, 5, 1000, ran_ns);
        assert_eq!(uneven(&[short, long(900)]), [(2, 900)]);
        // Half of the time, it waits.
        let short = thread(1, 0, 100, 90);
        assert_eq!(uneven(&[short, long(400)]), []);
        // The other one ends late.
        assert_eq!(uneven(&[thread(1, 0, 600, 500), long(900)]), []);
        // The other one has more than two thirds of its work.
        assert_eq!(uneven(&[thread(1, 0, 450, 420), long(600)]), []);
        // The other one has nothing to do.
        assert_eq!(uneven(&[thread(1, 0, 100, 1), long(900)]), []);
    }

    #[test]
    fn threads_that_begin_apart_are_no_group() {
        let apart = [thread(1, 0, 100, 90), thread(2, 100, 1100, 900)];
        assert_eq!(uneven(&apart), []);
        let twice = [
            thread(1, 0, 100, 90),
            thread(2, 5, 1000, 900),
            thread(3, 1000, 1100, 90),
            thread(4, 1005, 2000, 900),
        ];
        assert_eq!(uneven(&twice), [(2, 900), (4, 900)]);
    }
}
