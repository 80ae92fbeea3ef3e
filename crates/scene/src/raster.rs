//! Software rasterizer for rectangles and stepped polygons.
//!
//! A canvas takes about half a microsecond per rectangle, and a picture of dense tracks has twenty thousand.
//! Edges between pixels are anti-aliased like those of a canvas, so that both paths look the same.

use super::painter::{Paint, Rect};

/// Cost of a rectangle on a canvas, about half a microsecond: the unit of all costs here.
const RECT_COST: f64 = 1.0;
/// Cost of a polygon point on a canvas, which fills many edges slowly.
const POINT_COST: f64 = 0.7;
/// Fixed cost of transferring pixels to a canvas, and cost per pixel.
const HAND_OVER_COST: f64 = 200.0;
const PIXEL_COST: f64 = 0.01;
/// Limit of pixels per batch.
const MAX_PIXELS: f64 = 4_000_000.0;

/// A shape to be painted.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// A rectangle.
    Fill(Rect),
    /// A polygon with horizontal and vertical edges only, by its number of points.
    Steps(usize),
}

/// Shapes to be painted, in painting order.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    shapes: Vec<(Shape, Paint)>,
    points: Vec<(f64, f64)>,
}

/// Target of the shapes in a batch.
pub trait Shapes {
    /// Fills a rectangle.
    fn fill(&mut self, rect: Rect, paint: Paint);
    /// Fills a polygon.
    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint);
}

/// Returns whether all edges of a polygon are horizontal or vertical, and all points finite.
fn is_steps(points: &[(f64, f64)]) -> bool {
    let closing = points.last().into_iter().chain(points);
    let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    points.iter().all(finite) && closing.zip(points).all(|(a, b)| a.0 == b.0 || a.1 == b.1)
}

impl Batch {
    /// Adds a rectangle to the batch.
    pub fn fill(&mut self, rect: Rect, paint: Paint) {
        self.shapes.push((Shape::Fill(rect), paint));
    }

    /// Adds a polygon if all its edges are horizontal or vertical; otherwise returns false.
    pub fn steps(&mut self, points: &[(f64, f64)], paint: Paint) -> bool {
        let taken = is_steps(points);
        if taken {
            self.points.extend_from_slice(points);
            self.shapes.push((Shape::Steps(points.len()), paint));
        }
        taken
    }

    /// Returns whether there are no shapes.
    pub const fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Removes all shapes.
    pub fn clear(&mut self) {
        self.shapes.clear();
        self.points.clear();
    }

    /// Paints each shape with `by`.
    pub fn replay(&self, by: &mut impl Shapes) {
        let mut points = self.points.as_slice();
        for &(shape, paint) in &self.shapes {
            match shape {
                Shape::Fill(rect) => by.fill(rect, paint),
                Shape::Steps(count) => {
                    let (these, others) = points.split_at(count);
                    points = others;
                    by.polygon(these, paint);
                }
            }
        }
    }

    /// Rasterizes all shapes within `clip`, at `ratio` device pixels per CSS pixel. Returns false if a canvas is
    /// expected to paint them faster.
    pub fn rasterize(&self, clip: Rect, ratio: f64, pixels: &mut Pixels) -> bool {
        let direct = self.shapes.len() as f64 * RECT_COST + self.points.len() as f64 * POINT_COST;
        if direct <= HAND_OVER_COST {
            return false;
        }
        let bounds = self.bounds(clip);
        let size = (bounds.w * ratio).ceil() * (bounds.h * ratio).ceil();
        if direct <= HAND_OVER_COST + size * PIXEL_COST || size > MAX_PIXELS {
            return false;
        }
        pixels.begin(bounds, ratio);
        self.replay(pixels);
        true
    }

    /// Returns the bounding box of the shapes, clipped to `clip`.
    fn bounds(&self, clip: Rect) -> Rect {
        let (mut left, mut top) = (f64::INFINITY, f64::INFINITY);
        let (mut right, mut bottom) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let mut take = |x: f64, y: f64| {
            (left, top) = (left.min(x), top.min(y));
            (right, bottom) = (right.max(x), bottom.max(y));
        };
        for (shape, _) in &self.shapes {
            if let Shape::Fill(rect) = shape {
                take(rect.x, rect.y);
                take(rect.x + rect.w, rect.y + rect.h);
            }
        }
        self.points.iter().for_each(|&(x, y)| take(x, y));
        Rect::new(left, top, right - left, bottom - top).common(clip)
    }
}

/// A rectangle of pixels: red, green, blue and alpha in one number each, with premultiplied alpha.
#[derive(Clone, Debug, Default)]
pub struct Pixels {
    /// Position of the top left pixel, in device pixels.
    left: f64,
    top: f64,
    width: usize,
    height: usize,
    ratio: f64,
    pixels: Vec<u32>,
    /// Coverage change in each pixel of a polygon, from the edges there.
    cover: Vec<f32>,
    bytes: Vec<[u8; 4]>,
}

/// Returns the part of pixel `i` that lies between two positions.
fn part(i: usize, from: f64, to: f64) -> f64 {
    (to.min(i as f64 + 1.0) - from.max(i as f64)).clamp(0.0, 1.0)
}

impl Pixels {
    /// Clears the pixels of a rectangle given in CSS pixels.
    fn begin(&mut self, bounds: Rect, ratio: f64) {
        let edges = |from: f64, length: f64| {
            let first = (from * ratio).floor();
            // Casts from floats saturate.
            (first, (((from + length) * ratio).ceil() - first) as usize)
        };
        (self.left, self.width) = edges(bounds.x, bounds.w);
        (self.top, self.height) = edges(bounds.y, bounds.h);
        self.ratio = ratio;
        self.pixels.clear();
        self.pixels.resize(self.width * self.height, 0);
    }

    /// Returns the position of the top left pixel, in device pixels.
    pub const fn origin(&self) -> (f64, f64) {
        (self.left, self.top)
    }

    /// Returns the width and height in device pixels.
    pub const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Returns the pixels in rows from the top left one, as four bytes: red, green, blue and alpha, not
    /// premultiplied, as in the `ImageData` of a canvas.
    pub fn bytes(&mut self) -> &[u8] {
        self.bytes.clear();
        self.bytes
            .extend(self.pixels.iter().map(|&pixel| plain(pixel)));
        self.bytes.as_flattened()
    }

    fn x(&self, x: f64) -> f64 {
        (x * self.ratio - self.left).clamp(0.0, self.width as f64)
    }

    fn y(&self, y: f64) -> f64 {
        (y * self.ratio - self.top).clamp(0.0, self.height as f64)
    }
}

impl Shapes for Pixels {
    fn fill(&mut self, rect: Rect, paint: Paint) {
        let (a, b) = (self.x(rect.x), self.x(rect.x + rect.w));
        let (c, d) = (self.y(rect.y), self.y(rect.y + rect.h));
        let (left, right, top, bottom) = (a.min(b), a.max(b), c.min(d), c.max(d));
        // NaN fails both comparisons, so nothing is painted.
        if !(left < right && top < bottom) {
            return;
        }
        let (first, last) = (left as usize, right.ceil() as usize);
        let ink = Ink::from_paint(paint);
        // Most pixel rows are covered like the previous one.
        let mut covered = (0.0, [0; 3]);
        let ends = [part(first, left, right), part(last - 1, left, right)];
        for y in top as usize..bottom.ceil() as usize {
            let height = part(y, top, bottom);
            if covered.0 != height {
                let sources = [ends[0], 1.0, ends[1]].map(|part| ink.covering(height * part));
                covered = (height, sources);
            }
            let [begin, middle, end] = covered.1;
            let row = &mut self.pixels[y * self.width..][first..last];
            if let [one, others @ ..] = row {
                *one = over(begin, *one);
                if let [between @ .., last] = others {
                    for pixel in between {
                        *pixel = over(middle, *pixel);
                    }
                    *last = over(end, *last);
                }
            }
        }
    }

    /// Edges must be horizontal or vertical. Only vertical ones count: coverage begins at one and ends at
    /// another.
    fn polygon(&mut self, points: &[(f64, f64)], paint: Paint) {
        let (left, right) = min_max(points.iter().map(|&(x, _)| self.x(x)));
        let (top, bottom) = min_max(points.iter().map(|&(_, y)| self.y(y)));
        if !(left < right && top < bottom) {
            return;
        }
        let (first, last) = (left as usize, right.ceil() as usize);
        let rows = top as usize..bottom.ceil() as usize;
        // An edge affects its pixel and the next one.
        let stride = last - first + 2;
        self.cover.clear();
        self.cover.resize(stride * rows.len(), 0.0);
        let closing = points.last().into_iter().chain(points);
        for (from, to) in closing.zip(points).filter(|(from, to)| from.0 == to.0) {
            let x = self.x(from.0);
            let (a, b) = (self.y(from.1), self.y(to.1));
            let (top, bottom, sign) = if a < b { (a, b, 1.0) } else { (b, a, -1.0) };
            let (column, inside) = (x as usize - first, x.fract());
            for y in top as usize..bottom.ceil() as usize {
                let height = sign * part(y, top, bottom);
                let cover = &mut self.cover[(y - rows.start) * stride + column..][..2];
                cover[0] += (height * (1.0 - inside)) as f32;
                cover[1] += (height * inside) as f32;
            }
        }
        let ink = Ink::from_paint(paint);
        for (y, cover) in rows.zip(self.cover.chunks_exact(stride)) {
            let row = &mut self.pixels[y * self.width..][first..last];
            let mut covered = 0.0_f32;
            for (pixel, step) in row.iter_mut().zip(cover) {
                covered += step;
                let part = covered.abs();
                // Sums of floats are not exactly 0 or 1.
                if part > 0.999 {
                    *pixel = over(ink.whole, *pixel);
                } else if part > 0.001 {
                    *pixel = over(ink.covering(part.into()), *pixel);
                }
            }
        }
    }
}

/// Returns the minimum and maximum.
fn min_max(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    values.fold(none, |(least, most), value| {
        (least.min(value), most.max(value))
    })
}

/// A paint, prepared for partially covered pixels.
#[derive(Clone, Copy)]
struct Ink {
    rgb: [u32; 3],
    alpha: f64,
    whole: u32,
}

impl Ink {
    fn from_paint(paint: Paint) -> Self {
        let color = paint.color;
        let mut ink = Self {
            rgb: [color.0, color.1, color.2].map(u32::from),
            // CSS opacity has 256 levels.
            alpha: (paint.alpha.clamp(0.0, 1.0) * 255.0).round(),
            whole: 0,
        };
        ink.whole = ink.weighted(ink.alpha as u32);
        ink
    }

    /// Returns the pixel for a coverage from 0 to 1.
    fn covering(&self, part: f64) -> u32 {
        if part >= 1.0 {
            self.whole
        } else {
            self.weighted((self.alpha * part + 0.5) as u32)
        }
    }

    fn weighted(&self, alpha: u32) -> u32 {
        let [red, green, blue] = self.rgb.map(|part| (part * alpha + 127) / 255);
        red | green << 8 | blue << 16 | alpha << 24
    }
}

/// Converts a premultiplied pixel to plain components.
fn plain(pixel: u32) -> [u8; 4] {
    let [red, green, blue, alpha] = pixel.to_le_bytes();
    if matches!(alpha, 0 | 255) {
        return [red, green, blue, alpha];
    }
    let (whole, half) = (u32::from(alpha), u32::from(alpha) / 2);
    let of = |part: u8| ((u32::from(part) * 255 + half) / whole).min(255) as u8;
    [of(red), of(green), of(blue), alpha]
}

/// Composites a pixel over another one.
const fn over(source: u32, ground: u32) -> u32 {
    const PAIR: u32 = 0x00ff_00ff;
    let alpha = source >> 24;
    if alpha == 255 || ground == 0 {
        return source;
    }
    // Processes two components at once; `rest` is the remaining part of the ground, in 1/256.
    let rest = 256 - alpha - (alpha >> 7);
    let even = (((ground & PAIR) * rest) >> 8) & PAIR;
    let odd = (((ground >> 8) & PAIR) * rest) & !PAIR;
    source + (even | odd)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::color::Rgb;

    const RED: Rgb = Rgb(200, 40, 20);

    fn pixels_of(width: f64, height: f64) -> Pixels {
        let mut pixels = Pixels::default();
        pixels.begin(Rect::new(0.0, 0.0, width, height), 1.0);
        pixels
    }

    fn alphas(pixels: &mut Pixels) -> Vec<u8> {
        pixels.bytes().chunks(4).map(|pixel| pixel[3]).collect()
    }

    #[test]
    fn edges_between_pixels_are_covered_in_part() {
        let mut pixels = pixels_of(4.0, 2.0);
        pixels.fill(Rect::new(0.5, 0.0, 2.0, 1.5), RED.into());
        assert_eq!(alphas(&mut pixels), [128, 255, 128, 0, 64, 128, 64, 0]);
        assert_eq!(pixels.bytes()[4..8], [200, 40, 20, 255]);
        // Rounding of a half-transparent color is invisible.
        let half = &pixels.bytes()[..4];
        assert!(
            half[0].abs_diff(200) <= 1 && half[1].abs_diff(40) <= 1,
            "{half:?}"
        );
    }

    #[test]
    fn what_is_over_hides_what_is_under_by_its_opacity() {
        let mut pixels = pixels_of(1.0, 1.0);
        let all = Rect::new(0.0, 0.0, 1.0, 1.0);
        pixels.fill(all, Rgb::BLACK.into());
        pixels.fill(all, Rgb::WHITE.alpha(0.25));
        let seen = pixels.bytes()[0];
        assert!(seen.abs_diff(64) <= 1, "{seen}");
        assert_eq!(pixels.bytes()[3], 255);
    }

    #[test]
    fn few_shapes_are_left_to_the_canvas() {
        let clip = Rect::new(0.0, 0.0, 1000.0, 40.0);
        let mut pixels = Pixels::default();
        let mut batch = Batch::default();
        let bar = |i: u32| Rect::new(f64::from(i), 5.0, 1.0, f64::from(i % 20));
        (0..10).for_each(|i| batch.fill(bar(i), RED.into()));
        assert!(!batch.rasterize(clip, 1.0, &mut pixels));
        (10..1000).for_each(|i| batch.fill(bar(i), RED.into()));
        assert!(batch.rasterize(clip, 1.0, &mut pixels));
        assert_eq!((pixels.origin(), pixels.size()), ((0.0, 5.0), (1000, 19)));
        let triangle = [(0.0, 0.0), (5.0, 2.0), (0.0, 4.0)];
        assert!(!batch.steps(&triangle, RED.into()));
        let huge = Rect::new(0.0, 0.0, 1e6, 1e6);
        batch.fill(huge, RED.into());
        assert!(!batch.rasterize(huge, 1.0, &mut pixels));
    }

    fn place() -> impl Strategy<Value = f64> {
        prop_oneof![8 => -5.0..25.0, 1 => Just(f64::NAN), 1 => Just(1e300), 1 => Just(-1e300)]
    }

    proptest! {
        /// Any rectangle is painted as far as it is within the picture.
        #[test]
        fn a_rectangle_covers_its_area(
            x in place(), y in place(), w in place(), h in place(), ratio in 0.5..3.0,
        ) {
            let mut pixels = Pixels::default();
            pixels.begin(Rect::new(0.0, 0.0, 20.0, 16.0), ratio);
            let rect = Rect::new(x, y, w, h);
            pixels.fill(rect, RED.into());
            let inside = |from: f64, length: f64, end: f64| {
                let (a, b) = (from.min(from + length), from.max(from + length));
                (b.min(end) - a.max(0.0)).max(0.0)
            };
            let (width, height) = pixels.size();
            let area = inside(x, w, width as f64 / ratio) * inside(y, h, height as f64 / ratio);
            let seen: f64 = alphas(&mut pixels).iter().map(|&alpha| f64::from(alpha) / 255.0).sum();
            let finite = [x, y, w, h].iter().all(|value| !value.is_nan());
            let expected = if finite { area * ratio * ratio } else { 0.0 };
            prop_assert!((seen - expected).abs() <= 0.2 + expected * 0.002, "{seen} {expected}");
        }

        /// A stepped polygon covers in each pixel column exactly the part within it.
        #[test]
        fn steps_are_columns(
            steps in prop::collection::vec((1u8..60, 0u8..40), 1..20), ratio in 1.0..2.0,
        ) {
            let mut pixels = Pixels::default();
            pixels.begin(Rect::new(0.0, 0.0, 30.0, 10.0), ratio);
            let (width, height) = pixels.size();
            let mut expected = vec![0.0; width];
            let mut x = -2.0;
            let mut outline = vec![(x, 10.0)];
            for (w, h) in steps {
                let (w, h) = (f64::from(w) / 16.0, f64::from(h) / 4.0);
                for (i, sum) in expected.iter_mut().enumerate() {
                    *sum += part(i, x * ratio, (x + w) * ratio) * h * ratio;
                }
                outline.extend([(x, 10.0 - h), (x + w, 10.0 - h)]);
                x += w;
            }
            outline.push((x, 10.0));
            prop_assert!(is_steps(&outline));
            pixels.polygon(&outline, RED.into());
            let alphas = alphas(&mut pixels);
            for (column, expected) in expected.into_iter().enumerate() {
                let of = |y: usize| f64::from(alphas[y * width + column]) / 255.0;
                let seen: f64 = (0..height).map(of).sum();
                prop_assert!((seen - expected).abs() < 0.1, "{column}: {seen} {expected}");
            }
        }
    }
}
