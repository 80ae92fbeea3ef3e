//! Creating findings that claim time.

use crate::context::RuleContext;
use crate::finding::{Axis, Finding, Severity, Value};
use crate::loss_budget::{LossBudget, Pool};
use crate::lost_time::Cause;

impl RuleContext<'_> {
    /// Creates a time finding that claims capability nanoseconds from a pool.
    pub fn time_finding(
        &self,
        rule: &'static str,
        title: String,
        loss_budget: &mut LossBudget,
        claim: (Pool, u64),
    ) -> Finding {
        self.time_finding_from_pools(rule, title, loss_budget, &[claim])
    }

    /// Creates a time finding that claims from several disjoint pools.
    pub(crate) fn time_finding_from_pools(
        &self,
        rule: &'static str,
        title: String,
        loss_budget: &mut LossBudget,
        claims: &[(Pool, u64)],
    ) -> Finding {
        // Rules calculate as if every capability existed all the time.
        let capped = |&(pool, cap_ns): &(Pool, u64)| (pool, cap_ns.min(loss_budget.all_ns(pool)));
        let claims: Vec<(Pool, u64)> = claims.iter().map(capped).collect();
        let claimed = claims
            .iter()
            .map(|(pool, cap_ns)| loss_budget.claim(*pool, *cap_ns));
        Finding {
            claimed_ns: claimed.sum(),
            ..self.unclaimed_time_finding(
                rule,
                title,
                claims.iter().map(|(_, cap_ns)| cap_ns).sum(),
            )
        }
    }

    /// Creates a time finding with a cost in capability nanoseconds and nothing claimed yet.
    fn unclaimed_time_finding(&self, rule: &'static str, title: String, cap_ns: u64) -> Finding {
        let cost_ns = cap_ns / self.caps;
        let share = self.share(cost_ns);
        // A share of only a few milliseconds may be chance.
        const FEW_NS: u64 = 10_000_000;
        let most = if cost_ns < FEW_NS {
            Severity::Low
        } else {
            Severity::High
        };
        Finding {
            severity: Severity::of_share(share).min(most),
            cost: Value::Ns(cost_ns),
            share,
            ..Finding::new(rule, Axis::Time, title)
        }
    }

    /// Creates a finding on threads blocked while capabilities were idle, with a cost in capability nanoseconds.
    /// It claims idle time in those stretches, of any cause in the account, except for stretches that another
    /// finding claimed.
    pub(crate) async fn blocked_finding(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (waits, cap_ns): (Vec<(u64, u64)>, u64),
    ) -> Finding {
        let idle_ns =
            loss_budget.all_ns(Pool::Idle) + loss_budget.all_ns(Pool::CapIdleWorkAvailable);
        let cost = cap_ns.min(idle_ns);
        let waits = (waits, cost, Cause::EachOther);
        self.stretches_finding((rule, title), loss_budget, waits)
            .await
    }

    /// Same as [`blocked_finding`](Self::blocked_finding), for stretches in which no thread was ready.
    pub(crate) async fn idle_finding(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (stretches, cap_ns): (Vec<(u64, u64)>, u64),
    ) -> Finding {
        let stretches = (stretches, cap_ns, Cause::EachOther);
        self.asleep_finding((rule, title), loss_budget, stretches)
            .await
    }

    /// Same as [`idle_finding`](Self::idle_finding), for stretches that `cause` ended where nothing ran: time of this
    /// cause is claimed first.
    pub(crate) async fn asleep_finding(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (stretches, cap_ns, cause): (Vec<(u64, u64)>, u64, Cause),
    ) -> Finding {
        let cost = cap_ns.min(loss_budget.all_ns(Pool::Idle));
        self.stretches_finding((rule, title), loss_budget, (stretches, cost, cause))
            .await
    }

    async fn stretches_finding(
        &self,
        (rule, title): (&'static str, String),
        loss_budget: &mut LossBudget,
        (waits, cap_ns, cause): (Vec<(u64, u64)>, u64, Cause),
    ) -> Finding {
        let stretches = self.stretches(waits).await;
        let whole_ns = self.idle_in(&stretches).await.all_ns();
        let free = loss_budget.claim_idle(&stretches);
        let parts = self.idle_in(&free).await;
        // Each waiting thread accounts for at most one idle capability.
        let share = cap_ns as f64 / whole_ns.max(cap_ns).max(1) as f64;
        let claimed_ns = loss_budget.claim_parts(&parts.scaled(share), cause);
        Finding {
            claimed_ns,
            ..self.unclaimed_time_finding(rule, title, cap_ns)
        }
    }
}
