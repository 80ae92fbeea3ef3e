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
