//! Names that a stranger would have to guess do not come back, and doc comments say more than the name.
//!
//! `docs/glossary.md` has the words to use instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};

use crate::layers::files;

/// Names that were once in this code, with the word of the field for each.
const REFUSED: &[(&str, &str)] = &[
    ("Becomes", "Route"),
    ("Beside", "a noun: ComparedStacks, ComparisonTarget"),
    ("beside", "compared, other, alignment"),
    ("Desk", "SliceQueue, SliceServer"),
    ("Different", "DifferingValue"),
    ("GcPause", "CollectionInRange"),
    ("Glance", "SyncedView"),
    ("Hearer", "Consumer"),
    ("Kept", "what it holds: DeferredEvents, StoredWords"),
    ("Later", "LocalBoxFuture"),
    ("Listen", "Yield"),
    ("Lit", "Highlight"),
    ("lit", "highlight"),
    ("Lives", "CapLifetimes"),
    ("Looked", "ReadCursor"),
    ("Looks", "ReadCursors"),
    ("Made", "what it is"),
    ("News", "LogUpdate"),
    ("Nobody", "BufferReleaser"),
    ("Oddity", "Anomaly"),
    ("oddity", "anomaly"),
    ("oddities", "anomalies"),
    ("place32", "saturating_u32"),
    ("put_away", "spill"),
    ("readied", "became_runnable"),
    ("is_readied", "wakeup_makes_ready"),
    ("not_readied", "spurious_wakeups"),
    ("Over", "OverlayKind"),
    ("Recent", "CountLru"),
    ("Remembered", "ByteLru"),
    ("Says", "ThreadEventKind, MessageKind"),
    ("settle", "finish; sort_and_clip, record"),
    ("Shelf", "SpillStore"),
    ("Telling", "SampleCursor"),
    ("Told", "TimelineEvent, DiagnosticJson"),
    ("trouble", "error"),
    ("WaitRunCycle", "Turn"),
    ("Watcher", "SweepVisitor"),
    ("Wish", "PanelRequest"),
];

/// Words that add nothing to a name in a doc comment.
const FILLERS: &[&str] = &[
    "a", "an", "the", "its", "their", "all", "of", "new", "is", "returns", "this",
];

/// Declarations of one file with a refused name or a doc comment that only repeats the name.
#[derive(Default)]
struct Declarations {
    refused: Vec<String>,
    repeated: Vec<String>,
}

impl Declarations {
    fn declare(&mut self, name: &syn::Ident, attributes: &[syn::Attribute]) {
        let text = name.to_string();
        if let Some((_, better)) = REFUSED.iter().find(|(refused, _)| *refused == text) {
            self.refused.push(format!("{text}: {better}"));
        }
        if text.starts_with("LEAST_") {
            self.refused.push(format!("{text}: MIN_…"));
        }
        let doc: Vec<String> = attributes.iter().filter_map(doc_text).collect();
        let doc = doc.join(" ");
        if !doc.is_empty() && repeats(&text, &doc) {
            self.repeated.push(format!("{text}: {}", doc.trim()));
        }
    }
}

/// Returns the text of a doc comment line.
fn doc_text(attribute: &syn::Attribute) -> Option<String> {
    let pair = attribute.meta.require_name_value().ok()?;
    let is_doc = pair.path.is_ident("doc");
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) if is_doc => Some(text.value()),
        _ => None,
    }
}

/// Whether a doc comment of three words or less has only the words of the name.
fn repeats(name: &str, doc: &str) -> bool {
    let doc = words(doc);
    let name: BTreeSet<String> = words(name).into_iter().collect();
    let is_known = |word: &String| {
        FILLERS.contains(&word.as_str())
            || name.contains(word)
            || name.contains(word.trim_end_matches('s'))
    };
    (1..=3).contains(&doc.len()) && doc.iter().all(is_known)
}

/// Splits a sentence or an identifier (`snake_case`, `CamelCase`) into lower-case words.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("a word").extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

impl<'ast> Visit<'ast> for Declarations {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.declare(&item.ident, &item.attrs);
        visit::visit_item_struct(self, item);
    }
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.declare(&item.ident, &item.attrs);
        visit::visit_item_enum(self, item);
    }
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.declare(&item.ident, &item.attrs);
        visit::visit_item_trait(self, item);
    }
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.declare(&item.ident, &item.attrs);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.declare(&item.ident, &item.attrs);
        visit::visit_item_mod(self, item);
    }
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.declare(&item.sig.ident, &item.attrs);
        visit::visit_item_fn(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.declare(&item.sig.ident, &item.attrs);
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.declare(&item.sig.ident, &item.attrs);
        visit::visit_trait_item_fn(self, item);
    }
    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            self.declare(name, &field.attrs);
        }
    }
    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        // Public variants need a comment even where the name says all.
        self.declare(&variant.ident, &[]);
        visit::visit_variant(self, variant);
    }
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.declare(&pattern.ident, &[]);
    }
}

/// Walks over all sources; each declaration is `path: name`.
fn declarations() -> Declarations {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    for folder in [
        "crates", "src", "xtask", "tests", "benches", "fuzz", "examples",
    ] {
        files(&root.join(folder), &mut sources);
    }
    assert!(sources.len() > 500, "only {} sources", sources.len());
    let mut all = Declarations::default();
    for path in sources {
        let text = fs::read_to_string(&path).expect("a source");
        let file = syn::parse_file(&text).expect("Rust");
        let mut declarations = Declarations::default();
        declarations.visit_file(&file);
        let path = path.strip_prefix(root).expect("below the root").display();
        let placed = |what: String| format!("{path}: {what}");
        all.refused
            .extend(declarations.refused.into_iter().map(placed));
        all.repeated
            .extend(declarations.repeated.into_iter().map(placed));
    }
    all
}

/// One test for both, as reading all sources takes seconds.
#[test]
fn refused_names_do_not_come_back_and_comments_say_more_than_names() {
    let Declarations { refused, repeated } = declarations();
    assert!(refused.is_empty(), "better names:\n{}", refused.join("\n"));
    assert!(
        repeated.is_empty(),
        "comments that repeat the name:\n{}",
        repeated.join("\n")
    );
}

#[test]
fn a_repeated_name_is_seen() {
    assert!(repeats("StopCode", "Stop codes."));
    assert!(repeats("name", "Its name."));
    assert!(repeats("columns", "The columns."));
    assert!(!repeats("limit", "Bytes at most."));
    assert!(!repeats("StopCode", "Reason why a thread stopped."));
}

/// Names of types, and texts other than comments.
#[derive(Default)]
struct TypesAndTexts {
    types: BTreeSet<String>,
    texts: Vec<String>,
}

impl<'ast> Visit<'ast> for TypesAndTexts {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.types.insert(item.ident.to_string());
        visit::visit_item_struct(self, item);
    }
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.types.insert(item.ident.to_string());
        visit::visit_item_enum(self, item);
    }
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.texts.push(text.value());
    }
}

/// A type that is renamed does not change the sentences of findings.
#[test]
fn findings_do_not_name_types() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    files(&root.join("crates/insight/src"), &mut sources);
    let mut all = TypesAndTexts::default();
    for path in sources {
        let text = fs::read_to_string(&path).expect("a source");
        all.visit_file(&syn::parse_file(&text).expect("Rust"));
    }
    // Names of one word are words.
    all.types.retain(|name| words(name).len() > 1);
    let named = all.texts.iter().filter(|text| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| all.types.contains(word))
    });
    assert_eq!(named.collect::<Vec<_>>(), [""; 0]);
}
