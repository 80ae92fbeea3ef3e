//! Runs the checks and tests, and counts them.
//!
//! Another process of this program builds the site. In quick tests, which compile little, it runs in parallel with
//! the native tests; cargo locks a folder per profile, and their profiles differ. The output of the build is
//! printed where the site is needed, so that the order of the output does not depend on the duration of a build.

mod browser;
mod building;
mod counts;
mod native;
mod tally;

use std::process::ExitCode;
use std::thread;

use building::BackgroundBuild;
use counts::Counts;
use tally::Tally;

use crate::npm;
use crate::process::Result;
use crate::project::Project;
use crate::site::Kind;
use crate::weigh::DownloadSizes;

/// Selection of tests to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    /// All checks and tests.
    All,
    /// Lints, native tests with a small corpus, and one browser test.
    Quick,
    /// All checks and tests that need no browser.
    Native,
    /// All tests that need a site.
    Browser,
    /// Packages, browser tests, or parts of the names of tests.
    Named(Vec<String>),
}

/// Runs tests. The last line printed is `N passed, N failed`.
pub(crate) fn test(project: &Project, selection: &Selection) -> ExitCode {
    let mut tally = Tally::new(&project.steps);
    match selection {
        Selection::All => all(project, &mut tally),
        Selection::Quick => quick(project, &mut tally),
        Selection::Native => native(project, &mut tally),
        Selection::Browser => with_site(project, Kind::Shipped, |site| {
            browser(project, &mut tally, site);
        }),
        Selection::Named(names) => named(project, &mut tally, names),
    }
    print!("\n{}", project.steps.table());
    for step in &tally.failed_steps {
        println!("failed: {step}");
    }
    let Counts { passed, failed } = tally.counts;
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

fn all(project: &Project, tally: &mut Tally<'_>) {
    thread::scope(|scope| {
        // Failures are reported where the tools are used.
        scope.spawn(|| {
            (
                project.npm_packages(),
                project.chromium(),
                project.spark_python(),
            )
        });
        native(project, tally);
        // Not concurrently: both compile on all cores, and twice as many compilers as cores take some 15 % longer.
        browser(
            project,
            tally,
            &BackgroundBuild::start(scope, project, Kind::Shipped),
        );
    });
}

/// Builds a site in parallel with `run`.
fn with_site(project: &Project, kind: Kind, run: impl FnOnce(&BackgroundBuild)) {
    thread::scope(|scope| {
        // A failure is reported where Chromium is used.
        scope.spawn(|| project.chromium());
        run(&BackgroundBuild::start(scope, project, kind));
    });
}

fn quick(project: &Project, tally: &mut Tally<'_>) {
    with_site(project, Kind::Quick, |site| {
        native::lints(project, tally);
        tally.tests("native tests, small corpus", || {
            native::quick_tests(&project.root)
        });
        if site.wait(tally) {
            tally.tests("smoke test of the quick site", || {
                browser::playwright(project, site.kind, &[browser::SMOKE])
            });
        }
    });
}

fn native(project: &Project, tally: &mut Tally<'_>) {
    native::lints(project, tally);
    native::other_checks(project, tally);
    tally.tests("native tests", || native::tests(&project.root));
    native::benches(project, tally);
}

fn browser(project: &Project, tally: &mut Tally<'_>, site: &BackgroundBuild) {
    let root = &project.root;
    let program = tally.check("command line", || browser::command_line(root));
    if program {
        // While the site is built, which ends in one core's work of linking.
        tally.tests("tests in SQL", || {
            project.npm_packages()?;
            browser::node_tests(root, browser::SQL)
        });
        tally.tests("tests in Spark", || browser::spark_tests(project));
    }
    if site.wait(tally) && program {
        on_shipped(project, tally, || browser::specs(root));
        if browser::has_benches(root) {
            tally.check("benchmarks of the page", || {
                browser::benches(project, site.kind)
            });
        }
        tally.tests("tests of the package", || {
            browser::node_tests(root, browser::NPM)
        });
    }
}

/// Checks the size of the shipped site, assembles the npm package from it, and runs browser tests.
fn on_shipped(
    project: &Project,
    tally: &mut Tally<'_>,
    specs: impl FnOnce() -> Result<Vec<String>>,
) {
    let root = &project.root;
    tally.check("weight of the site", || {
        DownloadSizes::of(&root.join(Kind::Shipped.folder()))?.check()
    });
    if tally.check("package for npm", || npm::assemble(root)) {
        tally.tests("browser tests", || {
            browser::playwright(project, Kind::Shipped, &specs()?)
        });
    }
}

fn named(project: &Project, tally: &mut Tally<'_>, names: &[String]) {
    let root = &project.root;
    let (mut packages, mut specs, mut filters) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        if native::is_package(root, name) {
            packages.push(name.as_str());
        } else if let Some(spec) = browser::find_spec(root, name) {
            specs.push(spec);
        } else {
            filters.push(name.as_str());
        }
    }
    if !packages.is_empty() {
        tally.tests("tests of packages", || {
            native::package_tests(root, &packages)
        });
    }
    if !filters.is_empty() {
        tally.tests("tests by name", || native::filtered_tests(root, &filters));
    }
    if !specs.is_empty() && tally.check("command line", || browser::command_line(root)) {
        named_specs(project, tally, &specs);
    }
}

fn named_specs(project: &Project, tally: &mut Tally<'_>, specs: &[String]) {
    let needs_shipped = (specs.iter()).any(|spec| browser::SHIPPED.contains(&spec.as_str()));
    let kind = match needs_shipped {
        true => Kind::Shipped,
        false => Kind::Quick,
    };
    with_site(project, kind, |site| {
        if !site.wait(tally) {
            return;
        }
        match kind {
            Kind::Shipped => on_shipped(project, tally, || Ok(specs.to_vec())),
            Kind::Quick => tally.tests("browser tests of the quick site", || {
                browser::playwright(project, kind, specs)
            }),
        }
    });
}
