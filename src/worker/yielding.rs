//! Yielding to the event loop between steps of work.

use std::cell::{Cell, OnceCell};

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageChannel;

use super::load::YIELD_EVERY_MS;
use super::now_ms;
use session::query::{LocalBoxFuture, Yield};

/// Yields by a message to itself. Unlike a timer, it resumes as soon as pending messages are handled.
pub(super) struct MessageYielder {
    channel: Option<MessageChannel>,
}

impl MessageYielder {
    pub(super) fn new() -> Self {
        Self {
            channel: MessageChannel::new().ok(),
        }
    }

    /// Resumes after all messages that are pending now.
    pub(super) async fn yield_now(&self) {
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

/// Cooperative yielding for long answers.
pub(super) struct CooperativeYield {
    yielded_ms: Cell<f64>,
    /// Created on first use: most answers need none.
    message_yielder: OnceCell<MessageYielder>,
}

impl CooperativeYield {
    pub(super) fn new() -> Self {
        Self {
            yielded_ms: Cell::new(now_ms()),
            message_yielder: OnceCell::new(),
        }
    }
}

impl Yield for CooperativeYield {
    fn is_due(&self) -> bool {
        now_ms() - self.yielded_ms.get() > YIELD_EVERY_MS
    }

    fn yield_now(&self) -> LocalBoxFuture<'_, ()> {
        Box::pin(async {
            self.message_yielder
                .get_or_init(MessageYielder::new)
                .yield_now()
                .await;
            self.yielded_ms.set(now_ms());
        })
    }
}
