//! HTTP server of `eventscope view`.
//!
//! It listens on this computer only, but other users of the computer and pages of other sites can reach it.
//! Therefore, all addresses begin with a random, unguessable path, and requests with a foreign host name (DNS
//! rebinding) are rejected. The server is read-only: it supports only GET and HEAD. The content security policy is
//! part of the page, as on any other server.

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
use super::view_files::ServedFile;
use super::view_presence::{Presence, SCRIPT};
use super::view_site::Site;

/// Host names by which a browser reaches the server from this computer, or through a forwarded port, as with `ssh
/// -L`. No other site can have these names.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Folder of the opened files.
const FILES: &str = "files/";

/// Headers of every response. Caching is disabled, because the address is never reused.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Shared handle on the server's state.
#[derive(Clone, Debug)]
pub(super) struct Server(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Random path prefix of all addresses: `/…/`.
    path: String,
    site: Site,
    files: Vec<ServedFile>,
    presence: Presence,
}

impl Server {
    /// Creates a server with a random path; `follow` makes the page follow the opened files.
    ///
    /// # Errors
    /// If the system has no random numbers, or the site is of another version.
    pub(super) fn new(
        mut site: Site,
        files: Vec<ServedFile>,
        follow: bool,
    ) -> Result<Self, Failure> {
        let path = format!("/{}/", random_name()?);
        let other =
            || Failure::Absent("the site belongs to another version of eventscope".to_owned());
        let index = page(site.index().unwrap_or_default(), &files, follow).ok_or_else(other)?;
        let worker = site
            .file("sw.js")
            .and_then(transient_worker)
            .ok_or_else(other)?;
        site.replace("index.html", index);
        site.replace("sw.js", worker);
        Ok(Self(Arc::new(Inner {
            path,
            site,
            files,
            presence: Presence::default(),
        })))
    }

    /// Returns the path of the page.
    pub(super) fn path(&self) -> &str {
        &self.0.path
    }

    /// Waits until the page has been opened and closed again.
    pub(super) fn closed(&self) -> impl Future<Output = ()> + use<> {
        let inner = Arc::clone(&self.0);
        async move { inner.presence.closed().await }
    }

    /// Answers requests indefinitely.
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
        if !has_own_host(&request) {
            return error_response(StatusCode::MISDIRECTED_REQUEST);
        }
        let Some(address) = request.uri().path().strip_prefix(&self.path) else {
            return error_response(StatusCode::NOT_FOUND);
        };
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let allowed = [(header::ALLOW, "GET, HEAD")];
            return (StatusCode::METHOD_NOT_ALLOWED, allowed).into_response();
        }
        match address {
            "" => self.file("index.html"),
            "presence" if request.method() == Method::GET => self.presence.hold(),
            "presence.js" => response_with_type("presence.js", SCRIPT.as_bytes()),
            _ => match self.files.iter().zip(0..).find(|(file, number)| {
                address.strip_prefix(&file_prefix(*number)) == Some(&*file.escaped_name())
            }) {
                Some((file, _)) => serve_file(file, request).await,
                None => self.file(address),
            },
        }
    }

    /// Returns a file of the site.
    fn file(&self, address: &str) -> Response {
        match self.site.file(address) {
            Some(bytes) => response_with_type(address, bytes),
            None => error_response(StatusCode::NOT_FOUND),
        }
    }
}

/// Returns whether the Host header, and the request's authority if any, name this computer.
fn has_own_host(request: &Request) -> bool {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()?.parse::<Authority>().ok());
    let is_own = |authority: &Authority| NAMES.contains(&authority.host());
    host.as_ref().is_some_and(is_own) && request.uri().authority().is_none_or(is_own)
}

/// Returns a response with a whole file and its MIME type.
fn response_with_type(name: &str, bytes: &[u8]) -> Response {
    let kind = mime_guess::from_path(name).first_or_octet_stream();
    let bytes = Bytes::copy_from_slice(bytes);
    ([(header::CONTENT_TYPE, kind.as_ref())], bytes).into_response()
}

/// Returns a response with an opened file, or with the requested range of it.
async fn serve_file(file: &ServedFile, request: Request) -> Response {
    match ServeFile::new(&file.path).try_call(request).await {
        Ok(mut response) => {
            // Whatever the type of the file, the page needs its bytes as they are.
            let kind = HeaderValue::from_static("application/octet-stream");
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            response.map(Body::new)
        }
        Err(_) => error_response(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// Returns an error response with a short explanation.
fn error_response(status: StatusCode) -> Response {
    let words =
        "No page at this address. Open the complete address that eventscope view has printed.\n";
    (status, words).into_response()
}

/// Returns the path of an opened file without its name. The number distinguishes files with equal names.
fn file_prefix(number: usize) -> String {
    format!("{FILES}{number}/")
}

/// Returns the page with the list of files to open and the presence script.
fn page(html: &str, files: &[ServedFile], follow: bool) -> Option<String> {
    let (head, rest) = html.split_once("</head>")?;
    let mut page = format!("{head}<script defer src=\"presence.js\"></script>\n");
    for (file, number) in files.iter().zip(0..) {
        let (file_prefix, name) = (file_prefix(number), file.escaped_name());
        let _ = writeln!(
            page,
            "<meta name=\"eventscope-open\" content=\"{file_prefix}{name}\">"
        );
    }
    if follow {
        page.push_str("<meta name=\"eventscope-follow\">\n");
    }
    Some(format!("{page}</head>{rest}"))
}

/// Returns the service worker in its variant that does not stay installed; `None` if it is of another version.
fn transient_worker(worker: &[u8]) -> Option<String> {
    const STAYS: &str = "const STAYS = true;";
    let worker = std::str::from_utf8(worker).ok()?;
    worker
        .contains(STAYS)
        .then(|| worker.replace(STAYS, "const STAYS = false;"))
}

/// Returns 128 random bits in hexadecimal.
fn random_name() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::Absent(format!("the system provides no random numbers: {error}"))
    })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
