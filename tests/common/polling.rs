//! Answers polled by hand, as a worker polls them.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use analysis::yielder::{LocalBoxFuture, Yield};
use session::query::{Host, Unreadable};

/// Host that yields at every opportunity, and has no file.
pub struct AlwaysYield;

impl Yield for AlwaysYield {
    fn is_due(&self) -> bool {
        true
    }

    fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
        let mut paused = false;
        Box::pin(std::future::poll_fn(move |_| {
            match std::mem::replace(&mut paused, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }))
    }
}

impl Host for AlwaysYield {
    fn read(&self, range: Range<u64>) -> LocalBoxFuture<'_, Result<Vec<u8>, Unreadable>> {
        unreachable!("nobody asks for {range:?}")
    }
}

/// Polls once; returns the result if it is there.
pub fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Polls until the result is there; returns it with the number of polls.
pub fn finish<T>(mut future: Pin<&mut impl Future<Output = T>>) -> (T, usize) {
    for polls in 1.. {
        if let Some(value) = poll(future.as_mut()) {
            return (value, polls);
        }
    }
    unreachable!("it ends")
}
