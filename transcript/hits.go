package transcript

import (
	"cmp"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// search is one search within one transaction.
type search struct {
	t        *transaction
	options  SearchOptions
	phrases  [][]string
	scope    scope
	sessions map[int64]*searched
	damaged  bool // the index has what is not there
}

// searched is a session in which something was found.
type searched struct {
	key, id string
	branch  map[int64]int64 // segments, and their last entries
}

// candidate is an entry that the index has found.
type candidate struct {
	doc  int64
	rank float64 // less is better
}

// found is a candidate that counts.
type found struct {
	candidate
	entry   int64 // its row
	id      string
	time    int64
	session *searched
}

// run looks. It may give hits and errIndexDamaged, too.
func (s *search) run() (SearchResult, error) {
	var result SearchResult
	var err error
	if s.scope, err = s.t.scope(s.options); err != nil {
		return result, err
	}
	if result.Indexing, err = s.t.isBehind(s.scope); err != nil {
		return result, err
	}
	s.sessions = map[int64]*searched{}
	all, err := s.find()
	if err != nil {
		return result, err
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.time, a.time), strings.Compare(a.id, b.id), cmp.Compare(a.entry, b.entry))
	})
	if result.Truncated = len(all) > s.options.Limit; result.Truncated {
		all = all[:s.options.Limit]
	}
	for _, f := range all {
		hit, ok, err := s.hit(f)
		if err != nil {
			return result, err
		}
		if !ok {
			s.damaged = true
			continue
		}
		result.Hits = append(result.Hits, hit)
	}
	if s.damaged {
		return result, errIndexDamaged
	}
	return result, nil
}

// rankedDocs is how many candidates are put in order at a time. That takes about 2 µs for each.
const rankedDocs = 512

// find finds one more than are wanted, and those that are as good as the last of them.
func (s *search) find() ([]found, error) {
	expression := s.expression()
	if expression == "" {
		return nil, nil
	}
	var whole bool
	if err := s.t.queryRow(selectIndexWhole, nil, &whole); err != nil || !whole {
		return nil, cmp.Or(err, errIndexDamaged)
	}
	var all []found
	before := int64(math.MaxInt64)
	for len(all) <= s.options.Limit {
		ranked, err := s.ranked(expression, before)
		if err != nil {
			return nil, err
		}
		for _, c := range ranked {
			before = min(before, c.doc)
			if n := len(all); n > s.options.Limit && (c.rank != all[n-1].rank || c.doc>>docBits != all[n-1].doc>>docBits) {
				break
			}
			f, ok, err := s.locate(c)
			if err != nil {
				return nil, err
			}
			if ok {
				all = append(all, f)
			}
		}
		if len(ranked) < rankedDocs {
			break
		}
	}
	return all, nil
}

// maxNarrowed is how many sessions the index is asked for; of more it gives all entries, and locate chooses.
const maxNarrowed = 32

// expression is the query as the index understands it: words of letters and digits only, in quotes. It is empty if nothing can
// be found.
func (s *search) expression() string {
	if len(s.phrases) == 0 || s.scope.none() {
		return ""
	}
	quoted := make([]string, len(s.phrases))
	for i, phrase := range s.phrases {
		quoted[i] = `"` + strings.Join(phrase, " ") + `"`
	}
	column := s.options.Role
	switch column {
	case "":
		column = `{user assistant}`
	case RoleUser, RoleAssistant:
	default:
		return ""
	}
	expression := column + ` : (` + strings.Join(quoted, " AND ") + `)`
	if n := len(s.scope); n > 0 && n <= maxNarrowed {
		var terms []string
		for row := range s.scope {
			terms = append(terms, sessionTerm(row))
		}
		expression += ` AND session : (` + strings.Join(terms, " OR ") + `)`
	}
	return expression
}

// sessionTerm is the word by which the index knows the entries of a session.
func sessionTerm(row int64) string { return "s" + strconv.FormatInt(row, 10) }

// ranked gives the newest candidates before one, the best first.
func (s *search) ranked(expression string, before int64) ([]candidate, error) {
	rows, err := s.t.query(selectRanked, expression, before, rankedDocs)
	if err != nil {
		return nil, indexError(err)
	}
	defer rows.Close()
	var all []candidate
	for rows.Next() {
		var c candidate
		if err := s.t.scan(rows, &c.doc, &c.rank); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, indexError(rows.Err())
}

// locate finds the entry of a candidate. It is not ok if it does not count.
func (s *search) locate(c candidate) (found, bool, error) {
	f := found{candidate: c}
	var segment int64
	err := s.t.queryRow(selectDoc, []any{c.doc}, &f.entry, &segment, &f.id, &f.time)
	if errors.Is(err, sql.ErrNoRows) {
		s.damaged = true
		return f, false, nil
	}
	row := f.entry >> 32
	if err != nil || !s.scope.has(row) {
		return f, false, err
	}
	f.session = s.sessions[row]
	if f.session == nil {
		if f.session, err = s.t.searched(row); err != nil {
			return f, false, err
		}
		s.sessions[row] = f.session
	}
	return f, f.entry&math.MaxUint32 <= f.session.branch[segment], nil
}

// searched reads a session and where its branch is now.
func (t *transaction) searched(row int64) (*searched, error) {
	s := &searched{branch: map[int64]int64{}}
	var leaf int64
	if err := t.queryRow(selectSearched, []any{row}, &s.key, &s.id, &leaf); err != nil {
		return nil, err
	}
	spans, err := t.spans(&Session{row: row}, leaf)
	for _, span := range spans {
		s.branch[span.segment] = span.to
	}
	return s, err
}

// hit reads the entry. It is not ok if that is not what the index says.
func (s *search) hit(f found) (Hit, bool, error) {
	entry, ok, err := s.t.entry(&Session{}, selectEntryByNumber, f.entry)
	if err != nil || !ok {
		return Hit{}, false, err
	}
	role, text := searchable(entry.Payload)
	shown, ok := snippet(text, s.phrases)
	return Hit{Anchor{f.session.key, f.session.id, f.id}, role, entry.Time, -f.rank, shown}, ok, nil
}

// searchable is what search looks in of an entry: the role is empty if it is not one of those.
func searchable(payload Payload) (role, text string) {
	m, ok := payload.(Message)
	if !ok || m.Role != RoleUser && m.Role != RoleAssistant {
		return "", ""
	}
	text = m.Text()
	return m.Role, text[:min(len(text), MaxSearchedBytes)]
}

const (
	// The newest are chosen before they are put in order, or the time would grow with all that there are.
	selectRanked = `SELECT doc, rank FROM (
			SELECT rowid AS doc, bm25(search, 1.0, 1.0, 0.0) AS rank FROM search WHERE search MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?)
		ORDER BY rank, doc DESC`
	selectDoc = `SELECT e.entry, e.segment, e.id, e.time FROM search_docs d JOIN entries e ON e.entry = d.entry WHERE d.doc = ?`
	// An index that was emptied finds nothing, and says nothing of it.
	selectIndexWhole = `SELECT (SELECT max(doc) FROM search_docs) IS (SELECT max(id) FROM search_docsize)`
	selectSearched   = `SELECT key, id, leaf FROM session_states WHERE session = ?`
)
