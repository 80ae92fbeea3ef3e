//! Logs that come over the network: those that the page is served with, and the one that a link
//! names. What is on the page's own server is fetched here. This page may not connect to others,
//! so that nothing can be sent: after a click a second page, `www/fetch.html`, does, and hands
//! the file over.

use gloo_events::EventListener;
use js_sys::{Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{AbortController, Element, File, MessageEvent, Url, Window};
use yew::prelude::*;

use super::App;
use crate::files::{self, Came, Chosen, NotFetched, Origin};
use crate::update::callback;
use scene::format;
use views::share::place::{Parts, Place, Refused, place};
use views::trouble::{Code, Trouble};

/// What comes over the network.
#[derive(Default)]
pub(super) enum Remote {
    /// Nothing.
    #[default]
    Nothing,
    /// A link names a log on another host: it is to be said whether it is fetched.
    Asks(Elsewhere),
    /// Files come from the page's own server.
    Comes {
        names: String,
        came: Came,
        abort: Option<AbortController>,
    },
}

/// A log on another host.
pub(super) struct Elsewhere {
    /// As the link says it.
    url: String,
    address: Url,
    /// The page that fetches it, and what listens to that.
    page: Option<(Window, EventListener)>,
}

/// What came of fetching; no trouble if it was given up.
type Fetched = Result<Vec<Chosen>, Option<Trouble>>;

/// Where an address leads from this page.
fn place_of(url: &str) -> Result<(Url, Place), Code> {
    let document = gloo_utils::document();
    let base = document.base_uri().ok().flatten().unwrap_or_default();
    let address = Url::new_with_base(url, &base).map_err(|_| Code::NoAddress)?;
    let own = Url::new(&base).map_err(|_| Code::NoAddress)?;
    let texts = |url: &Url| [url.protocol(), url.origin(), url.username(), url.password()];
    let [address_texts, own_texts] = [texts(&address), texts(&own)];
    let place = place(&as_parts(&address_texts), &as_parts(&own_texts));
    let refused = |why| match why {
        Refused::Protocol => Code::AddressProtocol,
        Refused::Credentials => Code::AddressSecret,
        Refused::Unencrypted => Code::AddressUnencrypted,
    };
    Ok((address, place.map_err(refused)?))
}

fn as_parts([protocol, origin, user, password]: &[String; 4]) -> Parts<'_> {
    Parts {
        protocol,
        origin,
        user,
        password,
    }
}

/// A message between this page and the second one.
fn message(what: &str, address: Option<&str>) -> Object {
    let message = Object::new();
    let set = |name: &str, value: &str| {
        // A new object takes everything.
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
    /// Opens what the page is served with, or else what a link names.
    pub(super) fn open_remote(&mut self, ctx: &Context<Self>) {
        let served = files::served();
        if served.is_empty() {
            self.open_linked(ctx);
        } else {
            self.fetch(ctx, served, None);
        }
    }

    /// Opens the log that a link names, or asks whether that is wanted.
    pub(super) fn open_linked(&mut self, ctx: &Context<Self>) {
        let Some(url) = self.wanted.as_ref().and_then(|link| link.url.clone()) else {
            return;
        };
        match place_of(&url) {
            Ok((address, Place::Here)) => self.fetch(ctx, vec![address.href()], Some(url)),
            Ok((address, Place::Elsewhere)) => {
                self.remote = Remote::Asks(Elsewhere {
                    url,
                    address,
                    page: None,
                });
            }
            Err(code) => self.fail(Trouble::new(code)),
        }
    }

    /// Fetches files from the page's own server, one after the other.
    fn fetch(&mut self, ctx: &Context<Self>, addresses: Vec<String>, url: Option<String>) {
        let names: Vec<String> = addresses.iter().map(|at| files::name_of(at)).collect();
        // Without it the fetching cannot be given up.
        let abort = AbortController::new().ok();
        let signal = abort.as_ref().map(AbortController::signal);
        self.remote = Remote::Comes {
            names: names.join(" and "),
            came: (0, None),
            abort,
        };
        let (tell, done) = (callback(ctx, Self::more_came), callback(ctx, Self::fetched));
        spawn_local(async move {
            let mut files = Vec::new();
            for address in addresses {
                match files::fetch(&address, signal.as_ref(), |came| tell.emit(came)).await {
                    Ok(file) => files.push(Chosen {
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
                        return done.emit(Err(Some(Trouble::because(code, &why))));
                    }
                }
            }
            done.emit(Ok(files));
        });
    }

    /// More of what is fetched has come; the page need not say so each time.
    fn more_came(&mut self, _: &Context<Self>, now: Came) -> bool {
        /// So much more is seen.
        const STEP_BYTES: u64 = 1 << 20;
        let Remote::Comes { came, .. } = &mut self.remote else {
            return false;
        };
        let is_more = now.0 / STEP_BYTES != came.0 / STEP_BYTES || now.1 != came.1;
        *came = now;
        is_more
    }

    fn fetched(&mut self, ctx: &Context<Self>, fetched: Fetched) -> bool {
        self.remote = Remote::Nothing;
        match fetched {
            Ok(files) => {
                self.chosen(ctx, files);
            }
            Err(Some(trouble)) => self.fail(trouble),
            Err(None) => {}
        }
        true
    }

    /// Nothing is to come over the network.
    fn not_wanted(&mut self, _: &Context<Self>, (): ()) -> bool {
        match std::mem::take(&mut self.remote) {
            Remote::Comes {
                abort: Some(abort), ..
            } => abort.abort(),
            Remote::Asks(Elsewhere {
                page: Some((page, _)),
                ..
            }) => {
                // One that is closed already stays so.
                let _ = page.close();
            }
            _ => {}
        }
        if let Some(link) = &mut self.wanted {
            link.url = None;
        }
        true
    }

    /// Opens the second page, which fetches a log from another host.
    fn open_second_page(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        let heard = callback(ctx, Self::second_page_says);
        let build = gloo_utils::document()
            .query_selector("meta[name=eventscope-build]")
            .ok()
            .flatten()
            .and_then(|meta: Element| meta.get_attribute("content"));
        let page = format!("www/fetch.html?v={}", build.unwrap_or_default());
        let window = gloo_utils::window();
        let listener = EventListener::new(&window, "message", move |event| {
            if let Some(event) = event.dyn_ref::<MessageEvent>() {
                heard.emit(event.clone());
            }
        });
        let Remote::Asks(elsewhere) = &mut self.remote else {
            return false;
        };
        match window.open_with_url_and_target(&page, "_blank") {
            Ok(Some(page)) => elsewhere.page = Some((page, listener)),
            _ => self.fail(Trouble::new(Code::WindowBlocked)),
        }
        true
    }

    /// The second page says that it is ready, or has the log. Nobody else is heard.
    fn second_page_says(&mut self, ctx: &Context<Self>, event: MessageEvent) -> bool {
        let Remote::Asks(elsewhere) = &self.remote else {
            return false;
        };
        let Some((page, _)) = &elsewhere.page else {
            return false;
        };
        let source = Reflect::get(&event, &"source".into()).unwrap_or(JsValue::UNDEFINED);
        let origin = own_origin();
        if event.origin() != origin || !Object::is(&source, page) {
            return false;
        }
        let data = event.data();
        let member = |name: &str| Reflect::get(&data, &name.into()).ok();
        // Plain data can always be posted.
        let answer = |message: &Object| {
            let _ = page.post_message(message, &origin);
        };
        match member("eventscope")
            .and_then(|what| what.as_string())
            .as_deref()
        {
            Some("ready") => answer(&message("address", Some(&elsewhere.address.href()))),
            Some("log") => {
                let Some(file) = member("file").and_then(|file| file.dyn_into::<File>().ok())
                else {
                    return false;
                };
                answer(&message("taken", None));
                let origin = Origin::Linked {
                    url: elsewhere.url.clone(),
                    address: None,
                };
                self.remote = Remote::Nothing;
                self.chosen(ctx, vec![Chosen { file, origin }]);
            }
            _ => return false,
        }
        true
    }

    /// Whether the page says what comes over the network.
    pub(super) fn is_remote(&self) -> bool {
        !matches!(self.remote, Remote::Nothing)
    }

    /// What comes over the network, or may.
    pub(super) fn view_remote(&self, ctx: &Context<Self>) -> Html {
        let away = callback(ctx, |app, ctx, _: MouseEvent| app.not_wanted(ctx, ()));
        match &self.remote {
            Remote::Nothing => Html::default(),
            Remote::Comes { names, came, .. } => {
                let (done, total) = *came;
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
                        <button onclick={away}>{ "Cancel" }</button>
                    </div>
                }
            }
            Remote::Asks(elsewhere) => {
                let open = callback(ctx, |app, ctx, _: MouseEvent| app.open_second_page(ctx, ()));
                let host = elsewhere.address.host();
                html! {
                    <section class="hint remote" aria-labelledby="remote-title">
                        <h2 id="remote-title">{ "This link names a log on " }<strong>{ &host }</strong></h2>
                        <p><code>{ elsewhere.address.href() }</code></p>
                        <p>{ "This page may not connect to other hosts, so that nothing of a log can be sent. A second page may: it has nothing of your logs, asks how large the file is, and fetches it when you say so. " }{ &host }{ " then sees the address of your computer." }</p>
                        if elsewhere.page.is_some() {
                            <p role="status">{ "Go on in the page that was opened. The log is shown here when it has come." }</p>
                        }
                        <p class="buttons">
                            <button class="primary" onclick={open}>{ format!("Get it from {host}…") }</button>
                            <button onclick={away}>{ "Not now" }</button>
                        </p>
                    </section>
                }
            }
        }
    }
}
