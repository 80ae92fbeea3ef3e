//! `eventscope view`: which requests its server answers, that it ends with the last tab, and its errors on start.
//! `tests/e2e/view.spec.js` opens the page in a browser through it.

use crate::common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::fixture;
use tempfile::TempDir;

const INDEX: &str = r#"<html><head><meta http-equiv="Content-Security-Policy" content="connect-src 'self'">
<meta name="eventscope-build" content="0123456789abcdef"></head><body></body></html>"#;
const LOG: &str = "ghc-9.6.6/fib-forkio-N2-l";
const PROGRAM: &[u8] = b"\0asm\x01\0\0\0";

/// Returns the path of a small log.
fn log() -> PathBuf {
    fixture(LOG).log
}

/// Makes the folder of a minimal site, with the real service worker.
fn site() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("www")).expect("a folder");
    fs::write(at("index.html"), INDEX).expect("a file");
    fs::write(at("app_bg.wasm"), PROGRAM).expect("a file");
    fs::write(at("app.js"), "export {};").expect("a file");
    fs::write(at("www/app.css"), "body {}").expect("a file");
    fs::write(at("sw.js"), include_str!("../www/sw.js")).expect("a file");
    folder
}

/// Running `eventscope view` with its own site.
struct View {
    process: Child,
    /// Host and port, such as `127.0.0.1:1234`.
    host: String,
    /// Path with the secret, such as `/…/`.
    path: String,
    _site: TempDir,
}

impl View {
    fn of(files: &[&Path]) -> Self {
        Self::start(|command| {
            command.arg("--no-open").args(files);
        })
    }

    fn start(more: impl FnOnce(&mut Command)) -> Self {
        let site = site();
        let mut command = view(site.path());
        more(&mut command);
        let mut process = command.spawn().expect("the program");
        let mut line = String::new();
        let out = process.stdout.take().expect("it is piped");
        let mut out = BufReader::new(out);
        out.read_line(&mut line).expect("a line");
        let (_, address) = line.trim().split_once("http://").expect("an address");
        let (host, path) = address.split_once('/').expect("a path");
        Self {
            host: host.to_owned(),
            path: format!("/{path}"),
            process,
            _site: site,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("a connection");
        let limit = Some(Duration::from_secs(20));
        stream.set_read_timeout(limit).expect("a time limit");
        stream
    }

    /// Sends a request with these headers and returns the answer.
    fn ask_as(&self, host: &str, method: &str, target: &str, more: &str) -> Answer {
        let mut stream = self.connect();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        Answer::of(&bytes)
    }

    /// Requests an address below the path.
    fn get(&self, address: &str) -> Answer {
        self.ask_as(&self.host, "GET", &format!("{}{address}", self.path), "")
    }

    fn range(&self, address: &str, range: &str) -> Answer {
        let (target, range) = (
            format!("{}{address}", self.path),
            format!("Range: {range}\r\n"),
        );
        self.ask_as(&self.host, "GET", &target, &range)
    }

    /// Opens a tab: connects, and waits until the connection is answered.
    fn tab(&self) -> TcpStream {
        let mut stream = self.connect();
        let request = format!(
            "GET {}presence HTTP/1.1\r\nHost: {}\r\n\r\n",
            self.path, self.host
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut first = [0; 15];
        stream.read_exact(&mut first).expect("an answer");
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        stream
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Command without log files.
fn view(site: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eventscope"));
    command.args(["view", "--site"]).arg(site);
    // A killed program leaves its temporary file: there it goes with the site.
    command.env("TMPDIR", site);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = bytes.split_at(end.expect("a head") + 4);
        let head = String::from_utf8(head.to_vec()).expect("a head");
        let status = head.split(' ').nth(1).expect("a status");
        Self {
            status: status.parse().expect("a status"),
            body: body.to_vec(),
            head,
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(of, _)| of.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }
}

#[test]
fn the_page_is_told_what_to_open() {
    let folder = TempDir::new().expect("a folder");
    let log = folder.path().join("a \"b\" & <c> 100%.eventlog");
    fs::write(&log, b"one").expect("a file");
    let same = self::log();
    let view = View::of(&[&log, &same, &same]);

    let page = view.get("");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("Content-Type"), Some("text/html"));
    let html = String::from_utf8(page.body).expect("UTF-8");
    let policy = "content=\"connect-src 'self'\"";
    assert!(html.contains(policy), "{html}");
    assert!(
        html.contains("<script defer src=\"presence.js\">"),
        "{html}"
    );
    let marks = html
        .split("<meta name=\"eventscope-open\" content=\"")
        .skip(1);
    let marks: Vec<&str> = marks.filter_map(|mark| mark.split('"').next()).collect();
    assert_eq!(
        marks,
        [
            "files/0/a%20%22b%22%20%26%20%3Cc%3E%20100%25.eventlog",
            "files/1/fib-forkio-N2-l.eventlog",
            "files/2/fib-forkio-N2-l.eventlog",
        ]
    );
    assert_eq!(view.get(marks[0]).body, b"one");
    assert_eq!(view.get(marks[2]).body, fs::read(&same).expect("a log"));
}

#[test]
fn files_have_their_types_and_stay_in_no_cache() {
    let view = View::of(&[&log()]);
    for (address, kind) in [
        ("app_bg.wasm", "application/wasm"),
        ("app.js", "text/javascript"),
        ("www/app.css", "text/css"),
        ("presence.js", "text/javascript"),
        (
            "files/0/fib-forkio-N2-l.eventlog",
            "application/octet-stream",
        ),
    ] {
        let answer = view.get(address);
        assert_eq!(answer.status, 200, "{address}");
        assert_eq!(answer.header("Content-Type"), Some(kind), "{address}");
        assert_eq!(
            answer.header("Cache-Control"),
            Some("no-store"),
            "{address}"
        );
        assert_eq!(answer.header("Access-Control-Allow-Origin"), None);
    }
    assert_eq!(view.get("app_bg.wasm").body, PROGRAM);
    // The address is never used again: the service worker stores nothing and unregisters.
    let worker = String::from_utf8(view.get("sw.js").body).expect("UTF-8");
    assert!(worker.contains("const STAYS = false;"), "{worker}");
}

#[test]
fn parts_of_a_log_are_served() {
    let bytes = fs::read(log()).expect("a log");
    let view = View::of(&[&log()]);
    let address = "files/0/fib-forkio-N2-l.eventlog";

    let part = view.range(address, "bytes=10-19");
    assert_eq!(part.status, 206);
    assert_eq!(part.body, bytes[10..20]);
    let range = format!("bytes 10-19/{}", bytes.len());
    assert_eq!(part.header("Content-Range"), Some(&*range));
    assert_eq!(
        view.range(address, "bytes=-5").body,
        bytes[bytes.len() - 5..]
    );
    let beyond = format!("bytes={}-", bytes.len());
    assert_eq!(view.range(address, &beyond).status, 416);

    let target = format!("{}{address}", view.path);
    let head = view.ask_as(&view.host, "HEAD", &target, "");
    assert_eq!(head.status, 200);
    assert!(head.body.is_empty());
    let len = bytes.len().to_string();
    assert_eq!(head.header("Content-Length"), Some(&*len));
}

#[test]
fn nobody_else_is_answered() {
    let view = View::of(&[&log()]);
    let status =
        |host: &str, method: &str, target: &str| view.ask_as(host, method, target, "").status;
    let (own, path) = (&*view.host, &*view.path);
    assert_eq!(path.len(), 34, "128 bits: {path}");

    // A foreign host name that resolves to this address (DNS rebinding).
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "",
        "evil@127.0.0.1x",
    ] {
        assert_eq!(status(host, "GET", path), 421, "{host}");
    }
    let elsewhere = format!("http://evil.example{path}");
    assert_eq!(status(own, "GET", &elsewhere), 421);
    // With port forwarding, the host name has another port.
    assert_eq!(status("localhost:9000", "GET", path), 200);

    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECTED"] {
        assert_eq!(status(own, method, path), 405, "{method}");
    }
    let short = &path[..path.len() - 1];
    for target in ["/", "/index.html", "/favicon.ico", short, "/0/"] {
        assert_eq!(status(own, "GET", target), 404, "{target}");
    }
    for address in [
        "../index.html",
        "..%2findex.html",
        "www/../../Cargo.toml",
        "www/%2e%2e/app.js",
        "www/..\\app.js",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "www",
        "www/",
        "files/",
        "files/0/",
        "files/0/../../app.js",
        "files/1/fib-forkio-N2-l.eventlog",
        "files/00/fib-forkio-N2-l.eventlog",
        "files/0/other.eventlog",
    ] {
        assert_eq!(view.get(address).status, 404, "{address}");
    }
}

#[test]
fn it_ends_with_the_last_tab() {
    let mut view = View::of(&[&log()]);
    let (one, two) = (view.tab(), view.tab());
    drop(one);
    std::thread::sleep(Duration::from_secs(1));
    drop(two);
    // The tab is reloaded.
    std::thread::sleep(Duration::from_secs(2));
    let three = view.tab();
    std::thread::sleep(Duration::from_secs(6));
    assert!(view.process.try_wait().expect("a process").is_none());
    drop(three);
    let begun = Instant::now();
    loop {
        if let Some(status) = view.process.try_wait().expect("a process") {
            assert!(status.success(), "{status}");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "it goes on");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_comes_through_a_pipe_is_served() {
    let view = View::start(|command| {
        let log = fs::File::open(log()).expect("a log");
        command.args(["--no-open", "-"]).stdin(log);
    });
    let bytes = fs::read(log()).expect("a log");
    assert_eq!(view.get("files/0/standard%20input").body, bytes);
}

#[cfg(target_os = "linux")]
#[test]
fn a_browser_is_started_with_the_address() {
    use std::os::unix::fs::PermissionsExt;

    let folder = TempDir::new().expect("a folder");
    let (program, told) = (folder.path().join("xdg-open"), folder.path().join("told"));
    let script = format!(
        "#!/bin/sh\necho \"$1\" > '{0}.new' && mv '{0}.new' '{0}'\n",
        told.display()
    );
    fs::write(&program, script).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let path = std::env::var("PATH").expect("a path");
    let view = View::start(|command| {
        let path = format!("{}:{path}", folder.path().display());
        command.env("PATH", path).arg(log());
    });
    let begun = Instant::now();
    while !told.exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it was not started"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let address = format!("http://{}{}\n", view.host, view.path);
    assert_eq!(fs::read_to_string(&told).expect("an address"), address);
}

#[test]
fn what_is_not_possible_is_said() {
    let site = site();
    let log = log().into_os_string().into_string().expect("UTF-8");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let nothing = TempDir::new().expect("a folder");
    let folder = nothing.path().to_str().expect("UTF-8");
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--no-open", "none.eventlog"], 1, "none.eventlog: "),
        (&["--no-open", folder], 1, "that is a folder"),
        (&["--no-open", "--port", &port, &log], 1, "omit --port"),
        (&["--no-open"], 2, "FILE"),
    ];
    for (arguments, code, words) in cases {
        let mut command = view(site.path());
        let output = command.args(*arguments).output().expect("the program");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let mut command = view(nothing.path());
    let output = command
        .args(["--no-open", &log])
        .output()
        .expect("the program");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("has no built site"), "{said}");
}

#[cfg(not(feature = "site"))]
#[test]
fn a_program_without_the_page_says_so() {
    let log = log();
    let output = common::eventscope(&["view", "--no-open", log.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("built without the page"), "{said}");
    assert!(said.contains("--site"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_temporary_file() {
    for signal in ["TERM", "INT"] {
        let (site, temporary) = (site(), TempDir::new().expect("a folder"));
        let files = || fs::read_dir(temporary.path()).expect("a folder").count();
        let mut child = view(site.path())
            .args(["--no-open", "--follow", "-"])
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut input = child.stdin.take().expect("it is piped");
        input
            .write_all(&fs::read(log()).expect("a log"))
            .expect("it reads");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        out.read_line(&mut line).expect("a line");
        assert_eq!(files(), 1, "what came is kept");
        let sent = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
        child.wait().expect("it ends");
        assert_eq!(files(), 0, "SIG{signal}");
    }
}
