//! Pairs of synchronized timelines: a change in one is shown in the other in the same frame.

use super::{Control, ViewerRef};
use model::time::Interval;
use session::alignment::Shift;
use views::control::sync::SyncedView;

/// Timeline that follows another one.
pub(super) struct Partner {
    viewer: ViewerRef,
    /// Offset from this timeline's times to those of the partner.
    shift: Shift,
    /// View that the partner was last shown.
    shown: Option<SyncedView>,
}

impl ViewerRef {
    /// Synchronizes two timelines. `log` and the interval in `other` are the time ranges of the logs; `shift`
    /// converts times of this log to those of the other.
    pub(crate) fn pair(&self, log: Interval, other: (&Self, Interval), shift: Shift) {
        let (other, other_log) = other;
        self.set_partner(other, shift);
        other.set_partner(self, shift.inverse());
        other.act_alone(|control| control.set_other_log(Some((log, shift.inverse()))));
        self.act(|control| control.set_other_log(Some((other_log, shift))));
    }

    fn set_partner(&self, viewer: &Self, shift: Shift) {
        self.0.borrow_mut().partner = Some(Partner {
            viewer: viewer.clone(),
            shift,
            shown: None,
        });
    }

    /// Ends the synchronization with the partner.
    pub(crate) fn unpair(&self) {
        let partner = self.0.borrow_mut().partner.take();
        if let Some(Partner { viewer, .. }) = partner {
            viewer.0.borrow_mut().partner = None;
            viewer.act_alone(|control| control.set_other_log(None));
            self.act_alone(|control| control.set_other_log(None));
        }
    }

    /// Makes the partner show the same view, unless it does already.
    pub(super) fn sync_partner(&self) {
        let (partner, glance, shift, before) = {
            let viewer = &mut *self.0.borrow_mut();
            let glance = viewer.control.synced_view();
            let Some(partner) = viewer.partner.as_mut() else {
                return;
            };
            let before = partner.shown.replace(glance);
            if before == Some(glance) {
                return;
            }
            (partner.viewer.clone(), glance, partner.shift, before)
        };
        partner.act_alone(|control: &mut Control| control.show_synced_view(glance, shift, before));
        // Record the partner's resulting view, so that it is not sent back to this timeline.
        let shown = partner.read(Control::synced_view);
        if let Some(back) = &mut partner.0.borrow_mut().partner {
            back.shown = Some(shown);
        }
    }
}
