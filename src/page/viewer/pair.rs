//! Two timelines that show the same: whatever is done in one is shown in the other with
//! the same frame.

use super::{Control, ViewerRef};
use model::time::Interval;
use session::alignment::Shift;
use views::control::pair::SyncedView;

/// What shows the same as a timeline.
pub(super) struct Partner {
    viewer: ViewerRef,
    /// What is added to a time of the one to have that of the partner.
    shift: Shift,
    /// What it was shown last.
    shown: Option<SyncedView>,
}

impl ViewerRef {
    /// From now on both show the same. `log` and `other_log` are the times of their logs, and
    /// `shift` is what is added to a time of this one to have that of the other.
    pub(crate) fn pair(&self, log: Interval, other: (&Self, Interval), shift: Shift) {
        let (other, other_log) = other;
        self.take_partner(other, shift);
        other.take_partner(self, shift.back());
        other.act_alone(|control| control.set_beside(Some((log, shift.back()))));
        self.act(|control| control.set_beside(Some((other_log, shift))));
    }

    fn take_partner(&self, viewer: &Self, shift: Shift) {
        self.0.borrow_mut().partner = Some(Partner {
            viewer: viewer.clone(),
            shift,
            shown: None,
        });
    }

    /// It is alone, and so is its partner.
    pub(crate) fn part(&self) {
        let partner = self.0.borrow_mut().partner.take();
        if let Some(Partner { viewer, .. }) = partner {
            viewer.0.borrow_mut().partner = None;
            viewer.act_alone(|control| control.set_beside(None));
            self.act_alone(|control| control.set_beside(None));
        }
    }

    /// Has the partner show the same, unless it does.
    pub(super) fn lead(&self) {
        let (partner, glance, shift) = {
            let viewer = &mut *self.0.borrow_mut();
            let glance = viewer.control.glance();
            let Some(partner) = viewer.partner.as_mut() else {
                return;
            };
            if partner.shown.replace(glance) == Some(glance) {
                return;
            }
            (partner.viewer.clone(), glance, partner.shift)
        };
        partner.act_alone(|control: &mut Control| control.show_glance(glance, shift));
        // What it shows now is no news to this one.
        let shown = partner.read(Control::glance);
        if let Some(back) = &mut partner.0.borrow_mut().partner {
            back.shown = Some(shown);
        }
    }
}
