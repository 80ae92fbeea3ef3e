//! Finishing the site that Trunk wrote.
//!
//! Trunk gives the page's own files names with a hash, but not the worker's,
//! and knows neither policies nor service workers. So, in this order:
//!
//! 1. the build id is taken from the content of every file;
//! 2. the worker moves into a folder of that name, and the scripts and styles
//!    that the page links get it as a query: a page from one build never meets
//!    a file from another, however long something in between caches;
//! 3. the page is told both, and its policy gets the hash of its boot script;
//! 4. the service worker gets the id and the list of files to keep.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::process::{During, Failure, Result};

/// The worker's files as Trunk names them; the first starts the others.
const WORKER: [&str; 3] = ["worker_loader.js", "worker.js", "worker_bg.wasm"];
/// JavaScript that crates bring along, imported relative to the glue.
const SNIPPETS: &str = "snippets";

/// What a sealed site amounts to.
#[derive(Debug)]
pub(crate) struct Sealed {
    id: String,
    files: usize,
    bytes: u64,
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, files, bytes } = self;
        write!(f, "build {id}, {files} files, {} KiB", bytes.div_ceil(1024))
    }
}

/// Finishes the site in `dist`, which Trunk has just written.
pub(crate) fn seal(dist: &Path) -> Result<Sealed> {
    let id = build_id(dist, &files_below(dist)?)?;
    let worker = move_worker(dist, &id)?;

    let page = dist.join("index.html");
    let html = finish_page(&read(&page)?, &id, &worker)?;
    write(&page, &html)?;

    // Below www/ it could only ever serve www/.
    let unfinished = dist.join("www").join("sw.js");
    let script = read(&unfinished)?;
    remove(&unfinished)?;
    let kept = kept_offline(&files_below(dist)?, &html);
    write(
        &dist.join("sw.js"),
        &finish_service_worker(&script, &id, &kept)?,
    )?;

    let files = files_below(dist)?;
    let sizes = files.iter().map(|file| fs::metadata(dist.join(file)));
    Ok(Sealed {
        bytes: sizes.flatten().map(|file| file.len()).sum(),
        files: files.len(),
        id,
    })
}

/// Every file below a folder, as it appears in an address, in order.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        let reading = || format!("list {}", folder.display());
        for entry in fs::read_dir(&folder).during(reading)? {
            let entry = entry.during(reading)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else {
                files.push(name);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// A short name for exactly this content.
fn build_id(dist: &Path, files: &[String]) -> Result<String> {
    let mut all = Sha256::new();
    for file in files {
        let path = dist.join(file);
        let content = fs::read(&path).during(|| format!("read {}", path.display()))?;
        all.update(file.as_bytes());
        all.update([0]);
        all.update(Sha256::digest(content));
    }
    Ok(all.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Moves the worker into its own folder; returns the address to start it at.
fn move_worker(dist: &Path, id: &str) -> Result<String> {
    let folder = format!("worker-{id}");
    let target = dist.join(&folder);
    fs::create_dir(&target).during(|| format!("create {}", target.display()))?;
    for name in WORKER {
        let from = dist.join(name);
        fs::rename(&from, target.join(name)).during(|| format!("move {}", from.display()))?;
    }
    if dist.join(SNIPPETS).is_dir() {
        copy_folder(&dist.join(SNIPPETS), &target.join(SNIPPETS))?;
    }
    Ok(format!("./{folder}/{}", WORKER[0]))
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for file in files_below(from)? {
        let target: PathBuf = to.join(&file);
        let folder = target.parent().unwrap_or(to);
        fs::create_dir_all(folder).during(|| format!("create {}", folder.display()))?;
        fs::copy(from.join(&file), &target).during(|| format!("write {}", target.display()))?;
    }
    Ok(())
}

fn finish_page(html: &str, id: &str, worker: &str) -> Result<String> {
    let html = with_meta(html, "eventscope-build", id)?;
    let html = with_meta(&html, "eventscope-worker", worker)?;
    let html = with_queries(&html, id);
    with_boot_hash(&html)
}

/// Sets the content of one `<meta name="…" content="…">`.
fn with_meta(html: &str, name: &str, content: &str) -> Result<String> {
    let start = format!("<meta name=\"{name}\" content=\"");
    let at = html
        .find(&start)
        .ok_or_else(|| Failure::new(format!("index.html has no {start}…\">")))?
        + start.len();
    let end = at + html[at..].find('"').unwrap_or(0);
    Ok(format!("{}{content}{}", &html[..at], &html[end..]))
}

/// Adds the build id to the scripts and styles below www/ that the page links.
fn with_queries(html: &str, id: &str) -> String {
    let mut finished = String::with_capacity(html.len());
    for (index, part) in html.split('"').enumerate() {
        if index > 0 {
            finished.push('"');
        }
        finished.push_str(part);
        let own = part.trim_start_matches("./").starts_with("www/");
        if own && (part.ends_with(".js") || part.ends_with(".css")) {
            finished.push_str("?v=");
            finished.push_str(id);
        }
    }
    finished
}

/// Lets the policy allow the page's one inline script, and nothing else.
fn with_boot_hash(html: &str) -> Result<String> {
    let [boot] = inline_scripts(html)[..] else {
        return Err(Failure::new(
            "index.html should have exactly one inline script, Trunk's",
        ));
    };
    let hash = BASE64_STANDARD.encode(Sha256::digest(boot));
    let placeholder = "'sha256-BOOT'";
    if html.matches(placeholder).count() != 1 {
        return Err(Failure::new(format!(
            "the policy in index.html should name {placeholder} once"
        )));
    }
    Ok(html.replace(placeholder, &format!("'sha256-{hash}'")))
}

fn inline_scripts(html: &str) -> Vec<&str> {
    html.split("<script")
        .skip(1)
        .filter_map(|rest| rest.split_once('>'))
        .filter(|(attributes, _)| !attributes.contains("src="))
        .filter_map(|(_, rest)| rest.split_once("</script>"))
        .map(|(script, _)| script)
        .collect()
}

/// The addresses a service worker keeps, exactly as they are asked for.
fn kept_offline(files: &[String], html: &str) -> Vec<String> {
    files
        .iter()
        // The page itself is kept as "./".
        .filter(|file| *file != "index.html")
        .map(|file| {
            let start = html.find(&format!("{file}?v="));
            let linked = start.and_then(|start| html[start..].split('"').next());
            linked.unwrap_or(file).to_owned()
        })
        .collect()
}

fn finish_service_worker(script: &str, id: &str, kept: &[String]) -> Result<String> {
    let kept: Vec<String> = kept.iter().map(|file| format!("  '{file}',\n")).collect();
    let filled = [
        ("const BUILD = 'dev';", format!("const BUILD = '{id}';")),
        (
            "const FILES = [];",
            format!("const FILES = [\n{}];", kept.concat()),
        ),
    ];
    let mut finished = script.to_owned();
    for (line, replacement) in filled {
        if !finished.contains(line) {
            return Err(Failure::new(format!("www/sw.js has no line {line}")));
        }
        finished = finished.replace(line, &replacement);
    }
    Ok(finished)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).during(|| format!("read {}", file.display()))
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).during(|| format!("write {}", file.display()))
}

fn remove(file: &Path) -> Result<()> {
    fs::remove_file(file).during(|| format!("remove {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<meta http-equiv="Content-Security-Policy" content="script-src 'self' 'sha256-BOOT'">
<meta name="eventscope-build" content="dev">
<meta name="eventscope-worker" content="./worker_loader.js">
<link rel="stylesheet" href="www/app.css">
<link rel="icon" href="www/icon.svg">
<script defer src="www/offline.js"></script>
<script type="module">alert('Hello, world.');</script>"#;

    #[test]
    fn the_page_is_finished() {
        let html = finish_page(PAGE, "abc", "./worker-abc/worker_loader.js").unwrap();
        // The hash is the example of the CSP specification.
        let expected = r#"<meta http-equiv="Content-Security-Policy" content="script-src 'self' 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='">
<meta name="eventscope-build" content="abc">
<meta name="eventscope-worker" content="./worker-abc/worker_loader.js">
<link rel="stylesheet" href="www/app.css?v=abc">
<link rel="icon" href="www/icon.svg">
<script defer src="www/offline.js?v=abc"></script>
<script type="module">alert('Hello, world.');</script>"#;
        assert_eq!(html, expected);
    }

    #[test]
    fn a_second_inline_script_is_refused() {
        let html = format!("{PAGE}<script>alert(1)</script>");
        let failure = finish_page(&html, "abc", "w").unwrap_err().to_string();
        assert!(failure.contains("exactly one inline script"), "{failure}");
    }

    #[test]
    fn the_offline_list_has_the_addresses_the_page_uses() {
        let files = ["app-1.js", "index.html", "www/app.css"];
        let kept = kept_offline(
            &files.map(str::to_owned),
            r#"<link href="www/app.css?v=abc">"#,
        );
        assert_eq!(kept, ["app-1.js", "www/app.css?v=abc"]);
    }

    #[test]
    fn the_service_worker_is_finished() {
        let script = "const BUILD = 'dev';\nconst FILES = [];\n";
        let kept = ["a.js".to_owned()];
        assert_eq!(
            finish_service_worker(script, "abc", &kept).unwrap(),
            "const BUILD = 'abc';\nconst FILES = [\n  'a.js',\n];\n"
        );
        assert!(finish_service_worker("", "abc", &kept).is_err());
    }
}
