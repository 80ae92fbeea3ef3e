//! The server: whom it answers, and what.
//!
//! It listens on this computer alone, but other users of it and the pages of other sites can
//! reach it there. So all addresses begin with a random path that nobody can guess, and no site
//! that has its own name point here (DNS rebinding) is answered. Nothing can be changed: it knows
//! GET and HEAD. The page's policy stands in the page as on any other server.

use std::fmt::Write;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tower_http::services::ServeFile;

use super::Failure;
use super::view_files::Served;
use super::view_presence::{Presence, SCRIPT};
use super::view_site::Site;

/// The names under which a browser on this computer reaches it, or one from which a port
/// is forwarded, as by `ssh -L`. No other site can have them.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The folder of the files that are opened.
const FILES: &str = "files/";

/// What each answer says beside its content. Nothing stays in the browser's cache: the
/// address never comes again.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// What is served to whom.
#[derive(Clone, Debug)]
pub(super) struct Server(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// What all addresses begin and end with: `/…/`.
    path: String,
    site: Site,
    files: Vec<Served>,
    presence: Presence,
}

impl Server {
    /// A server with a path of its own; whether the page is to follow what is opened.
    ///
    /// # Errors
    /// If the system has no random numbers, or the site is of another version.
    pub(super) fn new(mut site: Site, files: Vec<Served>, follow: bool) -> Result<Self, Failure> {
        let path = format!("/{}/", random_name()?);
        let other = || Failure::Absent("the site is not of this version of eventscope".to_owned());
        let index = page(site.index().unwrap_or_default(), &files, follow).ok_or_else(other)?;
        let worker = site.file("sw.js").and_then(leaving).ok_or_else(other)?;
        site.replace("index.html", index);
        site.replace("sw.js", worker);
        Ok(Self(Arc::new(Inner {
            path,
            site,
            files,
            presence: Presence::default(),
        })))
    }

    /// Where the page is.
    pub(super) fn path(&self) -> &str {
        &self.0.path
    }

    /// Waits until the page was opened and closed again.
    pub(super) fn closed(&self) -> impl Future<Output = ()> + use<> {
        let inner = Arc::clone(&self.0);
        async move { inner.presence.closed().await }
    }

    /// Answers whoever connects, without an end.
    pub(super) async fn answer(self, listener: TcpListener) -> io::Result<()> {
        let router = Router::new().fallback(answer).with_state(self);
        axum::serve(listener, router).await
    }
}

async fn answer(State(Server(inner)): State<Server>, request: Request) -> Response {
    let mut response = inner.answer(request).await;
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

impl Inner {
    async fn answer(&self, request: Request) -> Response {
        if !is_meant(&request) {
            return refuse(StatusCode::MISDIRECTED_REQUEST);
        }
        let Some(address) = request.uri().path().strip_prefix(&self.path) else {
            return refuse(StatusCode::NOT_FOUND);
        };
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let allowed = [(header::ALLOW, "GET, HEAD")];
            return (StatusCode::METHOD_NOT_ALLOWED, allowed).into_response();
        }
        match address {
            "" => self.file("index.html"),
            "presence" if request.method() == Method::GET => self.presence.hold(),
            "presence.js" => typed("presence.js", SCRIPT.as_bytes()),
            _ => match self.files.iter().zip(0..).find(|(file, number)| {
                address.strip_prefix(&place(*number)) == Some(&*file.escaped_name())
            }) {
                Some((file, _)) => part(file, request).await,
                None => self.file(address),
            },
        }
    }

    /// A file of the site.
    fn file(&self, address: &str) -> Response {
        match self.site.file(address) {
            Some(bytes) => typed(address, bytes),
            None => refuse(StatusCode::NOT_FOUND),
        }
    }
}

/// Whether a request names this computer as the one that is to answer it.
fn is_meant(request: &Request) -> bool {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let is_own = |authority: &Authority| NAMES.contains(&authority.host());
    host.as_ref().is_some_and(is_own) && request.uri().authority().is_none_or(is_own)
}

/// A whole file, with its type.
fn typed(name: &str, bytes: &[u8]) -> Response {
    let kind = mime_guess::from_path(name).first_or_octet_stream();
    let bytes = Bytes::copy_from_slice(bytes);
    ([(header::CONTENT_TYPE, kind.as_ref())], bytes).into_response()
}

/// A file that is opened, or the part of it that is asked for.
async fn part(file: &Served, request: Request) -> Response {
    match ServeFile::new(&file.path).try_call(request).await {
        Ok(mut response) => {
            // Whatever it is, it is to be taken as it stands.
            let kind = HeaderValue::from_static("application/octet-stream");
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            response.map(Body::new)
        }
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// No answer, for whoever sees it.
fn refuse(status: StatusCode) -> Response {
    let words = "There is nothing here. The address of the page is the whole one that \
        eventscope view has printed.\n";
    (status, words).into_response()
}

/// Where a file is, without its name: two may have the same.
fn place(number: usize) -> String {
    format!("{FILES}{number}/")
}

/// The page, which is told what to open, and holds a connection as long as it is there.
fn page(html: &str, files: &[Served], follow: bool) -> Option<String> {
    let (head, rest) = html.split_once("</head>")?;
    let mut page = format!("{head}<script defer src=\"presence.js\"></script>\n");
    for (file, number) in files.iter().zip(0..) {
        let (place, name) = (place(number), file.escaped_name());
        let _ = writeln!(
            page,
            "<meta name=\"eventscope-open\" content=\"{place}{name}\">"
        );
    }
    if follow {
        page.push_str("<meta name=\"eventscope-follow\">\n");
    }
    Some(format!("{page}</head>{rest}"))
}

/// The service worker, which is not to stay where it is.
fn leaving(worker: &[u8]) -> Option<String> {
    const STAYS: &str = "const STAYS = true;";
    let worker = std::str::from_utf8(worker).ok()?;
    worker
        .contains(STAYS)
        .then(|| worker.replace(STAYS, "const STAYS = false;"))
}

/// 128 bits that nobody can guess.
fn random_name() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::Absent(format!("the system gives no random numbers: {error}")))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
