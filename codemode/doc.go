// Package codemode lets a model work in programs instead of single tool calls. The model writes a small
// JavaScript program, a cell; the cell runs in this process, in QuickJS compiled to WebAssembly, and calls
// the service's tools as async functions.
//
//	rt, err := codemode.NewRuntime(ctx, nil) // one a process
//	defer rt.Close()
//	ex, err := rt.NewExecutor(catalog, nil) // one an agent turn
//	defer ex.Close()
//	result := ex.Exec(ctx, codemode.ExecInput{
//		Title: "Unpaid tons",
//		Code: `
//			const list = await shipping_list({});
//			return list.filter((s) => !s.paid).reduce((sum, s) => sum + s.tons, 0);
//		`,
//	})
//	reply := result.Text() // for the model
//
// A model is offered the tools of [Executor.Tools], exec and wait; its calls go to [Executor.Handle].
//
// # Cells
//
// A cell is the body of an async function: await and return are legal at its top level. Every tool of the catalog is an
// async global of one argument. text(value) and json(value) emit output; the returned value becomes the result's Value. A
// call that fails rejects with an Error that has a code and an effectStatus ("none": the tool did not run, and
// executionStarted is false; "unknown": it may have changed something). A cell is complete when its program has returned
// and every call and timer that it started has ended, those that it did not await included. A rejection that nothing
// handles by then fails the cell. A program that throws ends at once: its calls in flight are cancelled, those that wait
// for a place are never made.
//
// A call that a policy, a hook or an approver of the catalog refuses rejects with the code "refused" and the reason. Time
// in which calls wait for an approver, and the cell has nothing else to do, does not count as the cell's.
//
// A cell sees the language (ES2024 and later, in sloppy mode unless it says "use strict"), console, setTimeout and
// clearTimeout, queueMicrotask, TextEncoder and TextDecoder, structuredClone and DOMException, URL and
// URLSearchParams, atob and btoa. There are no modules, no files, no network, and no clock but Date.
//
// # Discovery
//
// A cell finds out by itself what the model was not told. catalog.search(query, {limit}) resolves to the tools that fit, best
// first; catalog.all() gives all of them, in the order of their names. A tool found is the same function as its global: it can
// be called at once, shows callableName, toolName, label, description, source, input, output and apiPath as properties, and
// its describe() resolves to its names, its description, its whole schemas and examples. In a returned value, in output and in
// arguments a tool stands for its properties.
//
// API.list(prefix) resolves to {files}, and API.read(path) to a file of TypeScript declarations, made when it is first
// read: tools/<callableName>.d.ts for a tool, guest.d.ts for the globals. What read gives is an object with path, content
// and bytes, and reads as its content where a string is expected: in text(file), in a template, and for the methods of
// strings. It is no string, though: typeof says object, and file[0] is undefined. skills.read(name) gives one of the host's
// instruction documents in the same way, with name, description and content; skills.list() and skills.search(query) find
// them.
//
// All of this is answered by the host from memory, and given whole or refused: an answer of more than the smaller of
// MaxSnapshotBytes and MemoryLimitBytes is an Error that says so.
//
// # Waiting
//
// A cell whose tool calls or timers have not ended when its time is over does not fail: it waits. So does one that calls
// await yield_control(reason), at once. The result then has [StatusWaiting] and a RunID, and the cell is parked: its VM is
// given back, and what its memory has that a fresh one has not is kept, with its pending requests, in at most
// MaxSnapshotBytes. Its calls go on. [Executor.Wait] resumes it exactly where it was, with a fresh budget; what it emitted
// is shown once, in the next result. A cell of which too little time is left to begin with something new (less than a
// quarter of a second, or half of Timeout if that is less) waits for the next call, too.
//
//	result := ex.Exec(ctx, in)
//	for result.Status == codemode.StatusWaiting { // with a model, it is the model that asks for this
//		result = ex.Wait(ctx, codemode.WaitInput{RunID: result.RunID})
//	}
//
// A waiting cell belongs to its executor: it ends, and its calls are cancelled, when the executor is closed or nobody has
// resumed it for SnapshotTTL. MaxSuspended bounds how many wait in a runtime. A cell with AwaitResults never waits in this
// sense: only what it does itself counts as its time, and it ends or fails in the one call. Nor does a cell of a headless
// executor ([ExecutorOptions].Headless), which goes on by itself.
//
// # Waiting beyond the process
//
// With [ExecutorOptions].Cells, a waiting cell is in that [CellStore] before its result is returned, and any executor with
// the same engine, the same tools ([toolcatalog.Catalog.Fingerprint]), and the same RunID and SessionID can resume it: in
// this process, after a restart, or on another machine. A resumed cell is written again before it makes calls, and replies
// are written before it sees them; so after a crash, at whatever moment, it goes on from a state in which no call that was
// answered is made again. Of the calls that were in flight, those of tools whose definition says ReplaySafe are made again,
// and any other rejects in the cell with [ErrInterrupted] and the effectStatus "unknown". What results.save kept is gone,
// as with any executor; what the cell itself stored is not. Errors of calls that the cell has caught keep their text and
// fields; Go's errors.As does not find the tool's own error behind them any more.
//
// Output is shown once, too: if a process dies when a waiting result is in the store and not yet in the conversation, what that
// result would have shown is not shown again. What a cell returns can be lost in the same way: its id is then unknown.
//
// RunID and SessionID say whose cell it is: give a RunID that is the same in the turns and processes over which a cell may
// wait.
//
// One process has a cell at a time, by a lease of CellLease that it renews; who waits for a cell whose process has died
// gets it when the lease is over. A store that fails is no end of the cell: a waiting result has a warning and the cell is
// kept in this process only, a call that could not be recorded is not made and rejects with [ErrNotRecorded]. A cell that
// cannot be resumed here, because it is damaged or of another engine or catalog, is [ErrUnusableCell] and stays in the
// store.
//
// # What stays
//
// results.save(value) keeps a value as JSON for later cells of the executor, and resolves to a [Reference] of at most 768 bytes
// that stands for it in the conversation: id, size, count, shape and samples. results.load(id) resolves to a copy,
// results.delete(id) makes room. There is room for [MaxResults] values and as many bytes as a program may be given at once (the
// smaller of MaxSnapshotBytes and MemoryLimitBytes); nothing is evicted. The host has the same values in [Executor.Results].
// A returned object or array that is too large to be shown is kept by itself, and the result's value is {truncated, reference,
// guidance}; the host tells by [Result].Retained.
//
// All that a program asks the host for but calls of tools (results, store and load, catalog, API and skills) is answered in the
// middle of its code, one question after another, and takes no place among the pending calls. Only the first store or load of a
// cell, which loads the session, and what is made when it is first asked for can take long: meanwhile the cell's time runs,
// the calls that it has in flight go on, and their replies and its timers wait.
//
// store(key, value) and load(key) keep small values for later turns of the session, in the [SessionStore] of
// [ExecutorOptions]; without one, for later cells of the executor. They are globals of a program whose code has the name
// store or load: names in strings, in comments and in regular expressions do not count, and neither do names that the program
// computes. A cell sees its own changes at once; they are committed together when it completes, and a commit that fails is
// a warning of the result. A cell that fails commits nothing.
//
// Content from outside of the host (of a tool whose definition says Network, and what others say of client tools) marks the
// cell, what the cell keeps, and the cells that load it: [Result].NetworkContent. A result with such content has no more than
// [MaxNetworkChars] characters, whatever the [Model].
//
// # Tools as globals
//
// The globals of the tools are there for a program that spells their names, in code or in a string. In a catalog
// of up to 256 tools they are also there for one that computes names (globalThis["ship" + "ping_list"]).
//
// # Failures
//
// A failed cell is a [Result] that the model reads, not a Go error: its text starts with "Name: message" and
// has the frames of the stack that lie in the submitted code, under the name cell.js. [Result.Err] gives the
// same to Go code. A host's own mistakes are Go errors. The error of a failed call has the stack of the call, for
// the first 100 calls of a cell; later ones have only their message.
//
// Input that breaks a rule is refused with [CodeInvalidInput] before anything is dispatched: a
// syntax error with its line and column, a shell command, import and require, a title of more than 120
// characters, code of more than 2 MiB.
//
// # Limits
//
// [Options] bound the time, memory and output of a cell and its pending calls. All are enforced from outside
// of the guest: a cell can neither hang nor exhaust the host, whatever it does. The time budget covers the
// cell's own work and its waiting; Go's garbage collector and other cells run meanwhile.
//
// # Values
//
// Values cross as JSON text. Going in, an integer literal that a JavaScript number would change (beyond 2^53, say
// 1915883588174806058) arrives as a string of the same digits; a tool whose schema wants an integer gets it back as one. A
// half surrogate in an argument becomes U+FFFD. Arguments of tools are what JSON.stringify makes of them; a BigInt or a
// cycle throws at the call. The returned value is copied property by property: toJSON is not called, so a Date becomes {}:
// return date.toISOString(). NaN and infinities become null, functions and symbols disappear, an Error becomes its name,
// message and enumerable fields, a promise that was not awaited a note that says so. A BigInt becomes its digits; in an
// object or array it makes the whole value the text "[object Object]" or "[object Array]", as a cycle does. text and json
// do honour the toJSON of an object, save for arrays and errors.
//
// # Deviations from the language
//
// The engine is QuickJS-ng: no Intl (toLocaleString and localeCompare ignore their options), recursion to about
// 1,000 calls, 65,535 arguments a call, and s += x in a long loop copies s each time (collect the pieces in
// an array and join them). Columns in stacks count UTF-8 bytes. A thrown value that is no Error fails the cell
// with String(value) as its text. The engine keeps no place for some operations (reading a property of undefined in a
// return statement, say): a stack then shows the place of the last call before it in the function, or none.
//
// # Concurrency
//
// A Runtime and an Executor are safe for concurrent use; cells of one executor run side by side. Tool functions run
// on goroutines of their own with a context that has the values of Exec's. Close of either cancels what runs and waits for it.
package codemode
