package toolcatalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// hiddenPrefixes begin the names of private hooks of the guest. No callable name starts with one.
var hiddenPrefixes = [...]string{"__openclaw", "__cellmode"}

// suffixDigits is how many hexadecimal digits of its id a name gets first when its own spelling is not free.
const suffixDigits = 8

// nameRequest is one tool that needs a callable name.
type nameRequest struct {
	id   string // unique: source:owner:name
	tool string // the tool's own name
}

// toolID identifies a tool in a catalog. It never reaches the guest.
func toolID(source Source, name string) string {
	return source.String() + ":" + source.owner() + ":" + name
}

// allocateNames gives each tool its callable name: a JavaScript identifier that is no reserved word, hides no global of the
// guest and belongs to no other tool. The result has the order of the requests.
//
// A tool whose own name is fit keeps it, whatever the other tools are called. The others get the nearest identifier if it
// is free, and that with a suffix from the hash of their id if not. So the names depend on the set of tools alone, and
// adding a tool does not rename one whose own name is fit.
func allocateNames(requests []nameRequest) []string {
	names := make([]string, len(requests))
	bases := make([]string, len(requests))
	used := make(map[string]bool, len(requests))
	var rest []int
	for i, r := range requests {
		bases[i] = identifier(r.tool)
		if bases[i] == r.tool && !reserved[r.tool] {
			names[i] = r.tool
			used[r.tool] = true
		} else {
			rest = append(rest, i)
		}
	}
	slices.SortFunc(rest, func(a, b int) int {
		return cmp.Or(cmp.Compare(bases[a], bases[b]), cmp.Compare(requests[a].id, requests[b].id))
	})
	for _, i := range rest {
		name := bases[i]
		if reserved[name] || used[name] {
			name = suffixed(bases[i], requests[i].id, used)
		}
		names[i] = name
		used[name] = true
	}
	return names
}

// identifier is the JavaScript identifier nearest to name: one underscore for each character that cannot be part of one,
// and a prefix where it could not begin one or would look like a private hook.
func identifier(name string) string {
	base := strings.Map(func(r rune) rune {
		if isIdentifierStart(r) || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if base == "" || !isIdentifierStart(rune(base[0])) || hasHiddenPrefix(base) {
		return "tool_" + base
	}
	return base
}

func isIdentifierStart(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || r == '$'
}

func hasHiddenPrefix(name string) bool {
	return slices.ContainsFunc(hiddenPrefixes[:], func(p string) bool { return strings.HasPrefix(name, p) })
}

// suffixed adds as many digits of the hash of id to base as it takes to make a free name.
func suffixed(base, id string, used map[string]bool) string {
	sum := sha256.Sum256([]byte(id))
	digits := hex.EncodeToString(sum[:])
	for n := suffixDigits; ; n += 2 {
		if n > len(digits) { // only for names made to collide
			sum = sha256.Sum256(sum[:])
			digits += hex.EncodeToString(sum[:])
		}
		if name := base + "_" + digits[:n]; !used[name] {
			return name
		}
	}
}
