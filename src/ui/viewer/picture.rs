//! The picture: on the canvas, and as a file.

use super::{Viewer, ViewerRef};
use crate::scene::item::Names;
use crate::scene::painter::Painter;
use crate::scene::palette::Palette;
use crate::scene::timeline::{Focus, Scene, TOP_PX};
use crate::scene::track::Layout;
use crate::ui::theme;

impl ViewerRef {
    /// The canvas as a PNG file, handed to `done`.
    pub(in crate::ui) fn png(&self, done: impl FnOnce(web_sys::Blob) + 'static) {
        use wasm_bindgen::prelude::*;
        let viewer = self.0.borrow();
        let Some(elements) = &viewer.elements else {
            return;
        };
        let done = Closure::once_into_js(move |blob: Option<web_sys::Blob>| {
            if let Some(blob) = blob {
                done(blob);
            }
        });
        // Fails only for a canvas without pixels, of which there is no picture.
        let _ = elements.canvas.to_blob(done.unchecked_ref());
    }

    /// The same picture as SVG.
    pub(in crate::ui) fn svg(&self) -> String {
        let viewer = self.0.borrow();
        let mut painter = crate::scene::svg::SvgPainter::new(viewer.size);
        viewer.paint_on(&mut painter, theme::current());
        painter.finish()
    }
}

impl Viewer {
    pub(super) fn paint(&mut self) {
        let Some(mut elements) = self.elements.take() else {
            return;
        };
        elements.painter.begin(&elements.canvas, self.size);
        self.paint_on(&mut elements.painter, theme::current());
        let style = elements.picture.style();
        let tracks = self.layout.tracks();
        let first = self.seen.start.min(tracks.len());
        let heads = self.layout.y(first, self.scroll_px) - self.layout.pinned_px();
        let lengths = [
            ("--pinned", self.layout.pinned_px()),
            ("--heads", heads),
            ("--pointer-x", self.focus.pointer_at.map_or(0.0, |at| at.0)),
            ("--pointer-y", self.focus.pointer_at.map_or(0.0, |at| at.1)),
        ];
        for (name, px) in lengths {
            // A length is always a valid value.
            let _ = style.set_property(name, &format!("{px:.1}px"));
        }
        let low = self
            .focus
            .pointer_at
            .is_some_and(|at| at.1 > self.size.1 / 2.0);
        for (name, on) in [("data-low", low), ("data-left", self.focus.card_left)] {
            // A known attribute with a known value.
            let _ = if on {
                elements.picture.set_attribute(name, "")
            } else {
                elements.picture.remove_attribute(name)
            };
        }
        self.elements = Some(elements);
    }

    fn paint_on(&self, painter: &mut impl Painter, theme: theme::Theme) {
        self.scene(theme.palette, theme.patterns, &self.labels, &self.layout)
            .paint(painter);
    }

    fn scene<'a, N: Names>(
        &'a self,
        palette: &'a Palette,
        patterns: bool,
        names: &'a N,
        layout: &'a Layout,
    ) -> Scene<'a, N> {
        let focus = &self.focus;
        Scene {
            layout,
            scroll_px: self.scroll_px,
            size: (self.size.0, self.size.1.max(TOP_PX)),
            view: self.view,
            palette,
            patterns,
            caps: self.caps,
            marks: &self.marks,
            overview: &self.overview,
            names,
            notes: &self.notes,
            focus: Focus {
                range: focus.range,
                selected: focus.selected.as_ref(),
                hovered: focus.hovered.as_ref(),
                pointer: focus.pointer,
                cursor: focus.cursor,
                measure: focus.measure,
                arrows: &self.flow.answer,
            },
        }
    }
}
