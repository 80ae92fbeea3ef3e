//! `eventscope view FILE…`: opens files in the page in a browser.
//!
//! A server accepts connections from this computer only, until the last tab with the page is closed:
//!
//! - `view_site`: files of the page,
//! - `view_files`: files opened in the page,
//! - `view_follow`: a log that is still being written,
//! - `view_server`: request handling,
//! - `view_presence`: detection of open tabs.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use tokio::net::TcpListener;
use tokio::runtime;

use super::stream::LogSource;
use super::view_files::ServedFile;
use super::view_server::Server;
use super::view_site::Site;
use super::{Condition, Failure, Out, print_message, view_follow};
use eventlog::system_words;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Logs and heap profiles (two are compared), and the executable that wrote them, to name addresses
    #[arg(value_name = "FILE", required_unless_present = "follow")]
    files: Vec<PathBuf>,
    /// Follow a log while it is written: a file, `-`, unix:PATH or tcp:HOST:PORT
    #[arg(long, value_name = "PLACE", conflicts_with = "files")]
    follow: Option<LogSource>,
    /// Print the address without opening a browser
    #[arg(long)]
    no_open: bool,
    /// Port to listen on; 0 for any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Serve the page from this folder: the built site, or its unpacked zip
    #[arg(long, value_name = "FOLDER")]
    site: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let site = Site::find(arguments.site.as_deref())?;
    let files = arguments.files.iter().map(|file| ServedFile::open(file));
    let followed = arguments.follow.iter().map(view_follow::serve_followed);
    let files = files.chain(followed).collect::<Result<Vec<_>, _>>()?;
    let server = Server::new(site, files, arguments.follow.is_some())?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| cannot("start", &error))?;
    let served = runtime.block_on(serve(arguments, server, out));
    // Do not wait for a file that is still being read for a closed tab.
    runtime.shutdown_background();
    served.map(|()| Condition::Sound)
}

async fn serve(arguments: &Arguments, server: Server, out: &mut Out) -> Result<(), Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listening = |error| match arguments.port {
        0 => cannot("listen on a port of this computer", &error),
        port => cannot(
            &format!("listen on port {port} (omit --port for a free one)"),
            &error,
        ),
    };
    let listener = TcpListener::bind(address).await.map_err(listening)?;
    let port = listener.local_addr().map_err(listening)?.port();
    let url = format!("http://127.0.0.1:{port}{}", server.path());
    out.text(format_args!(
        "The page is at {url}\nClose its tab or press Ctrl+C to stop.\n"
    ))?;
    out.flush()?;
    if !arguments.no_open {
        // Some browsers stay in the foreground; a separate thread keeps the server from waiting for them.
        std::thread::spawn(move || {
            if let Err(error) = open::that(url) {
                print_message(format_args!(
                    "could not start a browser ({}): open the address above",
                    system_words(&error)
                ));
            }
        });
    }
    let closed = server.closed();
    tokio::select! {
        served = server.answer(listener) => served.map_err(|error| cannot("serve the page", &error)),
        () = closed => Ok(()),
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// Returns a system error that does not concern a file.
fn cannot(what: &str, error: &std::io::Error) -> Failure {
    Failure::Absent(format!("could not {what}: {}", system_words(error)))
}
