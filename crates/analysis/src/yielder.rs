//! Cooperative yielding: long computations return to the event loop between steps.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Boxed future that need not be `Send`, as returned by [`Yield::yield_now`].
pub type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Decides when a long computation yields, and yields.
pub trait Yield {
    /// Returns whether enough time has passed since the last yield.
    fn is_due(&self) -> bool;
    /// Yields to the event loop; the future resolves when the computation may continue.
    fn yield_now(&self) -> LocalBoxFuture<'_, ()>;
}

impl std::fmt::Debug for dyn Yield + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Yield")
    }
}

impl dyn Yield + '_ {
    /// Yields if it is due. Long computations call this every millisecond or more often.
    pub async fn yield_if_due(&self) {
        if self.is_due() {
            self.yield_now().await;
        }
    }
}

/// Step counter for loops of cheap steps: it checks the clock only once every `AT_ONCE` steps.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    yielder: &'a dyn Yield,
    taken: u32,
}

impl<'a> Steps<'a> {
    /// Steps between two checks. At a few microseconds per step they take less than a millisecond.
    const AT_ONCE: u32 = 256;

    /// Creates a counter at step 0.
    pub fn new(yielder: &'a dyn Yield) -> Self {
        Self { yielder, taken: 0 }
    }

    /// Counts one step, and yields every `AT_ONCE` steps if it is due.
    pub async fn step(&mut self) {
        self.taken = self.taken.wrapping_add(1);
        if self.taken.is_multiple_of(Self::AT_ONCE) {
            self.yielder.yield_if_due().await;
        }
    }
}

/// Sorts `items` (stable) and yields between chunks.
pub async fn sort<T: Ord>(items: &mut [T], yielder: &dyn Yield) {
    let mut length = 1 << 14;
    // The standard sort detects the two sorted halves of each chunk and merges them.
    loop {
        for part in items.chunks_mut(length) {
            part.sort();
            yielder.yield_if_due().await;
        }
        if length >= items.len() {
            return;
        }
        length *= 2;
    }
}

/// Policy that never yields, for synchronous callers.
#[derive(Clone, Copy, Debug)]
pub struct NoYield;

impl Yield for NoYield {
    fn is_due(&self) -> bool {
        false
    }

    fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Polls a future in a loop until it is ready. Intended for futures that never wait for an external event.
pub fn block_on<T>(answer: impl Future<Output = T>) -> T {
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

    /// Always due; counts the yields.
    #[derive(Default)]
    struct Impatient(Cell<usize>);

    impl Yield for Impatient {
        fn is_due(&self) -> bool {
            true
        }

        fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
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
            block_on(sort(&mut items, &host));
            assert_eq!(items, sorted);
            assert!(host.0.get() >= items.len() >> 14, "others are heard");
        }
    }

    #[test]
    fn others_are_heard_between_steps() {
        let host = Impatient::default();
        block_on(async {
            let mut steps = Steps::new(&host);
            for _ in 0..10 * Steps::AT_ONCE {
                steps.step().await;
            }
        });
        assert_eq!(host.0.get(), 10);
    }
}
