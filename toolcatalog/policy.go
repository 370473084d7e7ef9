package toolcatalog

import (
	"cmp"
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
)

// Policy says which tools a catalog has and which calls are made. The zero value offers every tool and, unless there is an
// [Options].Approver, allows every call.
//
// A policy is host code that many goroutines call at once. It sees a call as its caller made it; what hooks make of the
// input later is theirs to answer for.
type Policy struct {
	// Offers is asked by [New], once for each tool. A tool that is not offered is as if it were not there: no listing, no
	// suggestion and no error tells it from a tool that does not exist. It has a share in the names, though, so that
	// offering fewer tools renames none of the others; and a [Client] tool that is not offered still takes the place of the
	// native tool of its name. If Offers panics, the tool is not offered. Nil: every tool is offered.
	Offers func(tool Entry) bool

	// Decide is asked before each call, also if the tool was offered: what a session may do can change while it runs. It is
	// expected to be quick; ctx is that of the call. If it panics, the call is refused. Nil: every call is allowed, but with an
	// [Options].Approver the calls of all tools that are not [EffectRead] need approval.
	Decide func(ctx context.Context, call Call) Decision
}

// Decision is the answer of [Policy].Decide, made by [Allow], [Ask] or [Refuse]. The zero value refuses.
type Decision struct {
	verdict verdict
	reason  string
}

type verdict uint8

const (
	verdictRefuse verdict = iota
	verdictAllow
	verdictAsk
)

// Allow lets the call go on.
func Allow() Decision { return Decision{verdict: verdictAllow} }

// Ask lets the call go on if the [Options].Approver approves it. The reason is for the one who approves. Without an Approver
// the call is refused.
func Ask(reason string) Decision { return Decision{verdictAsk, reason} }

// Refuse ends the call before anything is executed. The model reads the reason; an empty one says that this call is not
// allowed.
func Refuse(reason string) Decision { return Decision{verdictRefuse, reason} }

// String is "allow", "ask" or "refuse".
func (d Decision) String() string {
	switch d.verdict {
	case verdictAllow:
		return "allow"
	case verdictAsk:
		return "ask"
	}
	return "refuse"
}

// Reason is the reason given to [Ask] or [Refuse].
func (d Decision) Reason() string { return d.reason }

// offered leaves out the tools that the policy does not offer.
func (p Policy) offered(entries []entry, logger *slog.Logger) []entry {
	if p.Offers == nil {
		return entries
	}
	return slices.DeleteFunc(entries, func(e entry) bool { return !p.offers(e.Entry, logger) })
}

func (p Policy) offers(tool Entry, logger *slog.Logger) (offers bool) {
	defer func() {
		if panicked := recover(); panicked != nil {
			offers = false
			logger.Error("tool not offered: the policy panicked", "tool", tool.ToolName, "panic", panicked, "stack", string(debug.Stack()))
		}
	}()
	return p.Offers(tool)
}

// decide asks the policy. An error means that the call is refused.
func (a *Admission) decide(ctx context.Context) (Decision, error) {
	c, d := a.catalog, Allow()
	a.at = StagePolicy
	switch {
	case c.policy.Decide != nil:
		d = c.policy.Decide(ctx, a.watch.call)
	case c.approver == nil:
		return d, nil // nobody decides anything
	case a.entry.Effect == EffectMutate:
		d = Ask("it changes something")
	case a.entry.Effect != EffectRead:
		d = Ask("it may change something")
	}
	a.watch.decided(d)
	switch {
	case d.verdict == verdictRefuse:
		return d, a.refuse(ctx, cmp.Or(d.reason, "this call is not allowed"), nil)
	case d.verdict == verdictAsk && c.approver == nil:
		return d, a.refuse(ctx, "the call needs approval, and nobody can approve calls here", nil)
	}
	return d, nil
}
