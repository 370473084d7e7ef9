package jsontext

import "bytes"

// fewKeys is how many keys of an object are compared one by one.
const fewKeys = 16

// RepeatedKey returns a key that stands twice in one object of text, and false if there is none. Readers disagree about such
// objects: some take the last value, some the first, and encoding/json mixes the parts of both.
//
// text must be valid and compact, as [Compact] returns it. Small texts allocate nothing.
func RepeatedKey(text []byte) (string, bool) {
	var (
		keyRoom    [4 * fewKeys][]byte
		objectRoom [8]openObject
		keys       = keyRoom[:0]    // of all objects that are open
		open       = objectRoom[:0] // objects and arrays
	)
	for pos := 0; pos < len(text); pos++ {
		switch text[pos] {
		case '{', '[':
			open = append(open, openObject{first: len(keys)})
		case '}', ']':
			if len(open) == 0 {
				return "", false // not valid JSON
			}
			keys = keys[:open[len(open)-1].first]
			open = open[:len(open)-1]
		case '"':
			end := stringEnd(text, pos)
			if at(text, end) == ':' && len(open) > 0 {
				key := text[pos+1 : end-1]
				if bytes.IndexByte(key, '\\') >= 0 {
					key = []byte(unquote(text[pos:end]))
				}
				object := &open[len(open)-1]
				if object.has(keys[object.first:], key) {
					return string(key), true
				}
				keys = append(keys, key)
			}
			pos = end - 1
		}
	}
	return "", false
}

// openObject is an object that is being read.
type openObject struct {
	first int                 // its first key in the list of all
	many  map[string]struct{} // its keys, once there are many
}

func (o *openObject) has(keys [][]byte, key []byte) bool {
	if o.many == nil && len(keys) >= fewKeys {
		o.many = make(map[string]struct{}, 4*fewKeys)
		for _, k := range keys {
			o.many[string(k)] = struct{}{}
		}
	}
	if o.many != nil {
		_, has := o.many[string(key)]
		o.many[string(key)] = struct{}{}
		return has
	}
	for _, k := range keys {
		if bytes.Equal(k, key) {
			return true
		}
	}
	return false
}
