//! Yielding to the event loop between steps of work.

use std::cell::{Cell, OnceCell};

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageChannel;

use super::now_ms;
use session::query::{LocalBoxFuture, Yield};

/// Yields by a message to itself. Unlike a timer, it resumes as soon as pending messages are handled.
pub(super) struct Pauser {
    channel: Option<MessageChannel>,
}

impl Pauser {
    pub(super) fn new() -> Self {
        Self {
            channel: MessageChannel::new().ok(),
        }
    }

    /// Resumes after all messages that are pending now.
    pub(super) async fn pause(&self) {
        let Some(channel) = &self.channel else { return };
        let promise = Promise::new(&mut |resolve, _| {
            channel.port1().set_onmessage(Some(&resolve));
            // An empty message can always be posted.
            let _ = channel.port2().post_message(&JsValue::NULL);
        });
        // The promise is never rejected.
        let _ = JsFuture::from(promise).await;
    }
}

/// Interval at which long answers yield to other questions: less than a frame.
const LISTEN_EVERY_MS: f64 = 10.0;

/// Cooperative yielding for long answers.
pub(super) struct CooperativeYield {
    yielded_ms: Cell<f64>,
    /// Created on first use: most answers need none.
    pauser: OnceCell<Pauser>,
}

impl CooperativeYield {
    pub(super) fn new() -> Self {
        Self {
            yielded_ms: Cell::new(now_ms()),
            pauser: OnceCell::new(),
        }
    }
}

impl Yield for CooperativeYield {
    fn is_due(&self) -> bool {
        now_ms() - self.yielded_ms.get() > LISTEN_EVERY_MS
    }

    fn pause(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            self.pauser.get_or_init(Pauser::new).pause().await;
            self.yielded_ms.set(now_ms());
        })
    }
}
