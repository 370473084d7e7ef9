package engine

import (
	"errors"
	"fmt"
)

// What ends a call of the guest from outside. The VM that a call ended with one of these is gone:
// every later use of it fails, and [VM.Release] drops it.
var (
	// ErrDeadline reports that the guest ran past its deadline.
	ErrDeadline = errors.New("guest stopped at its deadline")
	// ErrCanceled reports that the guest's context was cancelled while it ran.
	ErrCanceled = errors.New("guest stopped: context cancelled")
	// ErrMemory reports that the guest reached its memory limit and could not go on.
	ErrMemory = errors.New("guest out of memory")
	// ErrNoRoom reports that there was no memory in the guest for what the host had for it. It is an
	// ErrMemory, but the VM goes on.
	ErrNoRoom = fmt.Errorf("no room for the host's data: %w", ErrMemory)
	// ErrStack reports that the engine's own C stack passed its lower bound. Ordinary deep
	// recursion does not get here: the guest sees a RangeError, which it can catch.
	ErrStack = errors.New("guest overflowed the engine's stack")
	// ErrClosed reports the use of an engine or a VM that was closed or that a trap ended.
	ErrClosed = errors.New("engine closed")
)

// TrapError reports that the engine trapped: it ran into its own fault rather than a limit.
type TrapError struct {
	Err error // what the WebAssembly runtime said
}

func (e *TrapError) Error() string { return fmt.Sprintf("guest engine trapped: %v", e.Err) }

// Unwrap gives the runtime's error.
func (e *TrapError) Unwrap() error { return e.Err }

// UnavailableError reports that the engine cannot run on this machine, in this build or with this
// binary. There is no fallback: nothing less safe runs in its place.
type UnavailableError struct {
	Stage string // what failed: "verify", "rewrite", "compile", "boot" or "self-check"
	Err   error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("code mode engine unavailable: %s: %v", e.Stage, e.Err)
}

// Unwrap gives the cause: a [*harden.HashError] for another engine binary.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Exception is a value thrown by guest code that nothing in the guest caught.
type Exception struct {
	Value Value // owned by the VM; valid until its reset
}

func (e *Exception) Error() string { return "uncaught guest exception" }
