//! Shell completions, man pages, and the data for bug reports.

use crate::common;

use common::stdout;

#[test]
fn shells_know_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(&["completions", shell]);
        for word in ["findings", "flamegraph", "no-open"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn there_is_a_page_for_each_command() {
    let page = stdout(&["man"]);
    assert!(page.contains(".SH SUBCOMMANDS"), "{page}");
    assert!(page.contains("eventscope\\-view(1)"), "{page}");

    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("man1");
    stdout(&["man", "--folder", path.to_str().expect("UTF-8")]);
    let page = std::fs::read_to_string(path.join("eventscope-view.1")).expect("a page");
    assert!(page.contains("\\-\\-no\\-open"), "{page}");
}

#[test]
fn the_version_names_the_commit() {
    let version = stdout(&["--version"]);
    let numbers = concat!("eventscope ", env!("CARGO_PKG_VERSION"));
    let rest = version
        .trim_end()
        .strip_prefix(numbers)
        .expect("the version");
    let git = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".git");
    let commit = rest
        .strip_prefix(" (")
        .and_then(|rest| rest.strip_suffix(")"));
    match commit {
        Some(commit) => {
            assert!(commit.len() >= 12, "{version}");
            assert!(
                commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{version}"
            );
        }
        None => assert!(rest.is_empty() && !git.exists(), "{version}"),
    }
}
