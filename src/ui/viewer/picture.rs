//! The picture: on the canvas, and as a file.

use super::{Viewer, ViewerRef};
use crate::ui::dom::set_style;
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

    /// What is on the canvas, as SVG.
    pub(in crate::ui) fn svg(&self) -> String {
        let viewer = self.0.borrow();
        let theme = theme::current();
        let mut painter = views::scene::svg::SvgPainter::new(viewer.control.size());
        let scene = viewer
            .control
            .scene(theme.palette, theme.patterns, &viewer.notes);
        scene.paint(&mut painter);
        painter.finish()
    }
}

impl Viewer {
    pub(super) fn paint(&mut self) {
        let (Some(elements), control) = (&mut self.elements, &self.control) else {
            return;
        };
        let theme = theme::current();
        elements.painter.begin(&elements.canvas, control.size());
        let scene = control.scene(theme.palette, theme.patterns, &self.notes);
        scene.paint(&mut elements.painter);
        let pointer = control.pointer_at();
        let lengths = [
            ("--labels", control.labels_px()),
            ("--pinned", control.pinned_px()),
            ("--heads", control.heads_px()),
            ("--pointer-x", pointer.map_or(0.0, |at| at.0)),
            ("--pointer-y", pointer.map_or(0.0, |at| at.1)),
        ];
        for (name, px) in lengths {
            set_style(&elements.picture, name, &format!("{px:.1}px"));
        }
        let low = pointer.is_some_and(|at| at.1 > control.size().1 / 2.0);
        for (name, on) in [("data-low", low), ("data-left", control.is_card_left())] {
            // A known attribute with a known value.
            let _ = if on {
                elements.picture.set_attribute(name, "")
            } else {
                elements.picture.remove_attribute(name)
            };
        }
    }
}
