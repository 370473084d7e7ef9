package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/cellmode/cellmode/transcript"
)

// threads is a runtime that keeps, for each session, the id of a thread of its own.
type threads map[string]string

func (t threads) WithSessionDeletion(ctx context.Context, d transcript.Deletion, run func(context.Context, transcript.Mutation) error) error {
	// A runtime that others share takes a lease of the binding here.
	if err := d.Authority(); err != nil {
		return err
	}
	m := &threadRemoval{threads: t, key: d.Session.Key, thread: t[d.Session.Key]}
	err := run(ctx, m)
	m.closed = true
	if err == nil {
		fmt.Println("end", m.thread) // what takes long is done now
	}
	return err
}

type threadRemoval struct {
	threads     threads
	key, thread string
	closed      bool
}

func (r *threadRemoval) Commit() error {
	if r.closed {
		return errors.New("the removal is closed")
	}
	fmt.Println("forget", r.thread)
	delete(r.threads, r.key)
	return nil
}

func (r *threadRemoval) Rollback() error {
	if r.closed {
		return errors.New("the removal is closed")
	}
	r.threads[r.key] = r.thread
	return nil
}

// A session goes together with what a runtime keeps for it, or both stay.
func ExampleStore_DeleteSessions() {
	ctx := context.Background()
	store, err := transcript.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	session, err := store.OpenSession(ctx, "chat", nil)
	if err != nil {
		log.Fatal(err)
	}
	runtime := threads{"chat": "thread-1"}

	release, err := session.Admit(ctx) // a turn runs
	if err != nil {
		log.Fatal(err)
	}
	opts := &transcript.DeleteOptions{Participants: []transcript.Participant{runtime}, Reason: "the user has left"}
	_, err = store.DeleteSessions(ctx, []string{"chat"}, opts)
	fmt.Println(errors.Is(err, transcript.ErrSessionBusy), len(runtime))
	release()

	result, err := store.DeleteSessions(ctx, []string{"chat"}, opts)
	fmt.Println(result.Outcome, err, len(runtime))
	_, err = session.Append(ctx, transcript.UserText("hello?"), nil)
	fmt.Println(errors.Is(err, transcript.ErrSessionGone))
	// Output:
	// true 1
	// forget thread-1
	// end thread-1
	// committed <nil> 0
	// true
}
