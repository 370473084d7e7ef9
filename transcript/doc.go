// Package transcript keeps on disk what has to outlive a process: at present the parked cells of package codemode.
//
//	store, err := transcript.Open(ctx, "/var/lib/agent/cells.db", nil)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	executor, err := runtime.NewExecutor(catalog, &codemode.ExecutorOptions{RunID: run, Cells: store})
//
// # One file, several processes
//
// A Store is one SQLite database, in WAL mode. Any number of processes of one machine may have it open: they take turns
// to write. Do not put it on a network file system, whose locks SQLite cannot trust. While it is open, and after a
// crash, there are two files beside it, with -wal and -shm behind its name: they belong to it, and a copy of the database
// without them may lack the newest cells.
//
// Times are those of the machine's clock: a lease ends early if the clock is put forward.
//
// # What survives
//
// When a method has returned without an error, its effect survives the end of the process, however it ends. With
// [SynchronousFull], the default, it also survives the end of the operating system and the loss of power, as far as the
// drive keeps what it has said to have written. With [SynchronousNormal] those may take the last effects, so that a
// cell comes back as it was some seconds before and repeats what it has done since; the database stays sound. A process
// that is killed in the middle of a method leaves the whole effect or nothing of it.
//
// # Secrets
//
// Cells hold what their programs hold, in the clear. Open makes the file, and SQLite those beside it, readable and writable
// by their owner only (mode 0600; on Windows they inherit the rights of the directory). A file that is there already keeps
// its mode. What was deleted is out of reach of the methods, but its bytes stay in the file until others take their place.
// The file does not shrink: room that has become free is used again.
package transcript
