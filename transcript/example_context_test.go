package transcript_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/cellmode/cellmode/transcript"
)

// A session is compacted: a summary takes the place of what is old, for the model. The session keeps all of it.
func ExampleSession_Context() {
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
	receipts, err := session.AppendAll(ctx, []transcript.Draft{
		{Payload: transcript.UserText("How tall is the tower?")},
		{Payload: transcript.AssistantText("330 m.")},
		{Payload: transcript.UserText("And in feet?")},
		{Payload: transcript.AssistantCalls("", transcript.ToolCall{ID: "call_1", Name: "convert"})},
		{Payload: transcript.ToolResult("call_1", "convert", "1083 ft", false)},
		{Payload: transcript.AssistantText("1083 feet.")},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}

	// The last two entries are to be kept; the result among them needs its call.
	keep, err := transcript.KeepFrom(ctx, session, receipts[4].Entry().ID)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.Append(ctx, transcript.Compaction{Summary: "The tower is 330 m tall.", FirstKeptID: keep}, nil); err != nil {
		log.Fatal(err)
	}
	made, err := session.Context(ctx, &transcript.ContextOptions{MaxBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range made.Messages {
		fmt.Printf("%s %d %q\n", m.Message.Role, len(m.Message.ToolCalls()), m.Message.Text())
	}
	// Output:
	// compactionSummary 0 "The tower is 330 m tall."
	// assistant 1 ""
	// toolResult 0 "1083 ft"
	// assistant 0 "1083 feet."
}

// A process has died while a cell's call was being made. The next one puts on record that its outcome is unknown.
func ExampleSettleCalls() {
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
	cell := transcript.NewCellRecord("run-1", "call_1", `await send({to: "ann"})`)
	for _, record := range []interface {
		Payload() (transcript.Custom, error)
	}{
		cell, cell.NewCall("bridge:tool:1", "send", []byte(`{"to":"ann"}`)),
	} {
		payload, err := record.Payload()
		if err != nil {
			log.Fatal(err)
		}
		if _, err := session.Append(ctx, payload, nil); err != nil {
			log.Fatal(err)
		}
	}

	receipts, err := transcript.SettleCalls(ctx, session)
	if err != nil {
		log.Fatal(err)
	}
	for _, receipt := range receipts {
		result, _ := transcript.ReadResultRecord(receipt.Entry().Payload)
		fmt.Println(result.Tool, result.Outcome, result.Cell == cell.ID)
	}
	// Output:
	// send unknown true
}

// A session file is read in, and written again.
func ExampleStore_Import() {
	ctx := context.Background()
	store, err := transcript.Open(ctx, ":memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	file := `{"type":"session","version":3,"id":"0198","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/srv"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"hello"}}
{"type":"message","id":"b","pare
`
	session, report, err := store.Import(ctx, "chat", strings.NewReader(file), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, problem := range report.Problems {
		fmt.Println("line", problem.Line, "was skipped:", problem.Skipped)
	}
	if err := session.Export(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// line 3 was skipped: true
	// {"type":"session","version":3,"id":"0198","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/srv"}
	// {"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"hello"}}
}
