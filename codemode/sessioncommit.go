package codemode

import (
	"context"
	"errors"
	"time"
)

// minCommit is the time that a commit of the session has at least, when the cell has used up its own.
const minCommit = time.Second

// maxWarning bounds what an error of a session store may say, in bytes: the text is the host's, and must leave room for
// the value.
const maxWarning = 512

// completed makes the result of a cell that returned, and commits what it has stored. A commit that fails does not fail the
// cell, whose effects are there: it is a warning. A cell that fails, because its result cannot be shown to the
// model, commits nothing: that there is room, for the shortest warning too, is made sure before.
func (c *cell) completed() Result {
	r := c.newResult(StatusCompleted)
	if c.session == nil || !c.session.changes() {
		return c.deliver(r, "")
	}
	r.Warnings = []string{longestShort}
	if !c.fits(r) {
		return c.unfit(r)
	}
	r.Warnings = nil
	if failure := c.commitSession(); failure != nil {
		r.Warnings = []string{ellipsize(failure.Error(), maxWarning)}
		if !c.fits(r) {
			r.Warnings = []string{failure.short}
		}
	}
	return c.deliver(r, "")
}

// commitSession commits what the cell has stored, and gives nil if that is certain.
func (c *cell) commitSession() *commitError {
	until := time.Now().Add(max(minCommit, time.Until(c.deadline)))
	ctx, cancel := context.WithDeadline(c.ctx, until)
	defer cancel()
	session := c.session
	_, err := c.await(until, func() error { return session.commit(ctx) })
	if err == nil {
		return nil
	}
	if failure, ok := errors.AsType[*commitError](err); ok {
		return failure
	}
	return notConfirmed(err)
}

// commitError says what became of the changes of a cell.
type commitError struct {
	text  string
	short string // the same where there is no room for text
	err   error
}

const (
	shortNotKept      = "store: nothing was kept"
	shortNotConfirmed = "store: not confirmed"
	longestShort      = shortNotKept
)

func notKept(err error) *commitError {
	return &commitError{"nothing of what this program stored was kept: " + err.Error(), shortNotKept, err}
}

func notConfirmed(err error) *commitError {
	return &commitError{"it is not confirmed that what this program stored was kept; load it in another program to see: " + err.Error(),
		shortNotConfirmed, err}
}

func (e *commitError) Error() string { return e.text }
func (e *commitError) Unwrap() error { return e.err }
