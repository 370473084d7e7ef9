// Package transcript keeps sessions of agents in SQLite: what was said, what a model gets of it, the values of store and load
// and the parked cells of package codemode.
//
//	store, err := transcript.Open(ctx, "/var/lib/agent/sessions.db", nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	session, err := store.OpenSession(ctx, "chat-42", nil)
//	if err != nil {
//		return err
//	}
//	_, err = session.Append(ctx, transcript.UserText("What is left to do?"), nil)
//	...
//	input, err := session.Context(ctx, nil) // what the model gets
//
// A Session is also the codemode.SessionStore of an executor whose SessionID is its key, and a Store is a codemode.CellStore:
//
//	executor, err := runtime.NewExecutor(catalog, &codemode.ExecutorOptions{
//		RunID: run, SessionID: session.Key(), Store: session, Cells: store,
//	})
//
// # Sessions
//
// A session is a tree of entries: messages, changes of the model, compactions, labels, data of the program.
// [Session.Append] puts an entry after the leaf, the end of the active branch, and the entry is the leaf then. Nothing is
// ever edited or removed within a session: to say something differently is to go back with [Session.MoveTo] and to append a
// branch. What was left is still there. [Session.Branch] and [Session.Entries] read page by page, so that the length of a
// session does not matter.
//
// A host calls a session by its key. Its id is new for each session that has the key, and what a [Session] appends under
// an id does not end up in a successor. Kinds of entries that this package does not know are kept as they are, and so
// are members of messages.
//
// # What the model gets
//
// [Session.Context] is the active branch as a model is given it: from the last compaction, which stands for what came
// before it with its summary and the entries that it keeps, or from the last reset. It is well-formed for providers that
// insist on it: each call of a tool has one result. A call of which a crash took the result gets one that says that nobody
// knows; [SettleCalls] appends those for good.
//
// # Once, and proof of it
//
// A message may have an idempotency key. A message whose key the session has is not appended again, whoever tries, in this
// process or another: the [Receipt] has the entry that is there. Only a store makes receipts, so one that says Appended
// proves it. [Mirror] uses them to take over the messages of a runtime that keeps a conversation of its own, as often as it
// likes; [Recorder] tells a host, once, that its user's message is there.
//
// # Search
//
// [Store.Search] finds words in what users and assistants have said on the active branches. Appending does not wait for
// the index; a result tells whether the index was behind.
//
// # Deletion
//
// What else belongs to a session, such as the thread of a native runtime, must go when it goes, and stay when it stays.
// [Store.DeleteSessions] therefore prepares [Participant]s, lets them commit inside of the transaction that deletes the
// rows, and has them roll back if that fails. [Store.Maintain] removes old sessions in the same way, [Session.Reset] begins
// one anew.
//
// # One file, several processes
//
// A Store is one SQLite database, in WAL mode. Any number of processes of one machine may have it open: they take turns to
// write, and read meanwhile. Do not put it on a network file system, whose locks SQLite cannot trust. While it is open, and
// after a crash, there are two files beside it, with -wal and -shm behind its name: they belong to it, and a copy of the
// database without them may lack the newest entries.
//
// Times are those of the machine's clock: the lease of a cell ends early if the clock is put forward.
//
// # What survives
//
// When a method has returned without an error, its effect survives the end of the process, however it ends. With
// [SynchronousFull], the default, it also survives the end of the operating system and the loss of power, as far as the
// drive keeps what it has said to have written. With [SynchronousNormal] those may take the last effects: entries of the
// last seconds, and of a cell what it has done meanwhile, so that it repeats that; the database stays sound. A process
// that is killed in the middle of a method leaves the whole effect or nothing of it.
//
// A context ends the wait for one's turn and reading; a write that has begun is finished. So an error of a method that writes
// means that nothing was written, unless its comment says otherwise, or the error is ErrUnknownOutcome: the drive has failed in
// the very moment in which it was to keep the change. An idempotency key makes it safe to try again.
//
// # Secrets
//
// Sessions and cells are kept in the clear; [Options.Redact] takes secrets out of what is said before it is kept. Open
// makes the file, and SQLite those beside it, readable and writable by their owner only (mode 0600; on Windows they inherit
// the rights of the directory). A file that is there already keeps its mode. What was deleted is out of reach of the
// methods, but its bytes stay in the file until others take their place. The file does not shrink: room that has become
// free is used again.
//
// # Another store
//
// [Log] is what this package and package harness need of a session. Package transcripttest tests an implementation of it,
// package codemode/storetest one of the stores of cells and values.
package transcript
