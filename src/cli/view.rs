//! `eventscope view FILE…`: the page in the browser, with these files open.
//!
//! A server answers on this computer alone, until the last tab with the page is closed:
//!
//! - `view_site`: where the page comes from,
//! - `view_files`: what is opened in it,
//! - `view_follow`: a log that is still being written,
//! - `view_server`: who is answered, and what,
//! - `view_presence`: whether the page is still open.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use tokio::net::TcpListener;
use tokio::runtime;

use super::stream::Place;
use super::view_files::Served;
use super::view_server::Server;
use super::view_site::Site;
use super::{Condition, Failure, Out, say, view_follow};
use eventlog::system_words;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Logs and heap profiles, two of which are compared, and the executable that wrote them, which names addresses
    #[arg(value_name = "FILE", required_unless_present = "follow")]
    files: Vec<PathBuf>,
    /// A log that is still being written, which the page follows: a file, `-`, unix:PATH or tcp:HOST:PORT
    #[arg(long, value_name = "PLACE", conflicts_with = "files")]
    follow: Option<Place>,
    /// Only print the address, and leave it to you to open it
    #[arg(long)]
    no_open: bool,
    /// The port to listen on; 0 for any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Take the page from this folder: the site as it was built, or as it was unpacked from its zip
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let site = Site::find(arguments.site.as_deref())?;
    let files = arguments.files.iter().map(|file| Served::open(file));
    let followed = arguments.follow.iter().map(view_follow::served);
    let files = files.chain(followed).collect::<Result<Vec<_>, _>>()?;
    let server = Server::new(site, files, arguments.follow.is_some())?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| cannot("start", &error))?;
    let served = runtime.block_on(serve(arguments, server, out));
    // A file that is being read for a tab that is gone keeps nobody.
    runtime.shutdown_background();
    served.map(|()| Condition::Sound)
}

async fn serve(arguments: &Arguments, server: Server, out: &mut Out) -> Result<(), Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listening = |error| match arguments.port {
        0 => cannot("listen on a port of this computer", &error),
        port => cannot(
            &format!("listen on port {port}, leave --port out for one that is free"),
            &error,
        ),
    };
    let listener = TcpListener::bind(address).await.map_err(listening)?;
    let port = listener.local_addr().map_err(listening)?.port();
    let url = format!("http://127.0.0.1:{port}{}", server.path());
    out.text(format_args!(
        "The page is at {url}\nClosing its tab ends this; so does Ctrl+C.\n"
    ))?;
    out.flush()?;
    if !arguments.no_open {
        // Some browsers stay in the foreground, so that nobody waits for them.
        std::thread::spawn(move || {
            if let Err(error) = open::that(url) {
                say(format_args!(
                    "no browser could be started ({}): open the address above in one",
                    system_words(&error)
                ));
            }
        });
    }
    let closed = server.closed();
    tokio::select! {
        served = server.answer(listener) => served.map_err(|error| cannot("answer", &error)),
        () = closed => Ok(()),
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// A failure of the system that is about no file.
fn cannot(what: &str, error: &std::io::Error) -> Failure {
    Failure::Absent(format!("could not {what}: {}", system_words(error)))
}
