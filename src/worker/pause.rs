//! Letting messages in between two pieces of work.

use std::cell::{Cell, OnceCell};

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageChannel;

use super::now_ms;
use session::query::{Later, Listen};

/// Pauses by a message to itself: unlike a timer it comes back as soon as
/// what was waiting has been heard.
pub(super) struct Pauser {
    channel: Option<MessageChannel>,
}

impl Pauser {
    pub(super) fn new() -> Self {
        Self {
            channel: MessageChannel::new().ok(),
        }
    }

    /// Comes back after all messages that are waiting now.
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

/// After so long other questions are heard: less than a frame.
const LISTEN_EVERY_MS: f64 = 10.0;

/// Hears others in turn with a long answer.
pub(super) struct Turns {
    listened_ms: Cell<f64>,
    /// Made when it is first needed: most answers need none.
    pauser: OnceCell<Pauser>,
}

impl Turns {
    pub(super) fn new() -> Self {
        Self {
            listened_ms: Cell::new(now_ms()),
            pauser: OnceCell::new(),
        }
    }
}

impl Listen for Turns {
    fn is_due(&self) -> bool {
        now_ms() - self.listened_ms.get() > LISTEN_EVERY_MS
    }

    fn pause(&self) -> Later<'_, ()> {
        Box::pin(async {
            self.pauser.get_or_init(Pauser::new).pause().await;
            self.listened_ms.set(now_ms());
        })
    }
}
