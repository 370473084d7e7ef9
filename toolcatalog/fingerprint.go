package toolcatalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/cellmode/cellmode/schema"
)

// Fingerprint names what the catalog means to a program: the names of its tools, their schemas, and what their definitions
// say of a call (Sequential, ReplaySafe, Network, Effect, Source). Catalogs of the same tools have the same fingerprint, in
// any process; labels, descriptions and examples do not count, nor do policy, hooks and approver. A program that was parked
// over one catalog can go on over another of the same fingerprint. It is computed when it is first asked for.
func (c *Catalog) Fingerprint() string {
	c.fingerprint.once.Do(func() {
		sum := sha256.New()
		for i := range c.entries {
			e := &c.entries[i]
			_, _ = fmt.Fprintf(sum, "%q %q %q %v %v %v %q", e.CallableName, e.ToolName, e.Source, e.Sequential, e.ReplaySafe, e.Network, e.Effect)
			for _, s := range []*schema.Schema{e.declared.input, e.declared.output} {
				if s == nil {
					_, _ = fmt.Fprint(sum, " none")
				} else {
					_, _ = fmt.Fprintf(sum, " %d:%s", len(s.Text()), s.Text())
				}
			}
			_, _ = fmt.Fprintln(sum)
		}
		c.fingerprint.text = hex.EncodeToString(sum.Sum(nil))
	})
	return c.fingerprint.text
}
