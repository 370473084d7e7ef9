package transcript

import (
	"context"
	"fmt"
	"io"
)

// Export writes the session as a session file: a header, and each entry as one line, in the order in which they were
// appended. [Store.Import] of it gives the same entries, branches, contexts and labels. The file has no idempotency keys
// that were given to entries by [Draft.Claim], and nothing of the host's: no key and no harness.
//
// It writes as it reads, up to the entry that is the last when it begins. The errors are those of w, the store and the
// context.
func (s *Session) Export(ctx context.Context, w io.Writer) error {
	return aboutSession("exporting", s.key, s.export(ctx, w))
}

func (s *Session) export(ctx context.Context, w io.Writer) error {
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	page, err := marshal(fileHeader{kindHeader, fileVersion, info.ID, info.Created.UTC().Format(timeFormat), info.WorkingDir, info.ParentSession})
	if err != nil {
		return err
	}
	page = append(page, '\n')
	for done := int64(0); len(page) > 0; {
		if _, err := w.Write(page); err != nil {
			return fmt.Errorf("writing the session file: %w", err)
		}
		page = page[:0]
		err := s.store.read(ctx, func(t *transaction) error {
			if err := t.checkSession(s); err != nil {
				return err
			}
			rows, err := t.query(selectAll, number(s.row, done), number(s.row, info.Entries), 0, pageRows)
			if err != nil {
				return err
			}
			defer rows.Close()
			for len(page) < pageBytes && rows.Next() {
				row, err := t.scanLine(rows)
				if err != nil {
					return err
				}
				page = append(row.entry.appendLine(page, row.kind, row.members), '\n')
				done = row.number
			}
			return rows.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Labels gives the label of each entry that has one, by the entry's id: the last that was appended counts, whatever its
// branch.
func (s *Session) Labels(ctx context.Context) (map[string]string, error) {
	labels := map[string]string{}
	err := s.store.read(ctx, func(t *transaction) error {
		if err := t.checkSession(s); err != nil {
			return err
		}
		rows, err := t.query(selectLabels, number(s.row, 0), number(s.row+1, 0))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var members []byte
			if err := t.scan(rows, &members); err != nil {
				return err
			}
			label, ok := decode(KindLabel, members).(Label)
			switch {
			case !ok:
			case label.Label == "":
				delete(labels, label.TargetID)
			default:
				labels[label.TargetID] = label.Label
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, aboutSession("reading", s.key, err)
	}
	return labels, nil
}

const selectLabels = `SELECT data FROM entries WHERE kind = 'label' AND entry > ? AND entry < ? ORDER BY entry`
