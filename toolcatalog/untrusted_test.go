package toolcatalog_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cellmode/cellmode/schema"
	"github.com/cellmode/cellmode/toolcatalog"
)

// Case C078: a schema from outside refers to a server and to a file. Nothing is fetched, whatever is done with the tool;
// its good parts are shown as they came, and it stays usable. The same in the result of a native tool is an invalid
// contract.
func TestNoRequestForAnyTool(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var requests atomic.Int32
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			requests.Add(1)
			_ = conn.Close()
		}
	}()
	text := fmt.Sprintf(`{"$schema":"http://%[1]s/meta","type":"object","properties":{"a":{"$ref":"http://%[1]s/x.json"},"b":{"$ref":"file:///etc/hostname"},"c":{"type":"string"}}}`, listener.Addr())
	remote := schema.ParseDeferred([]byte(text))
	c := newCatalog(t,
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "client", Source: toolcatalog.Client, Input: remote, Output: remote, Description: "Of a client."}, answer),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "taking", Input: remote}, answer),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "out", Output: remote}, answer),
		named("fine"))
	c.All()
	c.QuickIndex(0)
	c.Search("what a client knows", 5)
	for _, name := range []string{"client", "taking", "out"} {
		if d, ok := c.Describe(name); !ok || d.Note == "" || !strings.Contains(string(d.Parameters)+string(d.OutputSchema), "hostname") {
			t.Errorf("Describe(%q) = %+v", name, d)
		}
		if _, err := c.ReadFile("tools/" + name + ".d.ts"); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"client", "fine"} {
		if _, err := c.Call(t.Context(), name, json.RawMessage(`{"a":1,"b":2}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"taking", "out"} {
		_, err := c.Call(t.Context(), name, json.RawMessage(`{}`))
		callFails(t, err, toolcatalog.CodeInvalidContract, toolcatalog.EffectStatusNone)
	}
	if file, _ := c.ReadFile("tools/taking.d.ts"); !strings.Contains(file.Content, "a?: unknown") || !strings.Contains(file.Content, "c?: string") {
		t.Errorf("the declaration is\n%s", file.Content)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// Case C038: a reference that leads nowhere costs only itself. All tools are there; the broken spot is unknown.
func TestDanglingReferences(t *testing.T) {
	t.Parallel()
	broken := schema.ParseDeferred([]byte(`{"type":"object","properties":{"screen":{"$ref":"#/$defs/Screen"},"name":{"type":"string"}},"required":["name"]}`))
	c := newCatalog(t,
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "first", Source: toolcatalog.Client, Input: broken}, answer),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "second", Source: toolcatalog.Client, Output: broken}, answer),
		toolcatalog.DefineRaw(toolcatalog.Spec{Name: "trusted", Output: broken}, answer),
		named("third"))
	if n := len(c.All()); n != 4 {
		t.Errorf("%d tools are listed", n)
	}
	for _, name := range []string{"first", "second", "third"} {
		if _, err := c.Call(t.Context(), name, json.RawMessage(`{"name":"n"}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := c.Call(t.Context(), "trusted", nil)
	failure := callFails(t, err, toolcatalog.CodeInvalidContract, toolcatalog.EffectStatusNone)
	if !strings.Contains(failure.Message(), "#/properties/screen") {
		t.Errorf("the message is %s", failure.Message())
	}
	file, err := c.ReadFile("tools/trusted.d.ts")
	if err != nil || !strings.Contains(file.Content, "name: string") || !strings.Contains(file.Content, "screen?: unknown") {
		t.Errorf("%v\n%s", err, file.Content)
	}
	if d, _ := c.Describe("first"); !strings.Contains(string(d.Parameters), "$defs/Screen") || !strings.Contains(d.Note, "#/properties/screen") {
		t.Errorf("described as %+v", d)
	}
}

// Bad schemas from outside: whatever the text, the catalog stands, and everything about the tool can be asked for.
func TestSchemasThatAreNone(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "no JSON": "{", "BOM": "\ufeff{}", "not UTF-8": "{\"title\":\"\xff\"}", "key twice": `{"type":"object","type":"string"}`,
		"number": "12", "null": "null", "list": "[]", "deep": strings.Repeat(`{"items":`, 5_000) + "{}" + strings.Repeat("}", 5_000),
		"enum of a megabyte": `{"enum":["` + strings.Repeat(`x","`, 1<<18) + `"]}`, "cycle": `{"$ref":"#"}`, "false": "false",
		"too long": `{"title":"` + strings.Repeat("x", schema.MaxTextBytes) + `"}`, "numbers as keys": `{"properties":{1:{}}}`,
	} {
		s := schema.ParseDeferred([]byte(text))
		c := newCatalog(t, toolcatalog.DefineRaw(toolcatalog.Spec{Name: "client", Source: toolcatalog.Client, Input: s, Output: s}, answer),
			toolcatalog.DefineRaw(toolcatalog.Spec{Name: "native", Output: s}, answer))
		c.QuickIndex(0)
		c.Search("some words", 3)
		for _, tool := range []string{"client", "native"} {
			file, err := c.ReadFile("tools/" + tool + ".d.ts")
			if err != nil || len(file.Content) > 100_000 || !strings.Contains(file.Content, "declare function "+tool) {
				t.Errorf("%s: %v, %d bytes", name, err, len(file.Content))
			}
			if d, ok := c.Describe(tool); !ok || !json.Valid(d.Parameters) || !json.Valid(d.OutputSchema) {
				t.Errorf("%s: described as %.300v", name, d)
			}
		}
		if _, err := c.Call(t.Context(), "client", nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
