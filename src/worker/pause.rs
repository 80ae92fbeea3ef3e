//! Letting messages in between two pieces of work.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageChannel;

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
