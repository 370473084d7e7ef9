package transcript

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a search.
const (
	// MaxQueryRunes is how many characters a query may have, without white space around it.
	MaxQueryRunes = 4096
	// DefaultHits is how many hits a search gives, if SearchOptions does not say, and MaxHits how many it gives at most.
	DefaultHits = 10
	MaxHits     = 25
	// MaxPhraseWords is how many words of a phrase count. Without this a text that repeats one word would take SQLite very
	// long.
	MaxPhraseWords = 32
	// MaxSearchedBytes is how much of the text of a message search looks in.
	MaxSearchedBytes = 256 << 10
)

// SearchOptions narrow a search. Nil and the zero value mean all messages of the user and the assistant in all sessions.
type SearchOptions struct {
	// Limit is how many hits are wanted: zero means DefaultHits, and what is not between 1 and MaxHits the nearest of them.
	Limit int
	// Keys, if there are any, are the keys of the sessions to look in. One that no session has finds nothing.
	Keys []string
	// SessionID, if it is not empty, is the id of the session to look in.
	SessionID string
	// Role, if it is not empty, is that of the messages to look in. Other roles than RoleUser and RoleAssistant find nothing.
	Role string
}

// SearchResult is what a search has found.
type SearchResult struct {
	// Hits are the best first; of equally good ones the newest.
	Hits []Hit
	// Truncated tells that there are more.
	Truncated bool
	// Indexing tells that some of the messages are not in the index yet, so that there may be others, and better ones:
	// search again a little later, or after [Store.Index].
	Indexing bool
}

// Hit is an entry that a search has found.
type Hit struct {
	Anchor
	Role string
	Time time.Time
	// Score tells how well the entry fits the query: more is better. It compares with those of the same result only.
	Score float64
	// Snippet is the part of the text in which the query is, in one line: up to 48 words and 500 characters, with " … " where
	// text is left out.
	Snippet string
}

// Search finds the messages of the user and the assistant that have all words of a query, in the branches on which sessions
// are now. A word is letters and digits; case and accents do not matter, and nothing in a query is an operator. What has no
// white space in it, such as "foo-bar" or a Chinese sentence, has to be there as a phrase, of which MaxPhraseWords count. A
// query without any word finds nothing.
//
// The order is that of bm25, in which rare words and short messages count more. Of more than some hundred messages that
// have the words only the newest are put in order, as many as the hits need, so that common words do not take long.
//
// What was appended comes into the index soon after, or with the next search: see [SearchResult].Indexing. An index that is
// damaged is made anew.
//
// A query that is blank or too long is ErrInvalidQuery.
func (s *Store) Search(ctx context.Context, query string, opts *SearchOptions) (SearchResult, error) {
	var o SearchOptions
	if opts != nil {
		o = *opts
	}
	result, err := s.search(ctx, query, o)
	if err != nil {
		return SearchResult{}, fmt.Errorf("transcript: searching: %w", err)
	}
	return result, nil
}

// catchUpWait is how long a search waits for its turn to bring the index in step, before it does without.
const catchUpWait = 100 * time.Millisecond

func (s *Store) search(ctx context.Context, query string, o SearchOptions) (SearchResult, error) {
	phrases, err := parseQuery(query)
	if err != nil {
		return SearchResult{}, err
	}
	o.Limit = max(1, min(cmp.Or(o.Limit, DefaultHits), MaxHits))
	look := func() (result SearchResult, err error) {
		if err := s.catchUpBefore(ctx, o); err != nil {
			return result, err
		}
		err = s.read(ctx, func(t *transaction) error {
			result, err = (&search{t: t, options: o, phrases: phrases}).run()
			return err
		})
		return result, err
	}
	result, err := look()
	if errors.Is(err, errIndexDamaged) {
		if s.readOnly {
			result.Indexing = true
			return result, nil
		}
		if err := s.clearIndex(ctx); err != nil {
			return SearchResult{}, err
		}
		result, err = look()
	}
	if result.Indexing && !s.readOnly {
		s.wakeIndexer()
	}
	return result, err
}

// catchUpBefore brings the index in step before a search, as far as that takes little time. Only the end of the
// context is an error: what else goes wrong leaves entries unindexed, and that is told.
func (s *Store) catchUpBefore(ctx context.Context, o SearchOptions) error {
	if s.readOnly {
		return nil
	}
	_, err := s.catchUp(ctx, o, 1, catchUpWait)
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
		s.logger.Warn("transcript: indexing before a search", "error", err)
	}
	return ctx.Err()
}

// parseQuery gives the phrases that an entry must have.
func parseQuery(query string) ([][]string, error) {
	query = strings.TrimSpace(query)
	if n := utf8.RuneCountInString(query); n == 0 || n > MaxQueryRunes {
		return nil, fmt.Errorf("%w: it may have 1 to %d characters, this one has %d", ErrInvalidQuery, MaxQueryRunes, n)
	}
	var phrases [][]string
	for part := range strings.FieldsSeq(query) {
		phrase := foldedWords(part)
		phrase = phrase[:min(len(phrase), MaxPhraseWords)]
		if len(phrase) > 0 && !slices.ContainsFunc(phrases, func(p []string) bool { return slices.Equal(p, phrase) }) {
			phrases = append(phrases, phrase)
		}
	}
	return phrases, nil
}

// scope are the rows of the sessions to look in; nil is all.
type scope map[int64]bool

func (s scope) has(row int64) bool { return s == nil || s[row] }

func (s scope) none() bool { return s != nil && len(s) == 0 }

// scope finds the sessions that options name.
func (t *transaction) scope(o SearchOptions) (scope, error) {
	if len(o.Keys) == 0 && o.SessionID == "" {
		return nil, nil
	}
	rows := scope{}
	add := func(query, value string) error {
		var row int64
		var id string
		err := t.queryRow(query, []any{value}, &row, &id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if o.SessionID == "" || o.SessionID == id {
			rows[row] = true
		}
		return err
	}
	if len(o.Keys) == 0 {
		return rows, add(selectSessionByID, o.SessionID)
	}
	for _, key := range o.Keys {
		if err := add(findSession, key); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

const selectSessionByID = `SELECT session, id FROM sessions WHERE id = ?`

// searchQueries are prepared when a Store is opened.
var searchQueries = []string{
	selectRanked, selectDoc, selectIndexWhole, selectSearched, selectSessionByID,
	selectBacklog, selectBehind, selectUnindexed, advanceBacklog, deleteBacklog, fillBacklog,
	insertDoc, deleteDocs, clearDocs, insertIndexed, deleteIndexed, clearIndexed, flushIndexed, countIndexed,
}
