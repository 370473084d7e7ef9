package toolcatalog_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cellmode/cellmode/toolcatalog"
)

// hashed is base with n digits of the hash of a native tool's id.
func hashed(base, toolName string, n int) string {
	sum := sha256.Sum256([]byte("native:core:" + toolName))
	return base + "_" + hex.EncodeToString(sum[:])[:n]
}

func callableNames(t *testing.T, names ...string) map[string]string {
	t.Helper()
	var tools []*toolcatalog.Tool
	for _, name := range names {
		tools = append(tools, named(name))
	}
	got := map[string]string{}
	for _, e := range newCatalog(t, tools...).All() {
		got[e.ToolName] = e.CallableName
	}
	return got
}

func TestCallableNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		want map[string]string // callable name by tool name
	}{
		{"fit names stay", map[string]string{"shipping_list": "shipping_list", "$get": "$get", "_x9": "_x9", "exec": "exec"}},
		{"other characters become underscores", map[string]string{"llm-task": "llm_task", "a.b/c d": "a_b_c_d", "größe": "gr__e", "日本": "__", "x😀": "x_"}},
		{"no leading digit", map[string]string{"9patch": "tool_9patch", "-x": "_x"}},
		{"an exact name goes first", map[string]string{"llm_task": "llm_task", "llm-task": hashed("llm_task", "llm-task", 8)}},
		{"then the smaller id", map[string]string{"a b": "a_b", "a-b": hashed("a_b", "a-b", 8)}},
		{"case counts", map[string]string{"listURL": "listURL", "listUrl": "listUrl"}},
		{"reserved words", map[string]string{"class": hashed("class", "class", 8), "await": hashed("await", "await", 8), "arguments": hashed("arguments", "arguments", 8)}},
		{"guest globals", map[string]string{"catalog": hashed("catalog", "catalog", 8), "text": hashed("text", "text", 8), "results": hashed("results", "results", 8),
			"store": hashed("store", "store", 8), "load": hashed("load", "load", 8), "queueMicrotask": hashed("queueMicrotask", "queueMicrotask", 8)}},
		{"a reserved base that is not the name itself", map[string]string{"tools-": "tools_", "yield-control": hashed("yield_control", "yield-control", 8)}},
		{"private hooks", map[string]string{"__openclaw_call": "tool___openclaw_call", "__cellmode": "tool___cellmode", "__openclaw-x": "tool___openclaw_x"}},
		{"object members are no globals", map[string]string{"constructor": "constructor", "__proto__": "__proto__", "toString": "toString"}},
		{"a taken suffix grows", map[string]string{"class": hashed("class", "class", 10), hashed("class", "class", 8): hashed("class", "class", 8)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := callableNames(t, slices.Collect(maps.Keys(tt.want))...)
			if !maps.Equal(got, tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

// A name whose every suffix is taken, as only an attacker would choose them, still gets one.
func TestCallableNamesAllSuffixesTaken(t *testing.T) {
	t.Parallel()
	names := []string{"class"}
	for n := 8; n <= 64; n += 2 {
		names = append(names, hashed("class", "class", n))
	}
	got := callableNames(t, names...)["class"]
	if !strings.HasPrefix(got, hashed("class", "class", 64)) || slices.Contains(names, got) {
		t.Errorf("got %q", got)
	}
}

// Case C021: every tool gets its own valid name, nothing is hidden, and each name reaches its own tool.
func TestCallableNamesReachTheirTools(t *testing.T) {
	t.Parallel()
	names := []string{"llm-task", "llm_task", "listURL", "listUrl", "catalog", "class", "9patch", "text", "await", "__cellmode_dispatch"}
	var tools []*toolcatalog.Tool
	for _, name := range names {
		tools = append(tools, toolcatalog.Define(toolcatalog.Spec{Name: name}, returning(name)))
	}
	c := newCatalog(t, tools...)
	seen := map[string]bool{}
	for _, e := range c.All() {
		if !regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`).MatchString(e.CallableName) || seen[e.CallableName] {
			t.Errorf("%q got the callable name %q", e.ToolName, e.CallableName)
		}
		seen[e.CallableName] = true
		if slices.Contains([]string{"catalog", "text", "class", "await"}, e.CallableName) || strings.HasPrefix(e.CallableName, "__cellmode") {
			t.Errorf("%q hides something", e.CallableName)
		}
		for _, name := range []string{e.CallableName, e.ToolName} {
			if got, err := c.Call(t.Context(), name, nil); err != nil || string(got) != fmt.Sprintf("%q", e.ToolName) {
				t.Errorf("call of %q gave %s, %v", name, got, err)
			}
		}
		if got, ok := c.Lookup(e.CallableName); !ok || got != e {
			t.Errorf("Lookup(%q) = %v, %v", e.CallableName, got, ok)
		}
	}
	if _, ok := c.Lookup("llm-task"); ok {
		t.Error("Lookup takes a tool name")
	}
}

func TestCallableNamesDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	names := []string{"a-b", "a b", "a_b", "a.b", "class", "class_", "tool_1", "1", "if", "text", "__openclaw", "tool___openclaw"}
	want := callableNames(t, names...)
	for seed := range uint64(20) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		if got := callableNames(t, names...); !maps.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", names, got, want)
		}
	}
}

func TestAllIsSorted(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, named("b"), named("B"), named("a-1"), named("a"), named("_"))
	var got []string
	for _, e := range c.All() {
		got = append(got, e.CallableName)
	}
	if want := []string{"B", "_", "a", "a_1", "b"}; !slices.Equal(got, want) {
		t.Errorf("All: %v, want %v", got, want)
	}
	if listed := slices.Collect(c.CallableNames()); !slices.Equal(listed, got) {
		t.Errorf("CallableNames: %v, All: %v", listed, got)
	}
	for range c.CallableNames() {
		break // stopping early is fine
	}
	c.All()[0].CallableName = "changed"
	if c.All()[0].CallableName != "B" {
		t.Error("All shares its slice")
	}
}

func TestEntryJSON(t *testing.T) {
	t.Parallel()
	c := newCatalog(t, rawTool(toolcatalog.Spec{
		Name: "llm-task", Label: "Task\xff", Description: "Do \xc3it.", Network: true, ReplaySafe: true, Sequential: true,
		Effect: toolcatalog.EffectRead, Source: toolcatalog.Client,
	}))
	e, _ := c.Lookup("llm_task")
	if !e.Network || !e.ReplaySafe || !e.Sequential || e.Effect != toolcatalog.EffectRead {
		t.Errorf("%+v", e)
	}
	got, err := json.Marshal(e)
	want := `{"callableName":"llm_task","toolName":"llm-task","label":"Task` + "\ufffd" + `","description":"Do ` + "\ufffd" + `it.","source":"client","input":"unknown","apiPath":"tools/llm_task.d.ts"}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestEnumText(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(toolcatalog.Native, toolcatalog.Client, toolcatalog.Source(7),
		toolcatalog.EffectUnknown, toolcatalog.EffectRead, toolcatalog.EffectMutate, toolcatalog.Effect(7))
	if want := "native client Source(7) unknown read mutate Effect(7)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	text, err := json.Marshal(toolcatalog.EffectRead)
	if err != nil || string(text) != `"read"` {
		t.Errorf("got %s, %v", text, err)
	}
	var spec toolcatalog.Spec
	if spec.Source != toolcatalog.Native || spec.Effect != toolcatalog.EffectUnknown {
		t.Error("the zero values are not the defaults")
	}
}

func FuzzCallableNames(f *testing.F) {
	f.Add("llm-task", "llm_task", "class")
	f.Add("\U0001f600", "ⅷ", "a\u200db")
	f.Add("__openclaw", "tool___openclaw", "__cellmode-")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var tools []*toolcatalog.Tool
		for _, name := range []string{a, b, c} {
			tools = append(tools, named(name))
		}
		catalog, err := toolcatalog.New(tools, nil)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, e := range catalog.All() {
			if !regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`).MatchString(e.CallableName) || seen[e.CallableName] {
				t.Fatalf("%q %q %q: %v", a, b, c, catalog.All())
			}
			seen[e.CallableName] = true
			if _, err := catalog.Call(t.Context(), e.CallableName, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}
