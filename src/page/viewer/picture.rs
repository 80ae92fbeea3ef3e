//! The picture: on the canvas, and as a file.

use super::{Control, Elements, Viewer, ViewerRef};
use crate::canvas::{CanvasPainter, screen_pixels_per_css_pixel};
use crate::dom::set_style;
use crate::theme;
use scene::palette::Palette;
use scene::svg::SvgPainter;
use views::control::{Labels, Still};
use views::timeline::Scene;
use views::timeline::picture::{Caption, Picture};
use web_sys::HtmlElement;

/// A timeline with what stands above it in a picture.
pub(crate) type Side<'a> = (Caption, &'a ViewerRef);

/// What the timelines show as a PNG file, one below the other, handed to `done`.
pub(crate) fn png(sides: &[Side<'_>], done: impl FnOnce(web_sys::Blob) + 'static) {
    if let Some(mut painter) = CanvasPainter::layer() {
        with_picture(sides, |picture| {
            painter.picture(picture.size(), |painter| picture.paint(painter));
        });
        painter.png(done);
    }
}

/// What the timelines show as SVG, one below the other.
pub(crate) fn svg(sides: &[Side<'_>]) -> String {
    with_picture(sides, |picture| {
        let mut painter = SvgPainter::new(picture.size());
        picture.paint(&mut painter);
        painter.finish()
    })
}

/// Does something with the picture of timelines.
fn with_picture<T>(sides: &[Side<'_>], paint: impl FnOnce(&Picture<'_, Labels>) -> T) -> T {
    let viewers: Vec<_> = sides.iter().map(|(_, viewer)| viewer.0.borrow()).collect();
    let scenes = sides.iter().zip(&viewers);
    let scenes = scenes.map(|((caption, _), viewer)| (caption.clone(), viewer.scene()));
    paint(&Picture::new(scenes.collect()))
}

/// What the tracks on a canvas were painted from.
#[derive(Clone, Copy)]
struct Painted {
    still: Still,
    palette: &'static Palette,
    patterns: bool,
    /// How many pixels a CSS pixel had.
    ratio: f64,
}

impl PartialEq for Painted {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.palette, other.palette)
            && (self.still, self.patterns, self.ratio) == (other.still, other.patterns, other.ratio)
    }
}

/// The tracks as they were painted, to be used again while one points and
/// selects.
#[derive(Default)]
pub(super) struct Tracks {
    /// What the picture before this was painted from.
    last: Option<Painted>,
    /// What the layer was painted from.
    kept: Option<Painted>,
    layer: Option<CanvasPainter>,
}

impl Tracks {
    /// The layer with the tracks; `None` while each picture has others, which
    /// are painted where they are seen.
    fn layer(
        &mut self,
        now: Painted,
        size: (f64, f64),
        paint: impl FnOnce(&mut CanvasPainter),
    ) -> Option<&CanvasPainter> {
        if self.last.replace(now) != Some(now) {
            return None;
        }
        if self.layer.is_none() {
            self.layer = CanvasPainter::layer();
        }
        let layer = self.layer.as_mut()?;
        if self.kept != Some(now) {
            layer.picture(size, paint);
            self.kept = Some(now);
        }
        Some(layer)
    }
}

impl Viewer {
    /// All that is shown.
    fn scene(&self) -> Scene<'_, Labels> {
        let theme = theme::current();
        self.control
            .scene(theme.palette, theme.patterns, &self.notes)
    }

    pub(super) fn paint(&mut self) {
        let (Some(elements), control) = (&mut self.elements, &self.control) else {
            return;
        };
        let theme = theme::current();
        let scene = control.scene(theme.palette, theme.patterns, &self.notes);
        let now = Painted {
            still: control.still(),
            palette: theme.palette,
            patterns: theme.patterns,
            ratio: screen_pixels_per_css_pixel(),
        };
        let size = control.size();
        let layer = elements
            .tracks
            .layer(now, size, |painter| scene.paint_still(painter));
        elements.painter.picture(size, |painter| {
            scene.paint_ground(painter);
            match layer {
                Some(layer) => painter.paint_layer(layer),
                None => scene.paint_still(painter),
            }
            scene.paint_focus(painter);
        });
        elements.place(control);
    }
}

/// Sets lengths in an element's style. Each has what lies in it laid out anew,
/// so only others than the `known` ones are set.
fn set_lengths<const N: usize>(
    element: &HtmlElement,
    lengths: [(&str, f64); N],
    known: &mut Option<[f64; N]>,
) {
    let now = lengths.map(|(_, px)| px);
    if known.replace(now) != Some(now) {
        for (name, px) in lengths {
            set_style(element, name, &format!("{px:.1}px"));
        }
    }
}

impl Elements {
    /// Tells the elements over the canvas where they stand.
    fn place(&mut self, control: &Control) {
        let picture = [
            ("--labels", control.labels_px()),
            ("--pinned", control.pinned_px()),
            ("--heads", control.heads_px()),
        ];
        set_lengths(&self.picture, picture, &mut self.picture_px);
        let Some(pointer) = control.pointer_at() else {
            return;
        };
        if self.pointed_at.replace(pointer) != Some(pointer) {
            self.place_tip(pointer);
        }
    }

    /// Places the tip beside the pointer, in the window: the picture is too small for it at times.
    fn place_tip(&self, (x, y): (f64, f64)) {
        let picture = self.picture.get_bounding_client_rect();
        let (x, y) = (picture.left() + x, picture.top() + y);
        set_style(&self.pointed, "--pointer-x", &format!("{x:.1}px"));
        set_style(&self.pointed, "--pointer-y", &format!("{y:.1}px"));
        let height = gloo_utils::document_element().client_height();
        let _ = self
            .pointed
            .toggle_attribute_with_force("data-low", y > f64::from(height) / 2.0);
    }
}
