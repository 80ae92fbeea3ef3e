//! Layers of the code: Cargo prevents dependencies on higher crates, and this test prevents cycles between modules
//! of different folders within a crate. Modules of one folder may depend on each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// Module path from the root of its crate.
type Module = Vec<String>;

/// Collects the paths that a file uses outside of its tests.
#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
    /// Reexports (`pub use`), which are no uses by themselves.
    handed_on: Vec<Vec<String>>,
}

impl Paths {
    /// Appends the paths of a `use` tree to `into`.
    fn uses(tree: &syn::UseTree, mut before: Vec<String>, into: &mut Vec<Vec<String>>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                Self::uses(&path.tree, before, into);
            }
            syn::UseTree::Group(group) => {
                for item in &group.items {
                    Self::uses(item, before.clone(), into);
                }
            }
            syn::UseTree::Name(syn::UseName { ident })
            | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
                before.push(ident.to_string());
                into.push(before);
            }
            syn::UseTree::Glob(_) => into.push(before),
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let test = |list: &syn::MetaList| list.tokens.to_string() == "test";
        attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(test)
    })
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let into = match item.vis {
            syn::Visibility::Inherited => &mut self.found,
            _ => &mut self.handed_on,
        };
        Self::uses(&item.tree, Vec::new(), into);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    /// The path in `pub(in …)` is not a use of the module.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter();
        self.found
            .push(names.map(|name| name.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

/// Appends the Rust files below a folder to `into`.
pub(crate) fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder of the sources");
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|end| end == "rs") {
            into.push(path);
        }
    }
}

fn module(root: &Path, file: &Path) -> Module {
    let inside = file.strip_prefix(root).expect("a file of the crate");
    let mut names: Module = inside
        .with_extension("")
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if matches!(
        names.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        names.pop();
    }
    names
}

/// Returns the modules that each module of a crate uses.
fn uses(root: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut all = Vec::new();
    files(root, &mut all);
    all.retain(|file| !module(root, file).iter().any(|name| name == "tests"));
    let modules: BTreeSet<Module> = all.iter().map(|file| module(root, file)).collect();
    let mut paths: BTreeMap<Module, Paths> = BTreeMap::new();
    for file in &all {
        let text = fs::read_to_string(file).expect("a source file");
        let mut found = Paths::default();
        found.visit_file(&syn::parse_file(&text).expect("Rust"));
        paths.insert(module(root, file), found);
    }
    let lead = |own: &Module, path: &[String]| {
        let mut place = target(path, own, &modules)?;
        // Resolve reexports to the module that defines the item.
        for _ in 0..4 {
            let name = path.last()?;
            let handed_on = paths.get(&place)?.handed_on.iter();
            let Some(from) = handed_on.clone().find(|from| from.last() == Some(name)) else {
                break;
            };
            place = target(from, &place, &modules)?;
        }
        // The root of a crate only lists its modules.
        (!place.is_empty() && place != *own).then_some(place)
    };
    let used = |own: &Module| {
        let found = paths[own].found.iter();
        found.filter_map(|path| lead(own, path)).collect()
    };
    modules.iter().map(|own| (own.clone(), used(own))).collect()
}

/// Returns the module that a path refers to; `None` if it is outside of the crate.
fn target(path: &[String], own: &Module, modules: &BTreeSet<Module>) -> Option<Module> {
    let first = path.first()?;
    let mut full: Module = match first.as_str() {
        "crate" => path[1..].to_vec(),
        "self" => own.iter().chain(&path[1..]).cloned().collect(),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            let kept = own.len().checked_sub(up)?;
            own[..kept].iter().chain(&path[up..]).cloned().collect()
        }
        _ => {
            let child: Module = own.iter().chain([first]).cloned().collect();
            if !modules.contains(&child) {
                return None;
            }
            own.iter().chain(path).cloned().collect()
        }
    };
    while !modules.contains(&full) {
        full.pop()?;
    }
    Some(full)
}

/// Returns all modules reachable from a module.
fn reached<'a>(
    from: &'a Module,
    uses: &'a BTreeMap<Module, BTreeSet<Module>>,
) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        for used in uses.get(module).into_iter().flatten() {
            if seen.insert(used) {
                next.push(used);
            }
        }
    }
    seen
}

/// Returns the folder of a module; for a module with submodules, their folder.
fn folder(module: &Module, modules: &BTreeMap<Module, BTreeSet<Module>>) -> Module {
    let has_children = modules
        .keys()
        .any(|other| other.len() > module.len() && other.starts_with(module));
    let up = usize::from(!has_children);
    module[..module.len() - up].to_vec()
}

/// Returns the source folder of each package.
fn packages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = ["cli", "fleet", "page", "protocol", "worker"]
        .map(|name| root.join("src").join(name))
        .to_vec();
    for entry in fs::read_dir(root.join("crates")).expect("the crates") {
        all.push(entry.expect("an entry").path().join("src"));
    }
    all
}

#[test]
fn no_circle_of_modules_runs_through_different_folders() {
    let mut circles: BTreeMap<String, String> = BTreeMap::new();
    let mut arrows = 0;
    for root in packages() {
        let uses = uses(&root);
        arrows += uses.values().map(BTreeSet::len).sum::<usize>();
        let reach: BTreeMap<&Module, BTreeSet<&Module>> = uses
            .keys()
            .map(|module| (module, reached(module, &uses)))
            .collect();
        let name = root.strip_prefix(env!("CARGO_MANIFEST_DIR"));
        let name = name.expect("in the project").display();
        for (module, used) in &uses {
            for other in used {
                let back = reach.get(other).is_some_and(|all| all.contains(module));
                let mut folders = [folder(module, &uses), folder(other, &uses)];
                if back && folders[0] != folders[1] {
                    folders.sort();
                    let tied = folders.map(|folder| folder.join("::")).join(" and ");
                    let example = format!("{} uses {}", module.join("::"), other.join("::"));
                    circles.entry(format!("{name}: {tied}")).or_insert(example);
                }
            }
        }
    }
    assert!(arrows > 500, "only {arrows} uses of modules were found");
    assert!(circles.is_empty(), "{circles:#?}");
}

/// Input files determine the keys of most tables: without a seeded hash function, a small file could make every
/// lookup slow.
#[test]
fn hash_tables_have_seeds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut unseeded = Vec::new();
    for package in packages() {
        let mut all = Vec::new();
        files(&package, &mut all);
        all.retain(|file| !file.ends_with("eventlog/src/hash.rs"));
        all.retain(|file| !module(&package, file).iter().any(|name| name == "tests"));
        let is_native = package.ends_with("src/cli");
        for file in all {
            let text = fs::read_to_string(&file).expect("a source file");
            let mut paths = Paths::default();
            paths.visit_file(&syn::parse_file(&text).expect("Rust"));
            for path in paths.found.iter().chain(&paths.handed_on) {
                let has = |name: &str| path.iter().any(|part| part == name);
                // Tables of the standard library are seeded, except in WebAssembly.
                let is_standard =
                    has("std") && (has("HashMap") || has("HashSet") || has("RandomState"));
                let is_other = path[0] == "rustc_hash" || path[0] == "foldhash";
                if is_other || is_standard && !is_native {
                    let name = file.strip_prefix(root).unwrap_or(&file).display();
                    unseeded.push(format!("{name}: {}", path.join("::")));
                }
            }
        }
    }
    assert!(unseeded.is_empty(), "{unseeded:#?}");
}
