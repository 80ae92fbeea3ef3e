//! Long answers stop now and then, for whoever asked to hear others meanwhile.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// What [`Listen`] promises.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Whoever waits for a long answer.
pub trait Listen {
    /// Whether the answer has taken so long that others should be heard.
    fn is_due(&self) -> bool;
    /// Hears others.
    fn pause(&self) -> Later<'_, ()>;
}

impl dyn Listen + '_ {
    /// To be called by long answers every millisecond or more often: hears
    /// others if it is time for that.
    pub async fn listen(&self) {
        if self.is_due() {
            self.pause().await;
        }
    }
}

/// The small steps of a long answer: others are heard between them now and then, without
/// looking at a clock each time.
#[derive(Clone, Copy)]
pub struct Steps<'a> {
    listen: &'a dyn Listen,
    taken: u32,
}

impl std::fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps").field("taken", &self.taken).finish()
    }
}

impl<'a> Steps<'a> {
    /// So many steps, of some microseconds at the most, are less than a millisecond.
    const AT_ONCE: u32 = 256;

    /// None is taken.
    #[must_use]
    pub fn new(listen: &'a dyn Listen) -> Self {
        Self { listen, taken: 0 }
    }

    /// To be called with each step.
    pub async fn step(&mut self) {
        self.taken = self.taken.wrapping_add(1);
        if self.taken.is_multiple_of(Self::AT_ONCE) {
            self.listen.listen().await;
        }
    }
}

/// Sorts, and hears others meanwhile.
pub async fn sort<T: Ord>(items: &mut [T], listen: &dyn Listen) {
    let mut length = 1 << 14;
    // To sort two parts that are in order, one after the other, is to merge them.
    loop {
        for part in items.chunks_mut(length) {
            part.sort();
            listen.listen().await;
        }
        if length >= items.len() {
            return;
        }
        length *= 2;
    }
}

/// Nobody else is heard.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Listen for Alone {
    fn is_due(&self) -> bool {
        false
    }

    fn pause(&self) -> Later<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// The answer of who is never waited for: each future comes true when it is polled again.
pub fn at_once<T>(answer: impl Future<Output = T>) -> T {
    let mut answer = pin!(answer);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = answer.as_mut().poll(&mut context) {
            return answer;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// It always has to be heard; how often it was.
    #[derive(Default)]
    struct Impatient(Cell<usize>);

    impl Listen for Impatient {
        fn is_due(&self) -> bool {
            true
        }

        fn pause(&self) -> Later<'_, ()> {
            self.0.set(self.0.get() + 1);
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn what_is_sorted_in_steps_is_sorted() {
        for length in [0, 1, 1 << 14, 50_000] {
            let mut items: Vec<u64> = (0..length).map(|at| at * 7_919 % 10_007).collect();
            let mut sorted = items.clone();
            sorted.sort_unstable();
            let host = Impatient::default();
            at_once(sort(&mut items, &host));
            assert_eq!(items, sorted);
            assert!(host.0.get() >= items.len() >> 14, "others are heard");
        }
    }

    #[test]
    fn others_are_heard_between_steps() {
        let host = Impatient::default();
        at_once(async {
            let mut steps = Steps::new(&host);
            for _ in 0..10 * Steps::AT_ONCE {
                steps.step().await;
            }
        });
        assert_eq!(host.0.get(), 10);
    }
}
