//! Dragging a picture with a pointer.

/// Minimum movement of a pressed pointer that drags, in CSS pixels.
const DRAG_PX: f64 = 4.0;

/// The pointer that was pressed on a picture, if any. Two fingers do not drag: they would pull the picture to and fro.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drag(Option<Pressed>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Pressed {
    pointer: i32,
    /// Position from which the picture is dragged.
    x: f64,
    has_moved: bool,
}

impl Drag {
    /// Handles a pressed pointer. A second finger ends the drag of the first.
    pub fn press(&mut self, pointer: i32, x: f64) {
        let is_second = self.0.is_some_and(|pressed| pressed.pointer != pointer);
        self.0 = (!is_second).then_some(Pressed {
            pointer,
            x,
            has_moved: false,
        });
    }

    /// Handles a move of a pointer. Returns the position from which it drags the picture; `None` if it does not.
    pub fn move_to(&mut self, pointer: i32, x: f64) -> Option<f64> {
        let pressed = self.0.as_mut().filter(|it| it.pointer == pointer)?;
        pressed.has_moved |= (x - pressed.x).abs() > DRAG_PX;
        pressed.has_moved.then_some(pressed.x)
    }

    /// Sets the position from which the picture is dragged on.
    pub fn drag_from(&mut self, x: f64) {
        if let Some(pressed) = &mut self.0 {
            pressed.x = x;
        }
    }

    /// Handles a released pointer; returns whether that was a click.
    pub fn release(&mut self, pointer: i32) -> bool {
        let released = self.0.take_if(|pressed| pressed.pointer == pointer);
        released.is_some_and(|pressed| !pressed.has_moved)
    }

    /// Forgets the pressed pointer: the browser uses it otherwise, for example to scroll.
    pub fn cancel(&mut self) {
        self.0 = None;
    }

    /// Returns whether a pointer is pressed that may drag.
    pub fn is_pressed(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_drags_once_it_has_moved_far_enough() {
        let mut drag = Drag::default();
        assert_eq!(drag.move_to(1, 50.0), None);
        drag.press(1, 100.0);
        assert_eq!(drag.move_to(1, 103.0), None);
        assert_eq!(drag.move_to(1, 110.0), Some(100.0));
        assert_eq!(drag.move_to(1, 101.0), Some(100.0), "even back");
        drag.drag_from(101.0);
        assert_eq!(drag.move_to(1, 102.0), Some(101.0));
        assert!(!drag.release(1), "not a click");
        assert_eq!(drag.move_to(1, 150.0), None);
    }

    #[test]
    fn a_press_without_a_move_is_a_click() {
        let mut drag = Drag::default();
        drag.press(1, 100.0);
        assert!(drag.is_pressed());
        drag.move_to(1, 98.0);
        assert!(drag.release(1));
        assert!(!drag.release(1), "once");
        drag.press(1, 100.0);
        drag.cancel();
        assert!(!drag.release(1));
    }

    #[test]
    fn two_fingers_neither_drag_nor_click() {
        let mut drag = Drag::default();
        drag.press(1, 100.0);
        drag.press(2, 200.0);
        assert_eq!(drag.move_to(1, 50.0), None);
        assert_eq!(drag.move_to(2, 250.0), None);
        assert!(!drag.release(1));
        assert!(!drag.release(2));
        // The next one does.
        drag.press(3, 100.0);
        assert_eq!(drag.move_to(1, 50.0), None, "another pointer");
        assert_eq!(drag.move_to(3, 50.0), Some(100.0));
        assert!(!drag.release(1), "another pointer");
        assert!(drag.is_pressed());
    }
}
