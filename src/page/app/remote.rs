//! Logs fetched over the network: those that the page is served with, and the one that a link names.
//!
//! Files on the page's own server are fetched here. The content security policy denies connections to other hosts, so
//! that nothing can leak: after a click a second page, `www/fetch.html`, fetches the file and hands it over.

use gloo_events::EventListener;
use js_sys::{Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{AbortController, File, MessageEvent, Url, Window};
use yew::prelude::*;

use super::App;
use crate::dom::meta;
use crate::files::{self, DownloadProgress, InputFile, NotFetched, Origin};
use crate::update::callback;
use scene::format;
use views::page_error::{Code, PageError};
use views::share::address::{AddressError, AddressOrigin, AddressParts, classify_address};

/// State of network fetches.
#[derive(Default)]
pub(super) enum Remote {
    /// No fetch is pending.
    #[default]
    Nothing,
    /// A link names a log on another host, and the user has yet to confirm.
    Confirming(RemoteLog),
    /// Files are being fetched from the page's own server.
    Fetching {
        names: String,
        progress: DownloadProgress,
        abort: Option<AbortController>,
    },
}

/// A log on another host.
pub(super) struct RemoteLog {
    /// The URL as written in the link.
    url: String,
    address: Url,
    /// The second page, and the listener for its messages.
    page: Option<(Window, EventListener)>,
}

/// Result of a fetch; `Err(None)` if it was canceled.
type Fetched = Result<Vec<InputFile>, Option<PageError>>;

/// Resolves a URL and classifies it as own server or another host.
fn resolve(url: &str) -> Result<(Url, AddressOrigin), Code> {
    let document = gloo_utils::document();
    let base = document.base_uri().ok().flatten().unwrap_or_default();
    let address = Url::new_with_base(url, &base).map_err(|_| Code::NoAddress)?;
    let own = Url::new(&base).map_err(|_| Code::NoAddress)?;
    let texts = |url: &Url| [url.protocol(), url.origin(), url.username(), url.password()];
    let [address_texts, own_texts] = [texts(&address), texts(&own)];
    let origin = classify_address(&as_parts(&address_texts), &as_parts(&own_texts));
    let refused = |why| match why {
        AddressError::Protocol => Code::AddressProtocol,
        AddressError::Credentials => Code::AddressSecret,
        AddressError::Unencrypted => Code::AddressUnencrypted,
    };
    Ok((address, origin.map_err(refused)?))
}

fn as_parts([protocol, origin, user, password]: &[String; 4]) -> AddressParts<'_> {
    AddressParts {
        protocol,
        origin,
        user,
        password,
    }
}

/// Builds a message for the second page.
fn message(what: &str, address: Option<&str>) -> Object {
    let message = Object::new();
    let set = |name: &str, value: &str| {
        // Setting a property of a fresh object cannot fail.
        let _ = Reflect::set(&message, &name.into(), &value.into());
    };
    set("eventscope", what);
    if let Some(address) = address {
        set("address", address);
    }
    message
}

fn own_origin() -> String {
    let location = gloo_utils::window().location();
    location.origin().unwrap_or_default()
}

impl App {
    /// Opens the logs that the page is served with, or else the one that the link names.
    pub(super) fn open_remote(&mut self, ctx: &Context<Self>) {
        let served = files::served_addresses();
        if served.is_empty() {
            self.open_linked(ctx);
        } else {
            self.fetch(ctx, served, None);
        }
    }

    /// Opens the log that a link names; asks first if it is on another host.
    pub(super) fn open_linked(&mut self, ctx: &Context<Self>) {
        let Some(url) = self.pending_link.as_ref().and_then(|link| link.url.clone()) else {
            return;
        };
        match resolve(&url) {
            Ok((address, AddressOrigin::SameOrigin)) => {
                self.fetch(ctx, vec![address.href()], Some(url))
            }
            Ok((address, AddressOrigin::OtherOrigin)) => {
                self.remote = Remote::Confirming(RemoteLog {
                    url,
                    address,
                    page: None,
                });
            }
            Err(code) => {
                self.forget_link();
                self.show_error(PageError::new(code));
            }
        }
    }

    /// Forgets the link to a log that does not arrive while another one is open: it is not for the next log. Without
    /// an open log, it waits for one that is dropped.
    fn forget_link(&mut self) {
        if self.log.is_open() {
            self.pending_link = None;
        }
    }

    /// Fetches files from the page's own server, one after another.
    fn fetch(&mut self, ctx: &Context<Self>, addresses: Vec<String>, url: Option<String>) {
        let names: Vec<String> = addresses.iter().map(|at| files::name_of(at)).collect();
        // Without an abort controller the fetch cannot be canceled.
        let abort = AbortController::new().ok();
        let signal = abort.as_ref().map(AbortController::signal);
        self.remote = Remote::Fetching {
            names: names.join(" and "),
            progress: (0, None),
            abort,
        };
        let (on_progress, done) = (
            callback(ctx, Self::on_progress),
            callback(ctx, Self::on_fetched),
        );
        spawn_local(async move {
            let mut files = Vec::new();
            for address in addresses {
                match files::fetch(&address, signal.as_ref(), |progress| {
                    on_progress.emit(progress)
                })
                .await
                {
                    Ok(file) => files.push(InputFile {
                        file,
                        origin: match &url {
                            Some(url) => Origin::Linked {
                                url: url.clone(),
                                address: Some(address),
                            },
                            None => Origin::Address(address),
                        },
                    }),
                    Err(NotFetched::Cancelled) => return done.emit(Err(None)),
                    Err(NotFetched::Because(why)) => {
                        let why = format!("“{}”: {why}", files::name_of(&address));
                        let code = if url.is_some() {
                            Code::LinkedNotFetched
                        } else {
                            Code::ServedNotFetched
                        };
                        return done.emit(Err(Some(PageError::with_cause(code, &why))));
                    }
                }
            }
            done.emit(Ok(files));
        });
    }

    /// Records fetch progress; returns whether the change is worth rendering.
    fn on_progress(&mut self, _: &Context<Self>, now: DownloadProgress) -> bool {
        /// Progress is rendered once per MiB.
        const STEP_BYTES: u64 = 1 << 20;
        let Remote::Fetching { progress, .. } = &mut self.remote else {
            return false;
        };
        let is_more = now.0 / STEP_BYTES != progress.0 / STEP_BYTES || now.1 != progress.1;
        *progress = now;
        is_more
    }

    fn on_fetched(&mut self, ctx: &Context<Self>, result: Fetched) -> bool {
        self.remote = Remote::Nothing;
        match result {
            Ok(files) => {
                self.on_files_chosen(ctx, files);
            }
            Err(Some(error)) => {
                self.forget_link();
                self.show_error(error);
            }
            Err(None) => {}
        }
        true
    }

    /// Cancels the pending fetch or question.
    fn cancel_fetch(&mut self, _: &Context<Self>, (): ()) -> bool {
        match std::mem::take(&mut self.remote) {
            Remote::Fetching {
                abort: Some(abort), ..
            } => abort.abort(),
            Remote::Confirming(RemoteLog {
                page: Some((page, _)),
                ..
            }) => {
                // Harmless if the page is closed already.
                let _ = page.close();
            }
            _ => {}
        }
        self.forget_link();
        if let Some(link) = &mut self.pending_link {
            link.url = None;
        }
        true
    }

    /// Opens the second page, which fetches a log from another host.
    fn open_second_page(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        let on_message = callback(ctx, Self::on_fetch_page_message);
        let build = meta("build").unwrap_or_default();
        let page = format!("www/fetch.html?v={build}");
        let window = gloo_utils::window();
        let listener = EventListener::new(&window, "message", move |event| {
            if let Some(event) = event.dyn_ref::<MessageEvent>() {
                on_message.emit(event.clone());
            }
        });
        let Remote::Confirming(log) = &mut self.remote else {
            return false;
        };
        match window.open_with_url_and_target(&page, "_blank") {
            Ok(Some(page)) => log.page = Some((page, listener)),
            _ => self.show_error(PageError::new(Code::WindowBlocked)),
        }
        true
    }

    /// Handles a message of the second page: it is ready, or has the log. Messages of other senders are ignored.
    fn on_fetch_page_message(&mut self, ctx: &Context<Self>, event: MessageEvent) -> bool {
        let Remote::Confirming(log) = &self.remote else {
            return false;
        };
        let Some((page, _)) = &log.page else {
            return false;
        };
        let source = Reflect::get(&event, &"source".into()).unwrap_or(JsValue::UNDEFINED);
        let origin = own_origin();
        if event.origin() != origin || !Object::is(&source, page) {
            return false;
        }
        let data = event.data();
        let member = |name: &str| Reflect::get(&data, &name.into()).ok();
        // Posting plain data cannot fail.
        let answer = |message: &Object| {
            let _ = page.post_message(message, &origin);
        };
        match member("eventscope")
            .and_then(|what| what.as_string())
            .as_deref()
        {
            Some("ready") => answer(&message("address", Some(&log.address.href()))),
            Some("log") => {
                let Some(file) = member("file").and_then(|file| file.dyn_into::<File>().ok())
                else {
                    return false;
                };
                answer(&message("taken", None));
                let origin = Origin::Linked {
                    url: log.url.clone(),
                    address: None,
                };
                self.remote = Remote::Nothing;
                self.on_files_chosen(ctx, vec![InputFile { file, origin }]);
            }
            _ => return false,
        }
        true
    }

    /// Returns whether a fetch or a question about one is pending.
    pub(super) fn has_pending_fetch(&self) -> bool {
        !matches!(self.remote, Remote::Nothing)
    }

    /// Renders the fetch progress, or the question about a log on another host.
    pub(super) fn view_remote(&self, ctx: &Context<Self>) -> Html {
        let on_cancel = callback(ctx, |app, ctx, _: MouseEvent| app.cancel_fetch(ctx, ()));
        match &self.remote {
            Remote::Nothing => Html::default(),
            Remote::Fetching {
                names, progress, ..
            } => {
                let (done, total) = *progress;
                let value = total.map(|_| done.to_string());
                html! {
                    <div class="loading">
                        <label for="fetch-progress">{ "Fetching " }<strong>{ names }</strong></label>
                        <progress id="fetch-progress" max={total.unwrap_or(1).to_string()} {value} />
                        <span class="numbers">
                            { format::bytes(done) }
                            if let Some(total) = total {
                                { format!(" of {}", format::bytes(total)) }
                            }
                        </span>
                        <button onclick={on_cancel}>{ "Cancel" }</button>
                    </div>
                }
            }
            Remote::Confirming(log) => {
                let open = callback(ctx, |app, ctx, _: MouseEvent| app.open_second_page(ctx, ()));
                let host = log.address.host();
                html! {
                    <section class="hint remote" aria-labelledby="remote-title">
                        <h2 id="remote-title">{ "The log of this link is on " }<strong>{ &host }</strong></h2>
                        <p><code>{ log.address.href() }</code></p>
                        <p>{ "This page cannot connect to other hosts, so it cannot send any part of a log. A second page, which has no access to your logs, can: it requests the file size, and downloads the file after you confirm. " }{ &host }{ " then sees the address of your computer." }</p>
                        if log.page.is_some() {
                            <p role="status">{ "Continue in the page that opened. The log appears here after the download." }</p>
                        }
                        <p class="buttons">
                            <button class="primary" onclick={open}>{ format!("Download from {host}…") }</button>
                            <button onclick={on_cancel}>{ "Not now" }</button>
                        </p>
                    </section>
                }
            }
        }
    }
}
