package codemode

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cellmode/cellmode/toolcatalog"
)

// Names of the tools that a model is given.
const (
	ExecTool = "exec"
	WaitTool = "wait"
)

// ToolDefinition is a tool as model providers take it: its name, what it does, and the JSON Schema of its arguments.
type ToolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Tools gives the definitions of exec and wait (a headless executor has no wait), for the request to the model; pass the
// model's calls to [Executor.Handle]. The description of exec says what a program may do and finds, with the limits of this
// runtime, and ends with the catalog's quick index ([toolcatalog.Catalog.QuickIndex]). It promises nothing that is not
// there. The same catalog and options give the same text, so that providers can cache it.
func (e *Executor) Tools() []ToolDefinition {
	tools := []ToolDefinition{{ExecTool, e.execDescription(), json.RawMessage(execSchema)}}
	if !e.opts.Headless {
		tools = append(tools, ToolDefinition{WaitTool, waitDescription, json.RawMessage(waitSchema)})
	}
	return tools
}

const (
	execSchema = `{"type":"object","properties":{` +
		`"title":{"type":"string","description":"What the program does, in a few words, for people. At most 120 characters."},` +
		`"code":{"type":"string","description":"The program: JavaScript, the body of an async function. Not a shell command."},` +
		`"restartSafe":{"type":"boolean","description":"true: call only tools that may be called again, so that the program can be run again after a crash."},` +
		`"awaitResults":{"type":"boolean","description":"true: time in which the program only waits for tools does not count."}},` +
		`"required":["title","code"],"additionalProperties":false}`

	waitSchema = `{"type":"object","properties":{` +
		`"runId":{"type":"string","description":"The runId at the top level of a result of exec or wait whose status is waiting."}},` +
		`"required":["runId"],"additionalProperties":false}`

	waitDescription = `Resume a program that is waiting, with a fresh time budget. Pass the runId at the top level of a result of exec or wait whose status is "waiting", ` +
		`never an id from inside of a value: the ids that a tool returns belong to that tool.`
)

// execDescription is the text of the specification's section 1.4, in its order, without what this catalog lacks.
func (e *Executor) execDescription() string {
	l, catalog := &e.runtime.limits, e.catalog
	hasTools, hasSkills := catalog.Len() > 0, len(catalog.Skills()) > 0
	var parts []string
	say := func(there bool, format string, args ...any) {
		if there {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(true, "Runs a small JavaScript program and gives back only what it returns and emits: one program does the work of many "+
		"single tool calls. It has %g seconds for its own work and its waiting for tools together.", l.timeout.Seconds())
	say(!e.opts.Headless && hasTools, "If tool calls have not ended by then, the result has the status \"waiting\" and a runId: call %s with it to go on.", WaitTool)
	say(!e.opts.Headless, "await yield_control(reason) pauses the program at once, with the same result: its output so far is shown, and %s resumes it.", WaitTool)
	say(catalog.MayAsk(), "Some calls wait for a person's approval, which does not count.")
	say(hasTools, "Every tool is a global async function of one object. Await calls that depend on each other one after the other, "+
		"others together with Promise.all (%d run at a time). A result that is declared below can be used by its fields in the same "+
		"program; where it says ?, look at the result first.", l.maxPending)
	say(true, "Return the final value, else it is null; text(value) and json(value) emit output on the way, console.log emits text. "+
		"Filter, join and sum up in the program and return what is needed: output, value and error text share %d bytes, and what "+
		"does not fit is cut and says so.", l.output)
	say(hasTools, "A tool's result reaches the program whole, or its call rejects; results that wait to be taken up share %d bytes. "+
		"A failed call is an Error to catch, with code and effectStatus: \"none\" means that nothing was done, \"unknown\" that the "+
		"state must be looked at before the call is repeated.", l.inbox)
	say(catalog.MayRefuse(), "The host may refuse a call, and says why.")
	say(hasTools, "await catalog.search(query, {limit}) finds tools (%d by default, at most %d) and gives functions that can be called "+
		"at once; catalog.all() gives all; tool.describe() resolves to the tool's description and whole schemas.", l.search, l.maxSearched)
	say(true, "What later programs of this turn need is kept with const ref = await results.save(value) and read with results.load(ref.id), "+
		"%d results at most; results.delete(ref.id) makes room. A returned value that is too large to be shown is kept by itself: the "+
		"result has value.reference, with an id to load, and counts, shape and samples of the value.", MaxResults)
	say(e.keeps, "await store(key, value) and load(key) keep small values for later turns of the session.")
	say(true, "There are setTimeout, TextEncoder, TextDecoder, URL, structuredClone and the JavaScript language; no modules, no import "+
		"or require, no files, no network.")
	say(hasTools, "TypeScript declarations: (await API.read(\"tools/<name>.d.ts\")).content for one tool, API.list() for the paths, "+
		"guest.d.ts and results.d.ts for the globals. Read a tool's declaration before the first call with complex input.")
	say(hasSkills, "Instructions of the host: await skills.list(), skills.search(query), and (await skills.read(name)).content. Read "+
		"the one that fits the task first.")
	say(true, "code is JavaScript, not a shell command.")
	text := strings.Join(parts, " ")
	if index := catalog.QuickIndex(toolcatalog.DefaultQuickIndexBytes); index != "" {
		text += "\n\n" + index
	}
	return text
}
