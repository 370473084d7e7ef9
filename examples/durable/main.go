// Durable shows a program of a model that outlives the process it runs in.
//
//	go run ./examples/durable   starts the program, which waits for an approval; then the process kills itself
//	go run ./examples/durable   resumes the program where it was, and completes it
//
// The program looks for refunds that are due, asks for approval with yield_control, and pays. While it waits it is in a SQLite
// database; so is what it has found out until then. The process ends with SIGKILL: nothing is saved on the way out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/toolcatalog"
	"github.com/cellmode/cellmode/transcript"
)

func main() {
	dir := flag.String("dir", filepath.Join(os.TempDir(), "cellmode-durable"), "where the database and the payments are kept")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *dir, kill); err != nil {
		fmt.Fprintln(os.Stderr, "durable:", err)
		os.Exit(1)
	}
}

// kill ends the process like a crash: with SIGKILL, where there are signals.
func kill() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

const program = `
const due = (await refunds_due({})).filter((refund) => refund.euros < 100);
const total = due.reduce((sum, refund) => sum + refund.euros, 0);
text(due.length + " refunds are due, " + total + " euros in all. May I pay them?");
await yield_control("approval");
const receipts = [];
for (const refund of due) receipts.push(await refund_pay(refund));
return { total, receipts };
`

func run(ctx context.Context, w io.Writer, dir string, crash func()) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	store, err := transcript.Open(ctx, filepath.Join(dir, "cells.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	catalog, err := toolcatalog.New(tools(filepath.Join(dir, "payments.txt")), nil)
	if err != nil {
		return err
	}
	runtime, err := codemode.NewRuntime(ctx, nil)
	if err != nil {
		return err
	}
	defer runtime.Close()
	// The cell belongs to this run and session, in whichever process they go on.
	executor, err := runtime.NewExecutor(catalog, &codemode.ExecutorOptions{RunID: "refunds of today", SessionID: "accounting", Cells: store})
	if err != nil {
		return err
	}
	defer executor.Close()

	// Here an agent would find the id in the conversation that it goes on with.
	waiting := filepath.Join(dir, "waiting.txt")
	if id, err := os.ReadFile(waiting); err == nil {
		fmt.Fprintf(w, "Approved. Resuming %s\n", id)
		result := executor.Wait(ctx, codemode.WaitInput{RunID: string(id)})
		if err := errors.Join(result.Err(), os.Remove(waiting)); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n", result.Status, result.Value)
		return nil
	}
	result := executor.Exec(ctx, codemode.ExecInput{Title: "Pay small refunds", Code: program})
	if err := result.Err(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s\n", result.Status, result.Output[0].Text)
	if err := os.WriteFile(waiting, []byte(result.RunID), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(w, "The program waits as %s. Now this process is killed; start it again to approve.\n", result.RunID)
	crash()
	return nil
}

type refund struct {
	Order string `json:"order"`
	Euros int    `json:"euros"`
}

// tools gives the two tools of the example. A payment is a line in a file, so that one can see what has happened.
func tools(payments string) []*toolcatalog.Tool {
	return []*toolcatalog.Tool{
		toolcatalog.Define(toolcatalog.Spec{
			Name: "refunds_due", Description: "Lists the refunds that are due.", Effect: toolcatalog.EffectRead, ReplaySafe: true,
		}, func(context.Context, struct{}) ([]refund, error) {
			return []refund{{"A-17", 20}, {"A-20", 340}, {"A-31", 45}}, nil
		}),
		toolcatalog.Define(toolcatalog.Spec{
			Name: "refund_pay", Description: "Pays a refund.", Effect: toolcatalog.EffectMutate,
		}, func(_ context.Context, in refund) (string, error) {
			f, err := os.OpenFile(payments, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return "", err
			}
			_, err = fmt.Fprintf(f, "%s %d\n", in.Order, in.Euros)
			return "paid " + strings.ToLower(in.Order), errors.Join(err, f.Close())
		}),
	}
}
