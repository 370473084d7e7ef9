package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
	"github.com/cellmode/cellmode/internal/source"
)

// The program runs as the body of an async arrow function in a conditional expression, and it must parse as the
// body of a function declaration too. After the one only a colon can follow, after the other everything but a
// colon: a text that closes the function early parses in at most one of them. Neither stands in
// parentheses or an object literal, where the engine looks ahead for the end in a way that takes
// some divisions for regular expressions. The code starts on the first line, so that lines are right for the
// program, too, where it looks at a stack itself.
const (
	programHead  = "1?async()=>{"
	programTail  = "\n}:0"
	functionHead = "async function f(){"
	functionTail = "\n}"
)

// compile checks the source and gives the program as a function of the guest.
func (c *cell) compile() (engine.Value, *Result) {
	code := c.source.Code
	shell, err := source.Shell(c.ctx, code, c.parses)
	if err != nil {
		return 0, c.failure(c.stopped(err))
	}
	if shell {
		return 0, c.failure(c.failed(CodeInvalidInput, PhaseInput, source.ErrShell.Error(), source.ErrShell))
	}
	if strings.Contains(code, "}") { // else it cannot close the function, and compiling it once will do
		function, err := c.eval(functionHead, functionTail, engine.EvalCompileOnly)
		if err != nil {
			return 0, c.failure(c.uncompiled(err))
		}
		c.vm.Free(function)
	}
	program, err := c.eval(programHead, programTail, 0)
	if err != nil {
		return 0, c.failure(c.uncompiled(err))
	}
	if source.ModuleAccess(code) {
		return 0, c.failure(c.failed(CodeInvalidInput, PhaseInput, source.ErrModuleAccess.Error(), source.ErrModuleAccess))
	}
	return program, nil
}

func (c *cell) eval(head, tail string, flags engine.EvalFlag) (engine.Value, error) {
	c.scratch = append(append(append(c.scratch[:0], head...), c.source.Code...), tail...)
	return c.vm.Eval(c.scratch, source.Label, flags)
}

// parses tells whether a text is the body of an async function.
func (c *cell) parses(_ context.Context, body string) (bool, error) {
	v, err := c.vm.Eval([]byte(functionHead+body+functionTail), source.Label, engine.EvalCompileOnly)
	if exception := (*engine.Exception)(nil); errors.As(err, &exception) {
		c.vm.Free(exception.Value)
		return false, nil
	} else if err != nil {
		return false, err
	}
	c.vm.Free(v)
	return true, nil
}

// maxReflected is the size of a catalog up to which a program that may compute the names of globals gets all tools. In a
// larger one it must spell a tool's name out.
const maxReflected = 256

// plan finds out what the program may use: the tools that it mentions, so that a cell costs the same whatever the
// catalog holds, and whether it needs the web APIs.
func (c *cell) plan() (web bool) {
	catalog, code := c.executor.catalog, c.source.Code
	all := false
	seen := map[string]bool{}
	look := func(text string) {
		for name := range source.Identifiers(text) {
			switch mentions[name] {
			case reflective:
				web = true
				all = catalog.Len() <= maxReflected
			case webAPI:
				web = true
			}
			if _, ok := catalog.Lookup(name); ok && !seen[name] {
				seen[name] = true
				c.bridge.tools = append(c.bridge.tools, name)
			}
		}
	}
	look(code)
	if plain := source.Unescape(code); plain != code {
		look(plain)
	}
	if all {
		c.bridge.tools = slices.AppendSeq(c.bridge.tools[:0], catalog.CallableNames())
	}
	return web
}

// Words of a program that say what it needs beyond the tools that it names.
const (
	reflective = iota + 1 // by this it can get at a global without naming it
	webAPI
)

var mentions = func() map[string]int {
	m := map[string]int{}
	for _, name := range []string{
		"globalThis", "this", "eval", "Function", "constructor", "AsyncFunction", "GeneratorFunction", "getPrototypeOf", "__proto__",
	} {
		m[name] = reflective
	}
	for _, name := range guest.WebGlobals {
		m[name] = webAPI
	}
	return m
}()

// usesSession tells whether the program's code has the name store or load. Most programs with these words have them in
// strings and comments, or not at all.
func usesSession(code string) bool {
	if !strings.Contains(code, "store") && !strings.Contains(code, "load") && !strings.Contains(code, `\u`) {
		return false
	}
	for name := range source.CodeIdentifiers(code) {
		if name == "store" || name == "load" {
			return true
		}
	}
	return false
}

// installGlobals makes the globals that not every program has.
func (c *cell) installGlobals() error {
	if usesSession(c.source.Code) {
		if _, err := c.vm.Call(c.vm.Named(guest.InstallSession)); err != nil {
			return err
		}
	}
	return c.installTools()
}

// installTools makes the globals of the tools.
func (c *cell) installTools() error {
	if len(c.bridge.tools) == 0 {
		return nil
	}
	text, err := json.Marshal(c.bridge.tools)
	if err != nil {
		return err
	}
	names, err := c.vm.ParseJSON(text)
	if err != nil {
		return err
	}
	_, err = c.vm.Call(c.vm.Named(guest.Install), names)
	c.vm.Free(names)
	return err
}
