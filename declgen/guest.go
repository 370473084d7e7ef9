package declgen

import _ "embed"

// Guest says what a cell has beside the language and the tools.
type Guest struct {
	Skills bool // skills: the instruction documents of the host
}

//go:embed guest.d.ts
var guestAPI string

//go:embed skills.d.ts
var skillsAPI string

//go:embed results.d.ts
var resultsAPI string

// ResultsAPI returns the file results.d.ts: the declarations of what stays when a cell has ended.
func ResultsAPI() string { return resultsAPI }

// GuestAPI returns the file guest.d.ts: the declarations of what a cell has. Nothing is declared that is not there.
func GuestAPI(g Guest) string {
	if g.Skills {
		return guestAPI + "\n" + skillsAPI
	}
	return guestAPI
}
