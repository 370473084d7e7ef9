package codemode

import (
	"errors"
	"strconv"
	"strings"

	"github.com/cellmode/cellmode/internal/engine"
	"github.com/cellmode/cellmode/internal/guest"
	"github.com/cellmode/cellmode/internal/source"
)

// exception is what the guest tells of a thrown value.
type exception struct {
	isError              bool
	name, message, stack string
}

// moreStack is how much is read of a stack beyond what a result can show: frames that are not the program's are left out.
const moreStack = 64 << 10

// describe asks the guest about a thrown value. Reading it can run guest code.
func (c *cell) describe(value engine.Value) (exception, error) {
	list, err := c.vm.Call(c.vm.Named(guest.Describe), value)
	if err != nil {
		if thrown := (*engine.Exception)(nil); errors.As(err, &thrown) {
			return exception{message: "[unprintable value]"}, nil // no memory or stack is left to look at it
		}
		return exception{}, err
	}
	defer c.vm.Free(list)
	var e exception
	isError, err := c.vm.Element(list, 0)
	if err != nil {
		return e, err
	}
	e.isError = isError == engine.Bool(true)
	for i, field := range []*string{&e.name, &e.message, &e.stack} {
		v, err := c.vm.Element(list, uint32(i+1))
		if err != nil {
			return e, err
		}
		text, _, err := c.vm.AppendPrefix(nil, v, c.limits.output+moreStack)
		if err != nil {
			return e, err
		}
		*field = string(text)
		c.vm.Free(v)
	}
	return e, nil
}

// text gives the error as the model reads it: "Name: message", then the frames of the stack that lie in
// the submitted code, whose number of lines is given. A thrown value that is no Error is its text.
func (e *exception) text(lines int) string {
	var b strings.Builder
	b.WriteString(e.header())
	for _, f := range e.frames(lines) {
		b.WriteString("\n    at ")
		if f.function != "" {
			b.WriteString(f.function + " ")
		}
		b.WriteString("(" + source.Label + ":" + strconv.Itoa(f.line) + ":" + strconv.Itoa(f.column) + ")")
	}
	return b.String()
}

func (e *exception) header() string {
	switch {
	case !e.isError:
		return e.message
	case e.message == "":
		return e.name
	case e.name == "":
		return e.message
	}
	return e.name + ": " + e.message
}

// frame is a place in the submitted code.
type frame struct {
	function     string
	line, column int
}

// frames reads the stack, which has lines such as "    at name (cell.js:3:5)". Frames of the controller and of
// the host's own lines around the program are left out.
func (e *exception) frames(lines int) []frame {
	var frames []frame
	for text := range strings.Lines(e.stack) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(text), "at ")
		if !ok {
			continue
		}
		var f frame
		if name, place, ok := strings.Cut(rest, " ("); ok {
			f.function, rest = name, strings.TrimSuffix(place, ")")
		}
		rest, ok = strings.CutPrefix(rest, source.Label+":")
		if !ok {
			continue
		}
		line, column, _ := strings.Cut(rest, ":")
		f.line, _ = strconv.Atoi(line)
		f.column, _ = strconv.Atoi(column)
		if f.line == 1 { // the engine counts columns from 0 there
			f.column = max(f.column-len(programHead)+1, 1)
		}
		if f.line >= 1 && f.line <= lines {
			frames = append(frames, f)
		}
	}
	return frames
}

// position gives the place of a syntax error, zeros if it is not known. The engine's column can be that of a token before.
func (e *exception) position() (line, column int) {
	if frames := e.frames(1 << 30); len(frames) > 0 {
		return frames[0].line, frames[0].column
	}
	return 0, 0
}
