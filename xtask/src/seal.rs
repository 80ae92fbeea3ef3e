//! Finishes a built site:
//!
//! 1. The build id is a hash of the content of all files.
//! 2. It becomes part of the names of the programs' folders, and a query on the scripts and styles that pages
//!    link: a page never loads a file from another build, however long caches keep it.
//! 3. The page receives the addresses of the programs.
//! 4. The page that fetches logs from other hosts needs a network, and is not kept for offline use.
//! 5. The service worker receives the build id and the list of files to keep.

use std::fmt;
use std::fs;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::process::{During, Failure, Result};

/// Folder of each program of the page, and the script in it that starts the program.
const PROGRAMS: [[&str; 2]; 2] = [["page", "app.js"], ["worker", "worker.js"]];
/// The same of the page for fleets, and that page.
const FLEET: [&str; 2] = ["fleet", "fleet.js"];
const FLEET_PAGE: &str = "www/fleet.html";

/// Favicon of the page.
const ICON: &str = "www/icon.svg";
/// Page and script that may connect to other hosts; useless without a network.
const SECOND_PAGE: [&str; 2] = ["www/fetch.html", "www/fetch.js"];

/// Summary of a sealed site.
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

/// Finishes the newly built site in `dist`.
pub(crate) fn seal(dist: &Path) -> Result<Sealed> {
    let id = build_id(dist, &files_below(dist)?)?;
    for [folder, _] in PROGRAMS.into_iter().chain([FLEET]) {
        let from = dist.join(folder);
        fs::rename(&from, dist.join(format!("{folder}-{id}")))
            .during(|| format!("move {}", from.display()))?;
    }

    let page = dist.join("index.html");
    let html = finish_page(&read(&page)?, &id)?;
    let html = with_icon(&html, &read(&dist.join(ICON))?)?;
    write(&page, &html)?;
    let guide = dist.join("www").join("guide.html");
    let guide_html = with_queries(&read(&guide)?, &id);
    write(&guide, &guide_html)?;

    let fleet = dist.join(FLEET_PAGE);
    let [folder, script] = FLEET;
    let address = format!("./{folder}-{id}/{script}");
    let fleet_html = with_queries(&with_meta(&read(&fleet)?, folder, &address)?, &id);
    write(&fleet, &fleet_html)?;

    let second = dist.join(SECOND_PAGE[0]);
    write(&second, &with_queries(&read(&second)?, &id))?;

    // Below `www/`, its scope would be limited to `www/`.
    let unfinished = dist.join("www").join("sw.js");
    let script = read(&unfinished)?;
    remove(&unfinished)?;
    let kept = kept_offline(&files_below(dist)?, &(html + &guide_html + &fleet_html));
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

/// Returns all files below a folder as relative URL paths, sorted.
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

/// Returns a hash of the names and the content of all files, shortened to 64 bits.
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

fn finish_page(html: &str, id: &str) -> Result<String> {
    let mut html = with_meta(html, "build", id)?;
    for [folder, script] in PROGRAMS {
        html = with_meta(&html, folder, &format!("./{folder}-{id}/{script}"))?;
    }
    Ok(with_queries(&html, id))
}

/// Embeds the icon into the page. Chromium would request a linked icon again with every new entry of the history,
/// but the loaded page must request nothing.
fn with_icon(html: &str, svg: &str) -> Result<String> {
    let old = format!("href=\"{ICON}\"");
    if !html.contains(&old) {
        return Err(Failure::new(format!("index.html has no icon {ICON}")));
    }
    let data = BASE64_STANDARD.encode(svg);
    Ok(html.replacen(
        &old,
        &format!("href=\"data:image/svg+xml;base64,{data}\""),
        1,
    ))
}

/// Sets the content of one `<meta name="eventscope-…" content="…">`.
fn with_meta(html: &str, name: &str, content: &str) -> Result<String> {
    let start = format!("<meta name=\"eventscope-{name}\" content=\"");
    let at = html
        .find(&start)
        .ok_or_else(|| Failure::new(format!("the page has no {start}…\">")))?
        + start.len();
    let end = at + html[at..].find('"').unwrap_or(0);
    Ok(format!("{}{content}{}", &html[..at], &html[end..]))
}

/// Appends the build id as a query to the scripts and styles below `www/` that a page links.
fn with_queries(html: &str, id: &str) -> String {
    let mut finished = String::with_capacity(html.len());
    for (index, part) in html.split('"').enumerate() {
        if index > 0 {
            finished.push('"');
        }
        finished.push_str(part);
        let own = part.trim_start_matches(['.', '/']).starts_with("www/");
        if own && (part.ends_with(".js") || part.ends_with(".css")) {
            finished.push_str("?v=");
            finished.push_str(id);
        }
    }
    finished
}

/// Returns the addresses that the service worker keeps, exactly as pages request them.
fn kept_offline(files: &[String], html: &str) -> Vec<String> {
    files
        .iter()
        // The page itself is kept as "./".
        .filter(|file| *file != "index.html" && !SECOND_PAGE.contains(&file.as_str()))
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

    const PAGE: &str = r#"<meta name="eventscope-build" content="dev">
<meta name="eventscope-page" content="">
<meta name="eventscope-worker" content="">
<link rel="stylesheet" href="www/app.css">
<link rel="icon" href="www/icon.svg">
<script src="www/first.js"></script>"#;

    #[test]
    fn the_icon_is_asked_for_nowhere() {
        let html = r#"<link rel="icon" href="www/icon.svg">"#;
        let icon = r#"<link rel="icon" href="data:image/svg+xml;base64,PHN2Zy8+">"#;
        assert_eq!(with_icon(html, "<svg/>").unwrap(), icon);
        assert!(with_icon("<html>", "<svg/>").is_err());
    }

    #[test]
    fn the_page_is_finished() {
        let expected = r#"<meta name="eventscope-build" content="abc">
<meta name="eventscope-page" content="./page-abc/app.js">
<meta name="eventscope-worker" content="./worker-abc/worker.js">
<link rel="stylesheet" href="www/app.css?v=abc">
<link rel="icon" href="www/icon.svg">
<script src="www/first.js?v=abc"></script>"#;
        assert_eq!(finish_page(PAGE, "abc").unwrap(), expected);
        let failure = finish_page("", "abc").unwrap_err().to_string();
        assert!(failure.contains("eventscope-build"), "{failure}");
    }

    #[test]
    fn a_page_below_www_links_the_same_files() {
        let html = r#"<link href="../www/app.css"><script src="../www/guide.js"></script>"#;
        let expected =
            r#"<link href="../www/app.css?v=abc"><script src="../www/guide.js?v=abc"></script>"#;
        assert_eq!(with_queries(html, "abc"), expected);
        let kept = kept_offline(&["www/app.css".to_owned()], expected);
        assert_eq!(kept, ["www/app.css?v=abc"]);
    }

    #[test]
    fn the_offline_list_has_the_addresses_the_page_uses() {
        let files = [
            "index.html",
            "page-abc/app.js",
            "www/app.css",
            SECOND_PAGE[0],
            SECOND_PAGE[1],
        ];
        let kept = kept_offline(
            &files.map(str::to_owned),
            r#"<link href="www/app.css?v=abc">"#,
        );
        assert_eq!(kept, ["page-abc/app.js", "www/app.css?v=abc"]);
    }

    /// Only the second page may connect to other hosts, and no page loads scripts from them.
    #[test]
    fn the_policies_are_as_they_are_meant() {
        let www = Path::new(env!("CARGO_MANIFEST_DIR")).join("../www");
        let second = read(&www.join("fetch.html")).unwrap();
        let main = read(&www.join("../index.html")).unwrap();
        let says = |html: &str, rule: &str| {
            let policy = html
                .split("Content-Security-Policy\" content=\"")
                .nth(1)
                .unwrap();
            policy
                .split('"')
                .next()
                .unwrap()
                .split(';')
                .any(|it| it.trim() == rule)
        };
        assert!(says(&main, "connect-src 'self'"));
        assert!(says(&second, "connect-src https: http:"));
        assert!(says(&second, "script-src 'self'"));
        let fleet = read(&www.join("fleet.html")).unwrap();
        assert!(says(&fleet, "connect-src 'self'") && says(&fleet, "style-src 'self'"));
        for html in [&main, &second, &fleet] {
            assert!(says(html, "default-src 'none'") && says(html, "form-action 'none'"));
        }
        assert!(!second.contains("<script>"));
        let sealed = with_queries(&second, "abc");
        assert!(
            sealed.contains("src=\"../www/fetch.js?v=abc\"")
                && sealed.contains("href=\"../www/app.css?v=abc\"")
        );
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
