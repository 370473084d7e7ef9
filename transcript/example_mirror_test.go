package transcript_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cellmode/cellmode/transcript"
)

// A harness mirrors what its runtime has of a turn: when the turn begins, and all of it again when it has ended.
func ExampleMirror() {
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

	opts := &transcript.MirrorOptions{Scope: "native:thread-7", RunID: "run-1"}
	turn := []transcript.MirrorMessage{
		{Identity: transcript.PromptIdentity("turn-1"), Message: transcript.UserText("What time is it?")},
		{Identity: "turn-1:assistant", Message: transcript.AssistantText("Noon.")},
	}
	for _, batch := range [][]transcript.MirrorMessage{turn[:1], turn} {
		results, err := transcript.Mirror(ctx, session, batch, opts)
		if err != nil {
			log.Fatal(err)
		}
		for _, result := range results {
			fmt.Println(result.Key, result.State)
		}
	}
	// Output:
	// native:thread-7:turn-1:prompt appended
	// native:thread-7:turn-1:prompt present
	// native:thread-7:turn-1:assistant appended
}

// A host learns when the user's input is in the session, and whether it is so only now.
func ExampleRecorder() {
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

	for range 2 { // the second turn is the first one again, after a crash
		recorder := transcript.NewRecorder(session, &transcript.RecorderOptions{
			Committed: func(transcript.Receipt) { fmt.Println("the input is committed") },
			Persisted: func(r transcript.Receipt) { fmt.Println("the input is there; appended:", r.Appended()) },
		})
		end := recorder.BeginWrite()
		results, err := transcript.Mirror(ctx, session, []transcript.MirrorMessage{
			{Identity: transcript.PromptIdentity("turn-1"), Message: transcript.UserText("Hello")},
		}, &transcript.MirrorOptions{Scope: "native:thread-7"})
		if err == nil {
			err = recorder.MarkPersisted(ctx, results[0].Receipt)
		}
		end()
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// the input is committed
	// the input is there; appended: true
	// the input is there; appended: false
}
