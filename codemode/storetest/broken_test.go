package storetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cellmode/cellmode/codemode"
	"github.com/cellmode/cellmode/store"
)

// broken is a store in memory with a fault. Without one it is right.
type broken struct {
	mu       sync.Mutex
	sessions map[string]sessionValues

	// id and key give what is used in the place of an id and a key.
	id, key func(string) string
	// text gives what is kept in the place of a text.
	text func(json.RawMessage) json.RawMessage
	// before sees a change first. If it does not want to go on, its error is the result.
	before func(ctx context.Context, session sessionValues, change *store.SessionChange) (goOn bool, err error)
	// apply does the work of SessionChange.Apply.
	apply func(session sessionValues, change store.SessionChange) error
	// commit does all the work.
	commit func(b *broken, id string, change store.SessionChange) error
	// load gives what LoadSession gives, in the place of a copy of the session. mu is held.
	load func(b *broken, id string) (sessionValues, error)
	// patient makes LoadSession not look at its context.
	patient bool
}

type sessionValues = map[string]store.SessionValue

func (b *broken) LoadSession(ctx context.Context, id string) (map[string]store.SessionValue, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil && !b.patient {
		return nil, ctx.Err()
	}
	if b.id != nil {
		id = b.id(id)
	}
	if b.load != nil {
		return b.load(b, id)
	}
	return detached(b.sessions[id]), nil
}

func (b *broken) CommitSession(ctx context.Context, id string, change store.SessionChange) error {
	if b.id != nil {
		id = b.id(id)
	}
	mine := store.SessionChange{Set: maps.Clone(change.Set), Delete: slices.Clone(change.Delete)}
	if b.key != nil {
		mine = store.SessionChange{Set: sessionValues{}}
		for key, value := range change.Set {
			mine.Set[b.key(key)] = value
		}
		for _, key := range change.Delete {
			mine.Delete = append(mine.Delete, b.key(key))
		}
	}
	if b.text != nil {
		for key, value := range mine.Set {
			value.JSON = b.text(value.JSON)
			mine.Set[key] = value
		}
	}
	if b.commit != nil {
		return b.commit(b, id, mine)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.before != nil {
		if goOn, err := b.before(ctx, b.session(id), &mine); !goOn {
			return err
		}
	} else if ctx.Err() != nil {
		return ctx.Err()
	}
	if b.apply != nil {
		return b.apply(b.session(id), mine)
	}
	return mine.Apply(b.session(id))
}

func (b *broken) session(id string) sessionValues {
	if b.sessions == nil {
		b.sessions = map[string]sessionValues{}
	}
	if b.sessions[id] == nil {
		b.sessions[id] = sessionValues{}
	}
	return b.sessions[id]
}

func detached(session sessionValues) sessionValues {
	own := sessionValues{}
	for key, value := range session {
		own[key] = store.SessionValue{JSON: bytes.Clone(value.JSON), Network: value.Network}
	}
	return own
}

// force makes a change without a look at it.
func force(session sessionValues, change store.SessionChange) {
	for _, key := range change.Delete {
		delete(session, key)
	}
	maps.Copy(session, detached(change.Set))
}

// despite is an apply that makes a change that is refused with the error, if it is not one of the others.
func despite(err error, others ...error) func(sessionValues, store.SessionChange) error {
	return func(session sessionValues, change store.SessionChange) error {
		got := change.Apply(session)
		if errors.Is(got, err) && !slices.ContainsFunc(others, func(o error) bool { return errors.Is(got, o) }) {
			force(session, change)
			return nil
		}
		return got
	}
}

// refuses is an apply that refuses, as a full session, what a function does not like in its outcome.
func refuses(bad func(sessionValues) bool) func(sessionValues, store.SessionChange) error {
	return func(session sessionValues, change store.SessionChange) error {
		after := detached(session)
		if force(after, change); bad(after) {
			return store.ErrSessionFull
		}
		return change.Apply(session)
	}
}

// half is an apply that makes a part of the change before it looks at it.
func half(part func(store.SessionChange) store.SessionChange) func(sessionValues, store.SessionChange) error {
	return func(session sessionValues, change store.SessionChange) error {
		force(session, part(change))
		return change.Apply(session)
	}
}

func size(session sessionValues, keysToo bool) (n int) {
	for key, value := range session {
		if n += len(value.JSON); keysToo {
			n += len(key)
		}
	}
	return n
}

var faults = []struct {
	name  string
	fault broken
	fails []string // the rules that see it, by the start of their names
}{
	{"an unknown session is an error", broken{load: func(b *broken, id string) (sessionValues, error) {
		if b.sessions[id] == nil {
			return nil, errors.New("no such session")
		}
		return detached(b.sessions[id]), nil
	}}, []string{"an unknown session is empty"}},
	{"an unknown session has something", broken{load: func(b *broken, id string) (sessionValues, error) {
		own := detached(b.sessions[id])
		own["version"] = store.SessionValue{JSON: json.RawMessage("1")}
		return own, nil
	}}, []string{"an unknown session is empty", "values are set"}},
	{"deleting what is not there is an error", broken{apply: func(session sessionValues, change store.SessionChange) error {
		for _, key := range change.Delete {
			if _, ok := session[key]; !ok {
				return errors.New("no such key")
			}
		}
		return change.Apply(session)
	}}, []string{"an unknown session is empty", "values are set"}},
	{"nothing is deleted", broken{apply: func(session sessionValues, change store.SessionChange) error {
		change.Delete = nil
		return change.Apply(session)
	}}, []string{"values are set", "keys are kept", "what a change deletes", "the order", "sessions are apart"}},
	{"nothing is replaced", broken{apply: func(session sessionValues, change store.SessionChange) error {
		change.Set = maps.Clone(change.Set)
		maps.DeleteFunc(change.Set, func(key string, _ store.SessionValue) bool { _, ok := session[key]; return ok })
		return change.Apply(session)
	}}, []string{"values are set", "keys are kept", "the order", "a session has a limit"}},
	{"null deletes", broken{apply: func(session sessionValues, change store.SessionChange) error {
		err := change.Apply(session)
		maps.DeleteFunc(session, func(_ string, value store.SessionValue) bool { return string(value.JSON) == "null" })
		return err
	}}, []string{"values are set", "values are kept"}},
	{"a deletion comes again with the next change", broken{commit: func() func(b *broken, id string, change store.SessionChange) error {
		last := map[string][]string{}
		return func(b *broken, id string, change store.SessionChange) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			if err := change.Apply(b.session(id)); err != nil {
				return err
			}
			for _, key := range last[id] {
				delete(b.session(id), key)
			}
			if last[id] = change.Delete; len(change.Delete) > 0 {
				delete(b.session(id), "d")
			}
			return nil
		}
	}()}, []string{"the order"}},
	{"marks are lost", broken{apply: func(session sessionValues, change store.SessionChange) error {
		err := change.Apply(session)
		for key, value := range session {
			session[key] = store.SessionValue{JSON: value.JSON}
		}
		return err
	}}, []string{"the network mark"}},
	{"marks stay with the key", broken{apply: func(session sessionValues, change store.SessionChange) error {
		for key, value := range change.Set {
			value.Network = value.Network || session[key].Network
			change.Set[key] = value
		}
		return change.Apply(session)
	}}, []string{"the network mark"}},
	{"the mark is that of the whole change", broken{apply: func(session sessionValues, change store.SessionChange) error {
		any := slices.ContainsFunc(slices.Collect(maps.Values(change.Set)), func(v store.SessionValue) bool { return v.Network })
		for key, value := range change.Set {
			change.Set[key] = store.SessionValue{JSON: value.JSON, Network: any}
		}
		return change.Apply(session)
	}}, []string{"the network mark"}},
	{"values are decoded and encoded", broken{text: func(text json.RawMessage) json.RawMessage {
		var v any
		if json.Unmarshal(text, &v) != nil {
			return text
		}
		text, _ = json.Marshal(v)
		return text
	}}, []string{"values are kept"}},
	{"values are escaped for HTML", broken{text: func(text json.RawMessage) json.RawMessage {
		var b bytes.Buffer
		json.HTMLEscape(&b, text)
		return b.Bytes()
	}}, []string{"values are kept"}},
	{"values end at 64 KiB", broken{text: func(text json.RawMessage) json.RawMessage {
		if len(text) > 64<<10 {
			return json.RawMessage(`"…"`)
		}
		return text
	}}, []string{"values are kept", "a value has a limit"}},
	{"values are made compact", broken{text: func(text json.RawMessage) json.RawMessage {
		var b bytes.Buffer
		if json.Compact(&b, text) != nil {
			return text
		}
		return b.Bytes()
	}}, []string{"bad values"}},
	{"keys have no case", broken{key: strings.ToLower}, []string{"keys are kept"}},
	{"keys are trimmed", broken{key: trimmed}, []string{"keys are kept"}},
	{"keys end at NUL", broken{key: untilNUL}, []string{"keys are kept"}},
	{"keys are cut", broken{key: func(key string) string {
		return strings.ToValidUTF8(key[:min(len(key), 255)], "")
	}}, []string{"keys are kept", "bad keys"}},
	{"keys are made valid", broken{key: func(key string) string { return strings.ToValidUTF8(key, "\ufffd") }}, []string{"bad keys"}},
	{"keys are not checked", broken{apply: despite(store.ErrSessionKey)}, []string{"bad keys"}},
	{"values are not checked", broken{apply: despite(store.ErrSessionValue)}, []string{"bad values"}},
	{"a value has no limit", broken{apply: despite(store.ErrSessionRange, store.ErrSessionFull)}, []string{"a value has a limit"}},
	{"a value must be below its limit", broken{apply: refuses(func(session sessionValues) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(session)), func(v store.SessionValue) bool {
			return len(v.JSON) >= store.MaxSessionValueBytes
		})
	})}, []string{"a value has a limit", "a session has a limit"}},
	{"a large value is called a full session", broken{apply: func(session sessionValues, change store.SessionChange) error {
		if err := change.Apply(session); errors.Is(err, store.ErrSessionRange) {
			return store.ErrSessionFull
		} else {
			return err
		}
	}}, []string{"a value has a limit"}},
	{"a session has no limit", broken{apply: despite(store.ErrSessionFull)}, []string{"a session has a limit", "the number of keys", "a change that does not fit", "parallel commits keep"}},
	{"a session must be below its limit", broken{apply: refuses(func(session sessionValues) bool {
		return size(session, false) >= store.MaxSessionBytes
	})}, []string{"a session has a limit"}},
	{"keys count", broken{apply: refuses(func(session sessionValues) bool {
		return size(session, true) > store.MaxSessionBytes
	})}, []string{"a session has a limit"}},
	{"what is replaced counts", broken{apply: func(session sessionValues, change store.SessionChange) error {
		if size(session, false)+size(change.Set, false) > store.MaxSessionBytes {
			return store.ErrSessionFull
		}
		return change.Apply(session)
	}}, []string{"a session has a limit", "what a change deletes"}},
	{"a full session is any error", broken{apply: func(session sessionValues, change store.SessionChange) error {
		if err := change.Apply(session); err != nil {
			return errors.New(err.Error())
		}
		return nil
	}}, []string{"a session has a limit", "a value has a limit", "bad keys", "bad values", "the number of keys", "a change that does not fit"}},
	{"there are fewer keys", broken{apply: refuses(func(session sessionValues) bool {
		return len(session) >= store.MaxSessionKeys
	})}, []string{"the number of keys"}},
	{"there are more keys", broken{apply: func(session sessionValues, change store.SessionChange) error {
		if err := change.Apply(session); err == nil || size(session, false) > store.MaxSessionBytes/2 {
			return err
		}
		force(session, change)
		return nil
	}}, []string{"the number of keys"}},
	{"deletions are made whatever comes", broken{apply: half(func(change store.SessionChange) store.SessionChange {
		return store.SessionChange{Delete: change.Delete}
	})}, []string{"a change that does not fit", "bad keys", "bad values"}},
	{"small values are set whatever comes", broken{apply: half(func(change store.SessionChange) store.SessionChange {
		set := maps.Clone(change.Set)
		maps.DeleteFunc(set, func(_ string, v store.SessionValue) bool { return len(v.JSON) > 10 })
		return store.SessionChange{Set: set}
	})}, []string{"a change that does not fit", "a value has a limit", "bad keys", "bad values"}},
	{"deletions come last", broken{apply: func(session sessionValues, change store.SessionChange) error {
		if err := (store.SessionChange{Set: change.Set}).Apply(session); err != nil {
			return err
		}
		return store.SessionChange{Delete: change.Delete}.Apply(session)
	}}, []string{"what a change deletes", "the number of keys"}},
	{"a key deleted twice makes room twice", broken{apply: func(session sessionValues, change store.SessionChange) error {
		room, after := 0, detached(session)
		for _, key := range change.Delete {
			room += len(session[key].JSON)
		}
		force(after, change)
		if size(session, false)-room+size(change.Set, false) > store.MaxSessionBytes {
			return change.Apply(session)
		}
		force(session, change)
		return nil
	}}, []string{"what a change deletes"}},
	{"ids have no case", broken{id: strings.ToLower}, []string{"sessions are apart"}},
	{"ids are trimmed", broken{id: trimmed}, []string{"sessions are apart"}},
	{"ids end at NUL", broken{id: untilNUL}, []string{"sessions are apart"}},
	{"there is one session", broken{id: func(string) string { return "" }}, []string{"sessions are apart", "parallel commits are all kept"}},
	{"sessions share their limit", broken{commit: func(b *broken, id string, change store.SessionChange) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		total := size(change.Set, false)
		for _, session := range b.sessions {
			total += size(session, false)
		}
		if total > store.MaxSessionBytes {
			return store.ErrSessionFull
		}
		return change.Apply(b.session(id))
	}}, []string{"sessions are apart"}},
	{"texts are those of the change", broken{apply: func(session sessionValues, change store.SessionChange) error {
		err := change.Apply(session)
		maps.Copy(session, change.Set)
		return err
	}}, []string{"what is committed is detached"}},
	{"texts are those of the store", broken{load: func(b *broken, id string) (sessionValues, error) {
		return maps.Clone(b.session(id)), nil
	}}, []string{"what is loaded is detached"}},
	{"the map is that of the store", broken{load: func(b *broken, id string) (sessionValues, error) {
		return b.session(id), nil
	}}, []string{"what is loaded is detached"}},
	{"commits write back what they have read", broken{commit: func(b *broken, id string, change store.SessionChange) error {
		b.mu.Lock()
		read := detached(b.session(id))
		b.mu.Unlock()
		time.Sleep(time.Millisecond) // another commit comes between
		if err := change.Apply(read); err != nil {
			return err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.sessions[id] = read
		return nil
	}}, []string{"parallel commits are all kept"}},
	{"commits check what was there before", broken{commit: func(b *broken, id string, change store.SessionChange) error {
		b.mu.Lock()
		read := detached(b.session(id))
		b.mu.Unlock()
		time.Sleep(20 * time.Millisecond) // all commits of the rule come between
		if err := change.Apply(read); err != nil {
			return err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		force(b.session(id), change)
		return nil
	}}, []string{"parallel commits keep the limit"}},
	{"commits delete first", broken{commit: func(b *broken, id string, change store.SessionChange) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := change.Apply(detached(b.session(id))); err != nil {
			return err
		}
		clear(b.session(id))
		b.mu.Unlock()
		time.Sleep(time.Millisecond)
		b.mu.Lock()
		force(b.session(id), change)
		return nil
	}}, []string{"a load never sees"}},
	{"commits are made in two steps", broken{commit: func(b *broken, id string, change store.SessionChange) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := change.Apply(detached(b.session(id))); err != nil {
			return err
		}
		force(b.session(id), store.SessionChange{Delete: change.Delete})
		b.mu.Unlock()
		time.Sleep(time.Millisecond)
		b.mu.Lock()
		for key := range change.Set { // half of it, in no order
			if len(change.Set) > 10 {
				force(b.session(id), store.SessionChange{Set: sessionValues{key: change.Set[key]}})
				delete(change.Set, key)
			}
		}
		b.mu.Unlock()
		time.Sleep(time.Millisecond)
		b.mu.Lock()
		force(b.session(id), change)
		return nil
	}}, []string{"a load never sees"}},
	{"loads ignore contexts", broken{patient: true}, []string{"a done context"}},
	{"commits ignore contexts", broken{before: func(context.Context, sessionValues, *store.SessionChange) (bool, error) {
		return true, nil
	}}, []string{"a done context"}},
	{"contexts are looked at when all is done", broken{before: func(ctx context.Context, session sessionValues, change *store.SessionChange) (bool, error) {
		return false, errors.Join(change.Apply(session), ctx.Err())
	}}, []string{"a done context"}},
	{"a commit works once", broken{before: func() func(ctx context.Context, _ sessionValues, _ *store.SessionChange) (bool, error) {
		stuck := false
		return func(ctx context.Context, _ sessionValues, _ *store.SessionChange) (bool, error) {
			if stuck = stuck || ctx.Err() != nil; stuck {
				return false, context.Canceled
			}
			return true, nil
		}
	}()}, []string{"a done context"}},
}

func untilNUL(s string) string {
	before, _, _ := strings.Cut(s, "\x00")
	return cmp.Or(before, s)
}

func trimmed(s string) string { return cmp.Or(strings.TrimSpace(s), s) }

// TestBrokenStores breaks each rule, so that none of them is a rule that cannot fail.
func TestBrokenStores(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i := range faults {
		f := &faults[i]
		for _, start := range f.fails {
			at := slices.IndexFunc(sessionRules, func(r rule[codemode.SessionStore]) bool { return strings.HasPrefix(r.name, start) })
			if at < 0 {
				t.Fatalf("no rule is called %q", start)
			}
			r := sessionRules[at]
			seen[r.name] = true
			t.Run(f.name+"/"+start, func(t *testing.T) {
				t.Parallel()
				b := &broken{
					id: f.fault.id, key: f.fault.key, text: f.fault.text, before: f.fault.before, apply: f.fault.apply,
					commit: f.fault.commit, load: f.fault.load, patient: f.fault.patient,
				}
				if err := r.check(t.Context(), b); err == nil {
					t.Errorf("the rule that %s does not see it", r.name)
				} else {
					t.Log(err)
				}
			})
		}
	}
	for _, r := range sessionRules {
		if !seen[r.name] {
			t.Errorf("no store breaks the rule that %s", r.name)
		}
	}
}

// TestSoundStore holds the broken stores to be right but for their faults.
func TestSoundStore(t *testing.T) {
	t.Parallel()
	TestSessionStore(t, func(*testing.T) codemode.SessionStore { return new(broken) })
}

// childEnv makes TestChild run the suite on a broken store.
const childEnv = "CELLMODE_STORETEST_CHILD"

// TestFailureIsReported runs the suite as a user does, in a process of its own, to see it fail there.
func TestFailureIsReported(t *testing.T) {
	t.Parallel()
	child := exec.Command(os.Args[0], "-test.run=^TestChild$")
	child.Env = append(os.Environ(), childEnv+"=1")
	out, err := child.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		t.Fatalf("the tests of a broken store end with %v:\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("--- FAIL: TestChild/keys_are_kept_unit_for_unit")) || bytes.Contains(out, []byte("--- FAIL: TestChild/values_")) {
		t.Errorf("not the broken rule, or not only that, is reported:\n%s", out)
	}
}

func TestChild(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		t.Skip("is run by TestFailureIsReported")
	}
	TestSessionStore(t, func(*testing.T) codemode.SessionStore { return &broken{key: strings.ToLower} })
}
