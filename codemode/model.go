package codemode

import "errors"

// Model tells an [Executor] how much of one result the model can be shown, on top of MaxOutputBytes of [Options]. The
// zero value means no more than that: only bytes are counted, unless there is content from the network.
//
// A result with content from the network ([Result].NetworkContent) has no more than [MaxNetworkChars] characters, whatever
// the Model, the zero one included: a page that somebody else wrote must not fill the conversation.
//
// The limits hold for the whole text of a result ([Result.Text]): its status, run id, warnings and telemetry come first,
// and output, value and error share what is left. Characters are UTF-16 code units, as JavaScript counts the length of a
// string: an emoji is two.
type Model struct {
	// ContextTokens is the size of the model's context window, in tokens; zero or less if it is not known. Of a window, one
	// result may take
	//
	//   - three tenths, at four characters a token, and no more than 16,000 characters, 32,000 from
	//     100,000 tokens on and 64,000 from 200,000 on;
	//   - and by a more careful estimate a quarter: a token is two characters, or one of Chinese, Japanese or Korean.
	//     This limit is never below 512 characters.
	ContextTokens int

	// MaxResultChars is a further limit on the characters of a result; zero or less for none. It can make the limit for
	// content from the network smaller, not larger.
	MaxResultChars int
}

// ErrModelBudget is the cause of a failure of which the model could not even be shown the status: its budget ([Model]) is
// smaller than a result without any output and value. Such a result has no output and exceeds the budget.
var ErrModelBudget = errors.New("the model's budget for a result cannot fit its status")

const modelBudgetText = "the model's budget for one result cannot fit the status of this cell: use a model with a larger context, or a larger MaxResultChars"

// MaxNetworkChars is how many characters a result with content from the network has at most, see [Model].
const MaxNetworkChars = 20_000

// ceiling is what the text of a result may take. Zero in a field is no limit.
type ceiling struct{ units, weight int }

func (c ceiling) fits(e textSize) bool {
	return (c.units == 0 || e.units <= c.units) && (c.weight == 0 || e.weight <= c.weight)
}

// ceiling gives the limits for a result, which may have content from the network.
func (m Model) ceiling(network bool) (c ceiling) {
	if tokens := m.ContextTokens; tokens > 0 {
		c.units = 16_000
		switch {
		case tokens >= 200_000:
			c.units = 64_000
		case tokens >= 100_000:
			c.units = 32_000
		}
		if tokens < c.units { // else three tenths of it, four characters each, are more
			c.units = min(c.units, tokens*3/10*4)
		}
		c.weight = max(1024, tokens)
	}
	if m.MaxResultChars > 0 {
		c.limitUnits(m.MaxResultChars)
	}
	if network {
		c.limitUnits(MaxNetworkChars)
	}
	return c
}

func (c *ceiling) limitUnits(n int) {
	if c.units == 0 || n < c.units {
		c.units = n
	}
}
