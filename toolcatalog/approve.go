package toolcatalog

import (
	"context"
	"slices"
	"time"
)

// Approver asks somebody whether a call may be made, and may take minutes: nil approves, an error refuses, and the model
// reads it. An error marked with [InvalidInput] says that other arguments would be accepted. A panic refuses the call too.
//
// It is called for the calls for which [Policy].Decide says [Ask], with the reason given there, and may be called by many
// goroutines at once. It is expected to return soon after ctx is done; the call is not made then, whatever it returns. A
// call of a [Spec].Sequential tool keeps its place meanwhile, and holds up those behind it.
type Approver func(ctx context.Context, call Call, reason string) error

// MayAsk reports whether calls of the catalog may have to wait for somebody's approval: it has an [Options].Approver.
func (c *Catalog) MayAsk() bool { return c.approver != nil }

// MayRefuse reports whether the host may refuse calls of the catalog: it has a [Policy].Decide, a [Hook].Before or an
// [Options].Approver.
func (c *Catalog) MayRefuse() bool {
	return c.policy.Decide != nil || c.approver != nil || slices.ContainsFunc(c.hooks, func(h Hook) bool { return h.Before != nil })
}

// OnApproval makes the call report when it starts to wait for an [Approver], with true, and when it stops, with false: a
// caller with a time limit can stop its clock meanwhile. f is called on the goroutine of the call, always in pairs, and not
// at all if nobody is asked. Calls that a tool or a hook makes with the context of the call report, too, from their
// goroutines. It must be set before the call is made.
func (a *Admission) OnApproval(f func(waiting bool)) { a.onApproval = f }

// approvalKey finds in a context the function that was given to OnApproval.
type approvalKey struct{}

// approve asks the Approver, if the decision was to ask.
func (a *Admission) approve(ctx context.Context, d Decision) error {
	if d.verdict != verdictAsk {
		return nil
	}
	a.at = StageApproval
	if err := a.ask(ctx, d.reason); err != nil {
		return a.refuse(ctx, err.Error(), err)
	}
	return nil
}

// ask waits for the Approver, which may panic.
func (a *Admission) ask(ctx context.Context, reason string) error {
	if report, ok := ctx.Value(approvalKey{}).(func(bool)); ok {
		report(true)
		defer report(false)
	}
	defer a.watch.approvalTook(time.Now())
	return a.catalog.approver(ctx, a.watch.call, reason)
}
