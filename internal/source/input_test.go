package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellmode/cellmode/internal/source"
)

func TestRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, raw string
		want      source.Cell
		err       string // part of the message; "" for none
	}{
		{name: "smallest", raw: `{"title":"t","code":"return 1"}`, want: source.Cell{Title: "t", Code: "return 1"}},
		{name: "all fields", raw: ` {"restartSafe" : true , "code":" x ", "awaitResults":true,"title":" t "} `,
			want: source.Cell{Title: " t ", Code: " x ", RestartSafe: true, AwaitResults: true}},
		{name: "escapes", raw: `{"title":"\u00e9","code":"\"\\\/\b\f\n\r\t\u0041\ud83e\udd80"}`,
			want: source.Cell{Title: "é", Code: "\"\\/\b\f\n\r\tA🦀"}},
		{name: "lone surrogates", raw: `{"title":"t","code":"\ud83d \udd80 \ud83dx \ud83d\n \ud83d\u0041"}`,
			want: source.Cell{Title: "t", Code: "\ufffd \ufffd \ufffdx \ufffd\n \ufffdA"}},
		{name: "escaped key", raw: `{"\u0074itle":"t","c\u006fde":"1"}`, want: source.Cell{Title: "t", Code: "1"}},
		{name: "unknown fields", raw: `{"a":{"code":"}\"]"},"b":[1,[2,"]"]],"c":-1.5e3,"d":null,"title":"t","Code":"no","code":"1","e":"x"}`,
			want: source.Cell{Title: "t", Code: "1"}},

		{name: "command", raw: `{"title":"t","command":"1"}`, want: source.Cell{Title: "t", Code: "1"}},
		{name: "blank command", raw: `{"title":"t","code":"1","command":" \n"}`, want: source.Cell{Title: "t", Code: "1"}},
		{name: "null command", raw: `{"title":"t","code":"1","command":null}`, want: source.Cell{Title: "t", Code: "1"}},
		{name: "number as command", raw: `{"title":"t","code":"1","command":5}`, want: source.Cell{Title: "t", Code: "1"}},
		{name: "blank code", raw: `{"title":"t","code":"\ufeff\u00a0","command":"1"}`, want: source.Cell{Title: "t", Code: "1"}},
		{name: "both", raw: `{"title":"t","code":"1","command":"1"}`, want: source.Cell{Title: "t", Code: "1"}},
		{name: "both differ", raw: `{"title":"t","code":"1","command":"1 "}`, err: "code and command differ"},

		{name: "no code", raw: `{"title":"t"}`, err: "code is required"},
		{name: "only blank code", raw: `{"title":"t","code":" \t\n\u2028\u3000"}`, err: "code is required"},
		{name: "array as code", raw: `{"title":"t","code":["1"]}`, err: "code is required"},
		{name: "NUL", raw: `{"title":"t","code":"a\u0000"}`, err: "NUL character at byte 1"},

		{name: "no title", raw: `{"code":"1"}`, err: "title is required"},
		{name: "blank title", raw: `{"title":" \n","code":"1"}`, err: "title is required"},
		{name: "number as title", raw: `{"title":7,"code":"1"}`, err: "title must be a string, not a number"},
		{name: "longest title", raw: `{"title":"` + strings.Repeat("🦀", 120) + `","code":"1"}`, want: source.Cell{Title: strings.Repeat("🦀", 120), Code: "1"}},
		{name: "title too long", raw: `{"title":"` + strings.Repeat("x", 121) + `","code":"1"}`, err: "title has 121 characters, the limit is 120"},

		{name: "language", raw: `{"title":"t","code":"1","language":"javascript"}`, err: "remove language and typecheck"},
		{name: "typecheck", raw: `{"title":"t","code":"1","typecheck":null}`, err: "remove language and typecheck"},
		{name: "flag as string", raw: `{"title":"t","code":"1","restartSafe":"true"}`, err: "restartSafe must be true or false, not a string"},
		{name: "flag as null", raw: `{"title":"t","code":"1","restartSafe":null}`, err: "restartSafe must be true or false, not null"},
		{name: "flag as number", raw: `{"title":"t","code":"1","awaitResults":1}`, err: "awaitResults must be true or false, not a number"},
		{name: "flag as object", raw: `{"title":"t","code":"1","awaitResults":{}}`, err: "not an object"},
		{name: "order of rules", raw: `{"restartSafe":1,"language":"x","title":"t"}`, err: "code is required"},
		{name: "retired before flags", raw: `{"restartSafe":1,"language":"x","title":"t","code":"1"}`, err: "remove language"},
		{name: "first flag", raw: `{"restartSafe":1,"awaitResults":1,"title":"t","code":"1"}`, err: "restartSafe"},
		{name: "twice", raw: `{"title":"t","code":"1","code":"1"}`, err: "code occurs twice"},

		{name: "array", raw: ` ["title"]`, err: "must be a JSON object with title and code, not an array"},
		{name: "string", raw: `"return 1"`, err: "not a string"},
		{name: "null", raw: `null`, err: "not null"},
		{name: "boolean", raw: `true`, err: "not a boolean"},
		{name: "nothing", raw: " \n", err: "the exec input is empty"},
		{name: "cut off", raw: `{"title":"t","code":"1`, err: "not valid JSON: unexpected end"},
		{name: "two values", raw: `{"title":"t","code":"1"}{}`, err: "not valid JSON"},
		{name: "not UTF-8", raw: "{\"title\":\"t\",\"code\":\"\xff\"}", err: "not valid UTF-8 at byte 21"},
		{name: "nested too deep for JSON", raw: `{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, err: "exceeded max depth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := source.Read([]byte(tt.raw))
			checkInputError(t, err, tt.err)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestInputCell(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   source.Input
		err  string
	}{
		{name: "largest", in: source.Input{Title: "t", Code: strings.Repeat("x", source.MaxCodeBytes)}},
		{name: "too large", in: source.Input{Title: "t", Code: strings.Repeat("x", source.MaxCodeBytes+1)}, err: "code has 2097153 bytes, the limit is 2097152"},
		{name: "10 MB", in: source.Input{Title: "t", Command: strings.Repeat(" ", 10e6) + "x"}, err: "code has 10000001 bytes"},
		{name: "not UTF-8", in: source.Input{Title: "t", Code: "x = '\ufffd\xed\xa0\x80'"}, err: "code is not valid UTF-8 at byte 8"},
		{name: "title not UTF-8", in: source.Input{Title: "\xff", Code: "x"}, err: "title is not valid UTF-8"},
		{name: "NUL", in: source.Input{Title: "t", Code: "\x00"}, err: "NUL character at byte 0"},
		{name: "both differ", in: source.Input{Title: "t", Code: "a", Command: "b"}, err: "differ"},
		{name: "zero", err: "title is required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.in.Cell()
			checkInputError(t, err, tt.err)
		})
	}
}

// checkInputError checks that err is the InputError whose message contains want, or nil if want is empty, and that its
// message is fit for a model.
func checkInputError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got error %q, want none", err)
		}
		return
	}
	var input *source.InputError
	if !errors.As(err, &input) {
		t.Errorf("got error %v, want an InputError with %q", err, want)
		return
	}
	if !strings.Contains(input.Message, want) {
		t.Errorf("got error %q, want %q in it", input.Message, want)
	}
	if len(input.Message) > 300 || !utf8.ValidString(input.Message) {
		t.Errorf("message of %d bytes: %q", len(input.Message), input.Message)
	}
}

func TestReadLimitsItsInput(t *testing.T) {
	t.Parallel()
	_, err := source.Read(bytes.Repeat([]byte(" "), source.MaxInputBytes+1))
	checkInputError(t, err, "the exec input has 16777217 bytes")

	escaped := `{"title":"t","code":"` + strings.Repeat(`\u0061`, source.MaxCodeBytes) + `"}`
	cell, err := source.Read([]byte(escaped))
	if err != nil || len(cell.Code) != source.MaxCodeBytes {
		t.Errorf("got %d bytes of code, error %v", len(cell.Code), err)
	}
}

// FuzzRead compares Read with encoding/json.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"title":"t","code":"return 1"}`,
		`{"title":"t","code":"\ud83e\udd80\ud83d","command":null,"restartSafe":true}`,
		`{"x":[{"a":"\\\""}],"title":"t","code":"\"","language":1}`,
		"{\"title\":\"\xff\"}", `[]`, ``, `{`, `{"a":1e400}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		cell, err := source.Read(raw)
		if err != nil {
			checkInputError(t, err, err.Error())
			return
		}
		var want map[string]any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("accepted %q, which is no JSON object: %v", raw, err)
		}
		program := want["code"]
		if command, ok := want["command"].(string); ok && strings.Trim(command, "\ufeff\u0085 \t\r\n") == strings.TrimSpace(command) && strings.TrimSpace(command) != "" {
			program = command
		}
		if got := []any{cell.Title, cell.Code}; !reflect.DeepEqual(got, []any{want["title"], program}) {
			t.Errorf("%q: got %q, want title %q and code %q", raw, got, want["title"], program)
		}
	})
}
