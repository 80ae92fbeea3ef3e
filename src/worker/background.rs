//! Work in the background, which lets queries that a user waits for go first.

use std::rc::Rc;

use futures_util::future::{AbortHandle, abortable};
use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;

use super::yielding::CooperativeYield;
use super::{Shared, State};
use protocol::LogId;
use session::query::{LocalBoxFuture, Yield};

/// Interval at which background work checks whether the queries are answered.
const CHECK_EVERY_MS: u32 = 5;
/// Time that the page gets to send its first queries about a loaded log.
const FIRST_QUESTIONS_MS: u32 = 100;

/// Waits while queries are being answered that are not in the background.
pub(super) async fn wait_for_foreground(shared: &Shared) {
    let has_foreground = |state: &State| state.asked.values().any(|asked| !asked.is_background);
    wait_while(shared, has_foreground).await;
}

async fn wait_while(shared: &Shared, is_busy: impl Fn(&State) -> bool) {
    while is_busy(&shared.borrow()) {
        TimeoutFuture::new(CHECK_EVERY_MS).await;
    }
}

/// Runs only while no query is being answered.
struct IdleYield {
    shared: Shared,
    yielder: CooperativeYield,
}

impl Yield for IdleYield {
    fn is_due(&self) -> bool {
        self.yielder.is_due()
    }

    fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            self.yielder.yield_now().await;
            wait_while(&self.shared, |state| !state.asked.is_empty()).await;
        })
    }
}

/// Preparation of answers that are likely to be asked for; dropping it cancels it.
pub(super) struct Preparation(AbortHandle);

impl Drop for Preparation {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Prepares answers about a loaded log while the worker is idle.
pub(super) fn prepare_when_idle(shared: &Shared, log: LogId) {
    let Some(session) = shared
        .borrow()
        .logs
        .get(&log)
        .map(|open| Rc::clone(&open.session))
    else {
        return;
    };
    let idle = IdleYield {
        shared: Rc::clone(shared),
        yielder: CooperativeYield::new(),
    };
    let (preparing, handle) = abortable(async move {
        TimeoutFuture::new(FIRST_QUESTIONS_MS).await;
        idle.yield_now().await;
        session.prepare_more(&idle).await;
    });
    spawn_local(async move {
        // A canceled preparation leaves what it has computed.
        let _ = preparing.await;
    });
    if let Some(open) = shared.borrow_mut().logs.get_mut(&log) {
        open.preparation = Some(Preparation(handle));
    }
}
