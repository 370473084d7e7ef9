package transcripttest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/cellmode/cellmode/transcript"
)

// decoded is a JSON text as it is after it was decoded and encoded.
func decoded(text json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return text
	}
	return bytes.TrimSpace(b.Bytes())
}

// givingData changes the data of custom entries.
func givingData(change func(json.RawMessage) json.RawMessage) func(log) *over {
	return givingPayloads(func(p transcript.Custom) transcript.Payload {
		if p.Data != nil {
			p.Data = change(p.Data)
		}
		return p
	})
}

// givingNames changes the names of sessions.
func givingNames(change func(string) string) func(log) *over {
	return givingPayloads(func(p transcript.SessionInfo) transcript.Payload { return transcript.SessionInfo{Name: change(p.Name)} })
}

var payloadFaults = []fault{
	{"details are lost", givingPayloads(func(p transcript.Compaction) transcript.Payload { p.Details = nil; return p }), []string{"payloads", "JSON is kept byte", "what is appended"}},
	{"hooks are forgotten", givingPayloads(func(p transcript.BranchSummary) transcript.Payload { p.FromHook = false; return p }), []string{"payloads"}},
	{"display is lost", givingPayloads(func(p transcript.Message) transcript.Payload { p.Display = nil; return p }), []string{"payloads", "odd members"}},
	{"custom messages are displayed", givingPayloads(func(p transcript.CustomMessage) transcript.Payload { p.Display = true; return p }), []string{"payloads"}},
	{"tokens are not negative", givingPayloads(func(p transcript.Compaction) transcript.Payload { p.TokensBefore = max(0, p.TokensBefore); return p }), []string{"payloads"}},
	{"no content is null", givingPayloads(func(p transcript.CustomMessage) transcript.Payload {
		if string(p.Content) == `""` {
			p.Content = raw("null")
		}
		return p
	}), []string{"payloads"}},
	{"all messages are alike", givingPayloads(func(p transcript.Message) transcript.Payload {
		return transcript.Message{Role: p.Role, Content: p.Content}
	}), []string{"payloads", "odd members", "keys are compared"}},
	{"custom messages are messages", givingPayloads(func(p transcript.CustomMessage) transcript.Payload {
		return transcript.Message{Role: "user", Content: p.Content}
	}), []string{"payloads"}},
	{"values are decoded and encoded", givingData(decoded), []string{"JSON is kept byte"}},
	{"details are decoded and encoded", givingPayloads(func(p transcript.BranchSummary) transcript.Payload {
		if p.Details != nil {
			p.Details = decoded(p.Details)
		}
		return p
	}), []string{"JSON is kept byte"}},
	{"metadata are decoded and encoded", givingPayloads(func(p transcript.Message) transcript.Payload {
		p = p.Clone()
		for name, value := range p.Meta {
			p.Meta[name] = decoded(value)
		}
		return p
	}), []string{"JSON is kept byte"}},
	{"values are escaped for HTML", givingData(func(text json.RawMessage) json.RawMessage {
		var b bytes.Buffer
		json.HTMLEscape(&b, text)
		return b.Bytes()
	}), []string{"JSON is kept byte"}},
	{"values end at 64 KiB", givingData(func(text json.RawMessage) json.RawMessage {
		if len(text) > 64<<10 {
			return raw(`"…"`)
		}
		return text
	}), []string{"large entries"}},
	{"deep values are null", givingData(func(text json.RawMessage) json.RawMessage {
		if bytes.HasPrefix(text, []byte("[[[[[[[[")) {
			return raw("null")
		}
		return text
	}), []string{"JSON is kept byte"}},
	{"values are indented", givingData(func(text json.RawMessage) json.RawMessage {
		var b bytes.Buffer
		if json.Indent(&b, text, "", " ") != nil {
			return text
		}
		return b.Bytes()
	}), []string{"JSON is kept compact"}},
	{"values have halves of pairs", givingData(func(text json.RawMessage) json.RawMessage {
		return bytes.ReplaceAll(text, []byte("\ufffd"), []byte(`\ud800`))
	}),
		[]string{"JSON is kept compact"}},
	{"texts are trimmed", givingNames(strings.TrimSpace), []string{"texts are kept"}},
	{"texts end at NUL", givingNames(func(s string) string { before, _, _ := strings.Cut(s, "\x00"); return before }), []string{"texts are kept"}},
	{"texts are cut", givingNames(func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 1000)], "") }), []string{"texts are kept"}},
	{"texts are composed", givingNames(func(s string) string { return strings.ReplaceAll(s, "e\u0301", "é") }), []string{"texts are kept"}},
	{"levels have no case", givingPayloads(func(p transcript.ThinkingLevelChange) transcript.Payload {
		return transcript.ThinkingLevelChange{Level: strings.ToLower(p.Level)}
	}), []string{"texts are kept"}},
	{"null is no member", givingPayloads(func(p transcript.Message) transcript.Payload {
		p = p.Clone()
		for name, value := range p.Fields {
			if string(value) == "null" {
				delete(p.Fields, name)
			}
		}
		return p
	}), []string{"odd members", "JSON is kept byte"}},
	{"members have no case", givingPayloads(func(p transcript.Message) transcript.Payload {
		p = p.Clone()
		if role, ok := p.Fields["Role"]; ok && json.Unmarshal(role, &p.Role) == nil {
			delete(p.Fields, "Role")
		}
		return p
	}), []string{"odd members"}},
	{"odd members replace fields", rewriting(func(p transcript.Message) transcript.Payload {
		if name, ok := p.Fields["toolName"]; ok {
			json.Unmarshal(name, &p.ToolName)
		}
		return p
	}), []string{"odd members"}},
	{"other members of a compaction are lost", givingPayloads(func(p transcript.Compaction) transcript.Payload { p.Fields = nil; return p }),
		[]string{"odd members of other"}},
	{"a reset must be as it should", drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i, d := range drafts {
			if p, ok := d.Payload.(transcript.Reset); ok && p.Fields != nil {
				drafts[i].Payload = transcript.Unknown{Type: "reset?", Members: raw(`{}`)}
			}
		}
		return drafts
	}), []string{"odd members of other"}},
	{"unknown kinds are dropped", drafting(func(_ log, drafts []draft, _ *options) []draft {
		for i, d := range drafts {
			if _, ok := d.Payload.(transcript.Unknown); ok {
				drafts[i].Payload = transcript.Custom{Type: "unknown"}
			}
		}
		return drafts
	}), []string{"unknown kinds", "payloads", "what cannot be"}},
	{"kinds are trimmed", givingPayloads(func(p transcript.Unknown) transcript.Payload {
		p.Type = transcript.Kind(strings.TrimSpace(string(p.Type)))
		return p
	}),
		[]string{"unknown kinds", "texts are kept"}},
	{"what is not as its kind is refused", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			for _, d := range drafts {
				if u, ok := d.Payload.(transcript.Unknown); ok && u.Type == transcript.KindModel {
					return nil, transcript.ErrInvalidEntry
				}
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"unknown kinds"}},
	{"entries are those of the drafts", func(l log) *over {
		given := map[string]transcript.Payload{}
		o := giving(func(_ log, e entry) entry {
			if payload, ok := given[e.ID]; ok {
				e.Payload = payload
			}
			return e
		})(l)
		inner := o.append
		o.append = func(ctx context.Context, drafts []draft, opts options) ([]receipt, error) {
			receipts, err := inner(ctx, drafts, opts)
			for i, r := range receipts {
				if r.Appended() {
					given[r.Entry().ID] = drafts[i].Payload
				}
			}
			return receipts, err
		}
		return o
	}, []string{"what is appended"}},
	{"receipts are those of the drafts", func(l log) *over {
		issuer := transcript.NewIssuer()
		return &over{Log: l, issued: issuer.Issued, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			receipts, err := l.AppendAll(ctx, drafts, &o)
			for i, r := range receipts {
				e := r.Entry()
				if r.Appended() {
					e.Payload = drafts[i].Payload
				}
				receipts[i] = issuer.Receipt(l.Key(), l.ID(), e, r.Appended())
			}
			return receipts, err
		}}
	}, []string{"what is appended"}},
	{"drafts are altered", func(l log) *over {
		return &over{Log: l, append: func(ctx context.Context, drafts []draft, o options) ([]receipt, error) {
			for i := range drafts {
				drafts[i].Claim = true
			}
			return l.AppendAll(ctx, drafts, &o)
		}}
	}, []string{"what is appended"}},
	{"what Keyed gives is the log's", func(l log) *over {
		kept := map[string]receipt{}
		return &over{Log: l, keyed: func(ctx context.Context, keys ...string) (map[string]receipt, error) {
			found, err := l.Keyed(ctx, keys...)
			for key, r := range found {
				if _, ok := kept[key]; !ok {
					kept[key] = r
				}
			}
			return kept, err
		}}
	}, []string{"what is appended"}},
}
