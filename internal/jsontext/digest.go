package jsontext

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
)

// Digest is a hash of what a JSON text says: the same for texts that differ in the order of members, or in how strings are
// escaped, and another one for other values. Of members of one name the last counts. Numbers are the same if they are written
// in the same way: 1 and 1.0 are not, and no digits are lost.
//
// text must be valid and compact, as [Compact] returns it. It is read once and never decoded as a whole: the time and the
// memory that it takes are a small multiple of its length.
func Digest(text []byte) [sha256.Size]byte {
	d := digester{text: text}
	d.value(0)
	return sha256.Sum256(d.canonical)
}

type digester struct {
	text []byte
	// canonical is the value, with a hash in the place of each value of a member: so that members can be put in order
	// without moving what may be long, at each level again.
	canonical []byte
}

// member is a member of an object.
type member struct {
	name  string
	value [sha256.Size]byte
}

// value reads the value at pos, and gives the place after it.
func (d *digester) value(pos int) int {
	switch at(d.text, pos) {
	case '"':
		end := stringEnd(d.text, pos)
		if quoted := d.text[pos:end]; bytes.IndexByte(quoted, '\\') < 0 {
			d.canonical = append(d.canonical, quoted...)
		} else {
			d.canonical = AppendString(d.canonical, unquote(quoted))
		}
		return end
	case '[':
		d.canonical = append(d.canonical, '[')
		for pos++; pos < len(d.text) && d.text[pos] != ']'; {
			pos = d.value(pos)
			d.canonical = append(d.canonical, ',')
			if at(d.text, pos) == ',' {
				pos++
			}
		}
		d.canonical = append(d.canonical, ']')
		return pos + 1
	case '{':
		return d.object(pos)
	}
	end := min(scalarEnd(d.text, pos), len(d.text))
	d.canonical = append(d.canonical, d.text[min(pos, end):end]...)
	return end
}

// object reads the object at pos, and gives the place after it.
func (d *digester) object(pos int) int {
	start := len(d.canonical)
	var members []member
	for pos++; pos < len(d.text) && d.text[pos] != '}'; {
		end := stringEnd(d.text, pos)
		name := unquote(d.text[pos:end])
		pos = d.value(end + 1)
		members = append(members, member{name, sha256.Sum256(d.canonical[start:])})
		d.canonical = d.canonical[:start]
		if at(d.text, pos) == ',' {
			pos++
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	d.canonical = append(d.canonical, '{')
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue
		}
		d.canonical = append(AppendString(d.canonical, m.name), m.value[:]...) // of one size, so no two objects look the same
	}
	d.canonical = append(d.canonical, '}')
	return pos + 1
}
