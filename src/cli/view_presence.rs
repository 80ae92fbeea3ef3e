//! Detection of whether the page is open in any tab.
//!
//! Each tab holds a connection while it is open. A tab that is being reloaded briefly has none, and neither may
//! one on a computer that was asleep: they reconnect within [`GRACE`].

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::timeout;

/// Script in the page that holds the connection; `EventSource` reconnects by itself.
pub(super) const SCRIPT: &str = "new EventSource('presence');\n";

/// Time without any open tab after which the server ends.
const GRACE: Duration = Duration::from_secs(5);

/// Number of open tabs.
#[derive(Debug)]
pub(super) struct Presence {
    /// `None` before the first tab opens, which may take the user any time.
    tabs: watch::Sender<Option<usize>>,
}

impl Default for Presence {
    fn default() -> Self {
        Self {
            tabs: watch::Sender::new(None),
        }
    }
}

/// Guard for an open tab, which decrements the count on drop.
struct Tab(watch::Sender<Option<usize>>);

impl Drop for Tab {
    fn drop(&mut self) {
        self.0
            .send_modify(|tabs| *tabs = tabs.map(|tabs| tabs.saturating_sub(1)));
    }
}

impl Presence {
    /// Returns the never-ending response to a tab.
    pub(super) fn hold(&self) -> Response {
        self.tabs
            .send_modify(|tabs| *tabs = Some(tabs.unwrap_or(0) + 1));
        let silence = stream::unfold(Tab(self.tabs.clone()), |tab| async {
            let _open = tab;
            pending::<Option<(Result<Event, Infallible>, Tab)>>().await
        });
        Sse::new(silence)
            .keep_alive(KeepAlive::default())
            .into_response()
    }

    /// Waits until the last tab has been closed for [`GRACE`].
    pub(super) async fn closed(&self) {
        let mut tabs = self.tabs.subscribe();
        loop {
            // Fails only if the sender is dropped, but `self` holds it.
            let _ = tabs.wait_for(|tabs| *tabs == Some(0)).await;
            let back = tabs.wait_for(|tabs| *tabs != Some(0));
            if timeout(GRACE, back).await.is_err() {
                return;
            }
        }
    }
}
