//! Opening a log, hearing of it from the worker, and asking about it.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use super::{App, Log, Msg, Screen, THREADS_LISTED};
use crate::protocol::News;
use crate::ui::client::ClientEvent;
use crate::ui::files::{self, Dropped, Sorted};
use crate::ui::panel::Marked;
use crate::ui::same::Same;
use analysis::timeline::usage::UsageRow;
use analysis::timeline::scope::Scope;
use analysis::timeline::threads::ThreadFilter;
use eventlog::ids::{CapId, ThreadId};
use views::scene::arrange::{Known, TrackChange, arrange, hidden_names};
use views::scene::format;
use views::scene::history::History;
use views::scene::track::Layout;
use views::session::questions::UsageQuery;
use views::share::{Panel, TrackName};

impl App {
    pub(super) fn open(&mut self, ctx: &Context<Self>, file: &File) {
        self.generation += 1;
        self.screen = Screen::Loading;
        self.error = None;
        self.notice = None;
        self.range = None;
        self.place = None;
        self.tracks.selected.clear();
        self.marked = Rc::default();
        self.notes = Rc::default();
        self.note_focus = None;
        self.viewer.set_notes(&Rc::default());
        self.diagnostics_asked = 0;
        self.goto_when_listed = None;
        self.description = None;
        self.pinned = None;
        self.track = None;
        self.layout = Same::default();
        self.log = Log {
            name: file.name(),
            ..Log::default()
        };
        self.history = History::default();
        self.log_client.close();
        if let Some(wanted) = &self.wanted {
            // Its spans may be what the link leads to.
            self.client.set_span_prefixes(&wanted.tracks.prefixes);
        }
        self.log_client = self.client.open(file);
        self.viewer.reset(self.log_client.clone());
        let (generation, file, link) = (self.generation, file.clone(), ctx.link().clone());
        spawn_local(async move {
            let print = files::fingerprint_of(&file).await;
            link.send_message(Msg::Fingerprint(generation, print));
        });
    }

    pub(super) fn dropped(&mut self, ctx: &Context<Self>, dropped: Dropped) {
        self.dragging = false;
        match dropped {
            Dropped::Files(files) => ctx.link().send_message(Msg::Files(files)),
            Dropped::Folder => {
                self.fail("That is a folder. Drop the .eventlog file that is in it.".to_owned())
            }
            Dropped::Nothing => self.fail("That is no file. Drop an .eventlog file.".to_owned()),
        }
    }

    /// Opens the log among some files; an executable gives names to it.
    pub(super) fn sorted(&mut self, ctx: &Context<Self>, sorted: Sorted) {
        if let Some(symbols) = &sorted.symbols {
            self.client.set_symbols(symbols);
        }
        if let Some(log) = &sorted.log {
            self.open(ctx, log);
        }
        if sorted.more > 0 {
            self.notice = Some(format!(
                "{} more files were dropped; one log is shown at a time.",
                sorted.more
            ));
        }
    }

    /// Says why something did not work, without losing what is open.
    pub(super) fn fail(&mut self, why: String) {
        if self.screen == Screen::Open {
            self.notice = Some(why);
        } else {
            self.error = Some(why);
            self.screen = Screen::Landing;
        }
    }

    pub(super) fn cancel(&mut self) {
        gloo_utils::document().set_title("Eventscope");
        self.close();
        self.screen = Screen::Landing;
        self.log = Log::default();
    }

    fn close(&mut self) {
        self.log_client.close();
        self.log_client = self.client.no_log();
        self.viewer.reset(self.log_client.clone());
    }

    pub(super) fn hear(&mut self, ctx: &Context<Self>, event: ClientEvent) -> bool {
        match event {
            ClientEvent::News(log, news) if self.log_client.is_about(log) => {
                self.hear_news(ctx, news)
            }
            ClientEvent::News(..) => false,
            ClientEvent::Symbols(text) => {
                self.names += 1;
                self.notice = Some(text);
                true
            }
            ClientEvent::Died(message) => {
                self.died(&message);
                true
            }
        }
    }

    fn hear_news(&mut self, ctx: &Context<Self>, news: News) -> bool {
        match news {
            News::Loading {
                progress,
                events,
                overview,
            } if self.screen == Screen::Loading => {
                self.log.progress = progress;
                self.log.events = events;
                if let Some(overview) = overview {
                    self.log.overview = Rc::from(overview);
                    self.show_log();
                    self.ask_usage(ctx);
                }
            }
            News::Loaded {
                overview,
                elapsed_ms,
            } if self.screen == Screen::Loading => {
                self.log.flame_sources = Rc::new(overview.flame_sources.clone());
                self.log.overview = Rc::from(overview);
                self.log.elapsed_ms = Some(elapsed_ms);
                self.screen = Screen::Open;
                self.loaded(ctx);
            }
            News::Contents(contents, flame_sources) if self.screen == Screen::Open => {
                let overview = Rc::make_mut(&mut self.log.overview);
                overview.contents = *contents;
                self.log.flame_sources = Rc::new(flame_sources);
                self.show_log();
            }
            News::Failed { message } if self.screen == Screen::Loading => {
                self.screen = Screen::Landing;
                self.close();
                self.error = Some(message);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn died(&mut self, message: &str) {
        self.close();
        self.screen = Screen::Landing;
        let memory = ["memory", "alloc", "unreachable", "capacity"]
            .iter()
            .any(|word| message.contains(word));
        let advice = if memory {
            "It probably ran out of memory: close other tabs, or log less (+RTS -l-a leaves all events out, -lsg keeps scheduler and collections)."
        } else {
            "This is a defect of Eventscope: please report it with these words."
        };
        self.error = Some(format!(
            "The part that reads logs stopped at “{}”: {message}. {advice} A new one was started; drop the log again.",
            self.log.name
        ));
    }

    pub(super) fn loaded(&mut self, ctx: &Context<Self>) {
        if self.log.overview.span.is_none() {
            self.screen = Screen::Landing;
            let what = self
                .log
                .overview
                .warnings
                .first()
                .map(|warning| warning.text.clone())
                .unwrap_or_default();
            self.error = Some(format!(
                "“{}” has a header but no events. {what}",
                self.log.name
            ));
            return;
        }
        self.show_log();
        if let Some(state) = self.wanted.take() {
            self.apply(state);
            self.compare_with_link();
        }
        if self.panel == Panel::Summary
            && self.log.overview.caps.is_empty()
            && !self.log.flame_sources.is_empty()
        {
            self.panel = Panel::FlameGraph;
        }
        self.ask_threads(ctx);
        self.ask_usage(ctx);
        self.changed(ctx);
    }

    /// Gives the timeline what is known of the log.
    pub(super) fn show_log(&mut self) {
        let overview = &self.log.overview;
        let Some(span) = overview.span else { return };
        let labels = self
            .log
            .threads
            .iter()
            .filter_map(|row| Some((row.id, row.label.clone()?)))
            .collect();
        self.viewer.set_log(span, Rc::clone(overview), labels);
        self.show_tracks();
    }

    /// What is known of the tracks; `caps` are the capabilities with their notes.
    pub(super) fn known<'a>(&'a self, caps: &'a [(CapId, String)]) -> Known<'a> {
        let overview = &self.log.overview;
        Known {
            caps,
            messages: overview.messages,
            contents: &overview.contents,
            threads: &self.log.threads,
            pinned_threads: &self.log.pinned_threads,
            threads_in_all: self.log.threads_in_all,
        }
    }

    /// Arranges the tracks anew.
    pub(super) fn show_tracks(&mut self) {
        let overview = &self.log.overview;
        let note = |cap: CapId| {
            let row = self.log.usage.iter().find(|row| row.cap == cap)?;
            let life = row.mutator_ns + row.gc_ns + row.idle_ns;
            (life > 0).then(|| format::percent_short(row.mutator_ns, life))
        };
        let caps: Vec<(CapId, String)> = overview
            .caps
            .iter()
            .map(|life| (life.cap, note(life.cap).unwrap_or_default()))
            .collect();
        let known = self.known(&caps);
        let layout = Layout::new(arrange(&known, &self.tracks));
        self.hidden = hidden_names(&known, &self.tracks);
        self.layout = Same::new(layout);
        self.viewer.set_layout(&self.layout);
        let names = self.tracks.selected.iter().map(TrackName::as_str);
        let marked = Marked {
            scope: Scope::of_tracks(names, &overview.contents),
            count: self.tracks.selected.len(),
        };
        // Panels compare: what stays the same stays the same value.
        if *self.marked != marked {
            self.marked = Rc::new(marked);
        }
    }

    /// Selects no tracks any more; false if none were.
    pub(super) fn clear_marks(&mut self, ctx: &Context<Self>) -> bool {
        if self.tracks.selected.is_empty() {
            return false;
        }
        self.tracks.selected.clear();
        self.show_tracks();
        self.changed(ctx);
        true
    }

    /// Shows the tracks otherwise.
    pub(super) fn change_tracks(&mut self, ctx: &Context<Self>, change: TrackChange) {
        let order = self.tracks.threads;
        self.tracks.change(change, &self.layout);
        self.client.set_span_prefixes(&self.tracks.prefixes);
        self.show_tracks();
        if self.tracks.threads != order {
            self.ask_threads(ctx);
        }
        self.changed(ctx);
    }

    pub(super) fn ask_threads(&self, ctx: &Context<Self>) {
        let filter = ThreadFilter {
            text: self.tracks.filter.trim().to_owned(),
            order: self.tracks.threads,
            limit: THREADS_LISTED,
        };
        let link = ctx.link().clone();
        self.log_client.ask(filter, move |answer| {
            if let Ok((rows, total)) = answer {
                link.send_message(Msg::Threads(rows, total as u64));
            }
        });
    }

    /// Asks for the pinned threads that are not listed: they are shown
    /// whatever the filter is.
    pub(super) fn ask_pinned_threads(&self, ctx: &Context<Self>) {
        let known = |id: ThreadId| {
            let rows = self.log.threads.iter().chain(&self.log.pinned_threads);
            rows.into_iter().any(|row| row.id == id)
        };
        let pinned = self.tracks.pinned.iter();
        for id in pinned
            .filter_map(TrackName::as_thread)
            .filter(|id| !known(*id))
        {
            let filter = ThreadFilter {
                text: format!("#{id}"),
                limit: 100,
                ..ThreadFilter::default()
            };
            let link = ctx.link().clone();
            self.log_client.ask(filter, move |answer| {
                if let Ok((rows, _)) = answer
                    && let Some(row) = rows.into_iter().find(|row| row.id == id)
                {
                    link.send_message(Msg::PinnedThread(row));
                }
            });
        }
    }

    /// Asks how the whole log was spent, for the notes beside the capabilities.
    pub(super) fn ask_usage(&self, ctx: &Context<Self>) {
        let Some(whole) = self.log.overview.span else {
            return;
        };
        let link = ctx.link().clone();
        self.log_client.ask(UsageQuery(whole), move |answer| {
            if let Ok(rows) = answer {
                link.send_message(Msg::Usage(rows));
            }
        });
    }

    pub(super) fn usage_came(&mut self, rows: Vec<UsageRow>) {
        if self.log.usage != rows {
            self.log.usage = rows;
            self.show_log();
        }
    }
}
