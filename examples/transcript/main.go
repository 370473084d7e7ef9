// Transcript shows a session that several processes write to, and that survives the end of any of them.
//
//	go run ./examples/transcript
//
// The program starts itself twice. Both processes append notes to one session at once; then one of them is killed with SIGKILL, and
// the other goes on. All that each was told to be there is there, in one line. After that the session is compacted, goes on in two
// branches, a model's context is made of it, and search finds what was said on the branch on which it is.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/cellmode/cellmode/transcript"
)

// sessionKey is what the host calls the session.
const sessionKey = "harbour"

func main() {
	path := flag.String("db", "", "the database; if it is empty, one that is removed at the end")
	writer := flag.String("writer", "", "whose notes to append: the program starts itself so")
	notes := flag.Int("notes", 0, "how many notes the writer appends; without end if it is 0")
	flag.Parse()
	ctx := context.Background()
	var err error
	if *writer != "" {
		err = write(ctx, os.Stdout, *path, *writer, *notes)
	} else {
		err = run(ctx, os.Stdout, *path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "transcript:", err)
		os.Exit(1)
	}
}

// write is what each of the two processes does: it appends notes, and says of each that it is there.
func write(ctx context.Context, w io.Writer, path, name string, notes int) error {
	store, err := transcript.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := store.OpenSession(ctx, sessionKey, nil)
	if err != nil {
		return err
	}
	for n := 1; notes == 0 || n <= notes; n++ {
		note := fmt.Sprintf("%s %d", name, n)
		if _, err := session.Append(ctx, transcript.UserText(note), nil); err != nil {
			return err
		}
		fmt.Fprintln(w, note) // it is on the drive
	}
	return nil
}

func run(ctx context.Context, w io.Writer, path string) error {
	if path == "" {
		dir, err := os.MkdirTemp("", "cellmode-transcript-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "sessions.db")
	}
	told, err := runWriters(w, path)
	if err != nil {
		return err
	}
	store, err := transcript.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := store.FindSession(ctx, sessionKey)
	if err != nil {
		return err
	}
	if err := check(ctx, session, told); err != nil {
		return err
	}
	fmt.Fprintln(w, "All notes that they were told to be there are there, each after the one before.")
	left, err := converse(ctx, w, session)
	if err != nil {
		return err
	}
	return search(ctx, w, store, session, left)
}

// runWriters runs two processes at once, of which the first is killed. It gives the notes that they were told to be there.
func runWriters(w io.Writer, path string) (told map[string]bool, err error) {
	told = map[string]bool{}
	ada, adaSays, err := startWriter(path, "ada", 0)
	if err != nil {
		return nil, err
	}
	ben, benSays, err := startWriter(path, "ben", 200)
	if err != nil {
		return nil, errors.Join(err, ada.Process.Kill(), ada.Wait())
	}
	for range 20 { // until both are at it
		if adaSays.Scan() && benSays.Scan() {
			told[adaSays.Text()], told[benSays.Text()] = true, true
		}
	}
	if err := ada.Process.Kill(); err != nil {
		return nil, err
	}
	fmt.Fprintln(w, "Two processes append to one session. Ada is killed, Ben goes on.")
	for adaSays.Scan() {
		told[adaSays.Text()] = true
	}
	if err := ada.Wait(); err == nil {
		return nil, errors.New("ada was not killed")
	}
	for benSays.Scan() {
		told[benSays.Text()] = true
	}
	return told, ben.Wait()
}

// startWriter starts this program as one that writes notes. lines are what it says.
func startWriter(path, name string, notes int) (process *exec.Cmd, lines *bufio.Scanner, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	process = exec.Command(self, "-db", path, "-writer", name, "-notes", strconv.Itoa(notes))
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	return process, bufio.NewScanner(out), process.Start()
}

// check reads the session: it must have all notes of which a process was told, and be one line.
func check(ctx context.Context, session *transcript.Session, told map[string]bool) error {
	before := transcript.Root
	for entry, err := range session.Branch(ctx, nil) {
		if err != nil {
			return err
		}
		if entry.ParentID != before {
			return fmt.Errorf("entry %s follows %q, not %q", entry.ID, entry.ParentID, before)
		}
		before = entry.ID
		if note, ok := entry.Message(); ok {
			delete(told, note.Text())
		}
	}
	if len(told) > 0 {
		return fmt.Errorf("%d notes are lost", len(told))
	}
	return nil
}

// converse compacts the session, takes it on in two branches, and prints what a model gets of it. It gives the end of the branch
// that was left.
func converse(ctx context.Context, w io.Writer, session *transcript.Session) (left string, err error) {
	// The model gets a summary in the place of the notes. They stay in the session.
	compacted, err := session.Append(ctx, transcript.Compaction{Summary: "Ada and Ben took notes of the harbour."}, nil)
	if err != nil {
		return "", err
	}
	receipts, err := session.AppendAll(ctx, []transcript.Draft{
		{Payload: transcript.UserText("Which ship is the oldest?")},
		{Payload: transcript.AssistantText("The Rickmer Rickmers, of 1896.")},
	}, nil)
	if err != nil {
		return "", err
	}
	left = receipts[1].Entry().ID

	// The user asks something else instead: a branch begins at the summary.
	_, err = session.AppendAll(ctx, []transcript.Draft{
		{Payload: transcript.UserText("Which ship is the largest?")},
		{Payload: transcript.AssistantText("The Cap San Diego, of 160 m.")},
	}, &transcript.AppendOptions{From: compacted.Entry().ID})
	if err != nil {
		return "", err
	}
	for _, branch := range []struct{ name, to string }{{"the branch on which the session is", ""}, {"the branch that was left", left}} {
		fmt.Fprintf(w, "\nThe context of %s:\n", branch.name)
		made, err := session.Context(ctx, &transcript.ContextOptions{To: branch.to})
		if err != nil {
			return "", err
		}
		for _, m := range made.Messages {
			fmt.Fprintf(w, "  %s: %s\n", m.Message.Role, m.Message.Text())
		}
	}
	return left, nil
}

// search looks for a ship that only the branch that was left speaks of, before and after the session goes back to it.
func search(ctx context.Context, w io.Writer, store *transcript.Store, session *transcript.Session, left string) error {
	fmt.Fprintln(w)
	look := func() error {
		if err := store.Index(ctx); err != nil { // else it follows in the background, and found.Indexing may say that it has to
			return err
		}
		found, err := store.Search(ctx, "rickmer", nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "Search finds %d messages about the Rickmer Rickmers.\n", len(found.Hits))
		for _, hit := range found.Hits {
			fmt.Fprintf(w, "  %s: %s\n", hit.Role, hit.Snippet)
		}
		return nil
	}
	if err := look(); err != nil {
		return err
	}
	if err := session.MoveTo(ctx, left, nil); err != nil {
		return err
	}
	fmt.Fprintln(w, "The session goes back to the branch that was left.")
	return look()
}
