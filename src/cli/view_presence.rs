//! Whether the page is open in any tab.
//!
//! Each tab holds a connection from its start to its end. A tab that is reloaded has none for a
//! moment, and so may one on a computer that was asleep: they come back within [`GRACE`].

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::timeout;

/// The script of the page that holds the connection; it is made again if it breaks.
pub(super) const SCRIPT: &str = "new EventSource('presence');\n";

/// How long no tab may be there before that is the end.
const GRACE: Duration = Duration::from_secs(5);

/// The tabs that are open.
#[derive(Debug)]
pub(super) struct Presence {
    /// How many; `None` before the first, for which the user may take any time.
    tabs: watch::Sender<Option<usize>>,
}

impl Default for Presence {
    fn default() -> Self {
        Self {
            tabs: watch::Sender::new(None),
        }
    }
}

/// An open tab.
struct Tab(watch::Sender<Option<usize>>);

impl Drop for Tab {
    fn drop(&mut self) {
        self.0
            .send_modify(|tabs| *tabs = tabs.map(|tabs| tabs.saturating_sub(1)));
    }
}

impl Presence {
    /// The answer to a tab, which has no end.
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

    /// Waits until the last tab is closed for good.
    pub(super) async fn closed(&self) {
        let mut tabs = self.tabs.subscribe();
        loop {
            // The sender lives as long as we do.
            let _ = tabs.wait_for(|tabs| *tabs == Some(0)).await;
            let back = tabs.wait_for(|tabs| *tabs != Some(0));
            if timeout(GRACE, back).await.is_err() {
                return;
            }
        }
    }
}
