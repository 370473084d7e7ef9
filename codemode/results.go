package codemode

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cellmode/cellmode/internal/jsontext"
)

// MaxResults is how many values a [Results] holds at most.
const MaxResults = 64

var (
	// ErrResultsFull reports that a value was not saved, because there was no room for it. What was saved before is
	// untouched.
	ErrResultsFull = errors.New("no room in the results store")
	// ErrUnknownResult reports an id under which nothing is saved: it was never given, or was deleted, or belongs to
	// another turn.
	ErrUnknownResult = errors.New("unknown result")

	// errResultTooLarge reports a value that has no room even in an empty store.
	errResultTooLarge = fmt.Errorf("%w: the value is larger than the whole store", ErrResultsFull)
)

// Results holds the values that the cells of an executor saved for later cells, as JSON. They live as long as the
// executor, and nothing is ever evicted: a store without room refuses to save. There is room for [MaxResults] values whose
// compact JSON takes, all together, no more than the smaller of [Options].MemoryLimitBytes and MaxSnapshotBytes.
//
// [Executor.Results] gives it. It is safe for concurrent use by multiple goroutines. Once the executor is closed, its
// methods fail with [ErrClosed]. The texts of errors are written for the model: they say what to do.
type Results struct {
	limit int64 // bytes; fixed at creation

	mu     sync.Mutex
	closed bool
	bytes  int64         // of all saved texts
	saved  []savedResult // in the order of saving
}

type savedResult struct {
	reference Reference
	text      []byte // compact JSON; never changed
}

func newResults(limitBytes int64) *Results {
	return &Results{limit: limitBytes}
}

// Save keeps a value, any JSON, and gives the reference to load it by. The text is checked and copied; white space between
// its tokens is dropped. The host vouches for the value: use [Results.SaveNetwork] for what came from the network.
//
// # Errors
//
//   - The value is not JSON.
//   - [ErrResultsFull]: there are [MaxResults] values, or too many bytes. Nothing has changed.
//   - [ErrClosed].
func (r *Results) Save(value json.RawMessage) (Reference, error) {
	return r.saveAny(value, false)
}

// SaveNetwork is Save for a value that came from outside of the host, or was made of such values: it marks the cells that
// load it, see [Result].NetworkContent.
func (r *Results) SaveNetwork(value json.RawMessage) (Reference, error) {
	return r.saveAny(value, true)
}

func (r *Results) saveAny(value json.RawMessage, network bool) (Reference, error) {
	text, err := jsontext.Append(nil, value)
	if err != nil {
		return Reference{}, fmt.Errorf("the value to save is %w", err)
	}
	return r.save(text, network)
}

// save keeps a text that is compact and valid JSON, as the engine writes it. The text is the store's from now on: the caller
// must not change it.
func (r *Results) save(text []byte, network bool) (Reference, error) {
	if err := r.room(len(text)); err != nil { // the cheap answer
		return Reference{}, err
	}
	if cap(text)-len(text) > len(text)/4 {
		text = bytes.Clone(text) // what is counted is what is held
	}
	reference := newReference(newResultID(), text)
	reference.Network = network

	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.roomLocked(len(text)); err != nil {
		return Reference{}, err
	}
	r.bytes += int64(len(text))
	r.saved = append(r.saved, savedResult{reference, text})
	return reference, nil
}

func (r *Results) room(size int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.roomLocked(size)
}

// roomLocked says why a text of this size cannot be saved. It must be called with r.mu held.
func (r *Results) roomLocked(size int) error {
	switch {
	case r.closed:
		return ErrClosed
	case int64(size) > r.limit:
		return fmt.Errorf("%w: it takes %d bytes of JSON, and all results together may take %d; save a smaller value, existing results are unchanged",
			errResultTooLarge, size, r.limit)
	case len(r.saved) == MaxResults:
		return fmt.Errorf("%w: it holds %d results, the most there can be; delete references that are no longer needed with results.delete(id), existing results are unchanged",
			ErrResultsFull, MaxResults)
	case int64(size) > r.limit-r.bytes:
		return fmt.Errorf("%w: the value takes %d bytes of JSON, and %d of %d are free; delete references with results.delete(id) or save a smaller value, existing results are unchanged",
			ErrResultsFull, size, r.limit-r.bytes, r.limit)
	}
	return nil
}

// Load gives the JSON of a saved value, in a copy that belongs to the caller; [Results.Reference] tells whether it came from
// the network. The errors are [ErrUnknownResult] and [ErrClosed].
func (r *Results) Load(id string) (json.RawMessage, error) {
	saved, err := r.load(id)
	return bytes.Clone(saved.text), err
}

// Reference gives the reference of a saved value, as Save gave it. The errors are [ErrUnknownResult] and [ErrClosed].
func (r *Results) Reference(id string) (Reference, error) {
	saved, err := r.load(id)
	return saved.reference, err
}

// load gives a saved value. Its text is the store's: the caller must not change it.
func (r *Results) load(id string) (savedResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, err := r.find(id)
	if err != nil {
		return savedResult{}, err
	}
	return r.saved[i], nil
}

// Delete drops a saved value, so that there is room for another. The errors are [ErrUnknownResult] and [ErrClosed].
func (r *Results) Delete(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, err := r.find(id)
	if err != nil {
		return err
	}
	r.bytes -= int64(len(r.saved[i].text))
	r.saved = slices.Delete(r.saved, i, i+1)
	return nil
}

// find gives the index of a saved value. It must be called with r.mu held.
func (r *Results) find(id string) (int, error) {
	if r.closed {
		return 0, ErrClosed
	}
	i := slices.IndexFunc(r.saved, func(s savedResult) bool { return s.reference.ID == id })
	switch {
	case id == "":
		return 0, fmt.Errorf("%w: the id is empty, pass the id of a saved reference", ErrUnknownResult)
	case i < 0:
		return 0, fmt.Errorf("%w: %.64q is unavailable or expired (ids hold until they are deleted or the turn ends); fetch the data again", ErrUnknownResult, id)
	}
	return i, nil
}

// List gives the references of all saved values, the oldest first. It is empty once the executor is closed.
func (r *Results) List() []Reference {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Reference, len(r.saved))
	for i, s := range r.saved {
		list[i] = s.reference
	}
	return list
}

// close drops all values and refuses what comes.
func (r *Results) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.bytes, r.saved = true, 0, nil
}

// newResultID gives "result_" and a random UUID (RFC 9562, version 4).
func newResultID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("result_%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
