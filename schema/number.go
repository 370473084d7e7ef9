package schema

import (
	"bytes"
	"math/bits"
	"strconv"
)

// decimal is a JSON number with every digit it was written with: 0.digits x 10^exp. The digits have no zero at either
// end, so that each number has one form; zero has no digits.
type decimal struct {
	neg    bool
	digits []byte
	exp    int64
}

// maxExponent bounds the exponent of a decimal. Exponents beyond are cut to it: two such numbers may count as equal.
const maxExponent = 1 << 40

// parseDecimal reads a JSON number. The digits are put into room, if it is large enough.
func parseDecimal(room, literal []byte) decimal {
	d := decimal{digits: room[:0]}
	if literal[0] == '-' {
		d.neg = true
		literal = literal[1:]
	}
	var (
		fraction bool
		point    int64 // digits before the decimal point, less the zeros that lead
	)
	i := 0
	for ; i < len(literal); i++ {
		b := literal[i]
		if b == '.' {
			fraction = true
			continue
		}
		if !isDigit(b) {
			break
		}
		if b == '0' && len(d.digits) == 0 {
			if fraction {
				point--
			}
			continue
		}
		d.digits = append(d.digits, b)
		if !fraction {
			point++
		}
	}
	d.exp = point
	if i < len(literal) {
		d.exp += parseExponent(literal[i+1:])
	}
	d.digits = bytes.TrimRight(d.digits, "0")
	if len(d.digits) == 0 {
		return decimal{digits: d.digits}
	}
	return d
}

func parseExponent(s []byte) int64 {
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	var e int64
	for _, b := range s {
		if e = e*10 + int64(b-'0'); e > maxExponent {
			e = maxExponent
			break
		}
	}
	if neg {
		return -e
	}
	return e
}

func (d decimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// isInteger reports whether the number has no fraction, however it is written: 1.0 and 10e-1 are integers.
func (d decimal) isInteger() bool { return int64(len(d.digits)) <= max(d.exp, 0) }

// cmp compares exactly; -1 if d is less than other.
func (d decimal) cmp(other decimal) int {
	a, b := d.sign(), other.sign()
	if a != b {
		if a < b {
			return -1
		}
		return 1
	}
	if d.exp != other.exp {
		if d.exp < other.exp {
			return -a
		}
		return a
	}
	return a * bytes.Compare(d.digits, other.digits)
}

// appendTo writes the one form that every number of this value has: plain digits if they are few, else with an exponent.
func (d decimal) appendTo(dst []byte) []byte {
	if len(d.digits) == 0 {
		return append(dst, '0')
	}
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(dst, d.digits...)
	zeros := d.exp - int64(len(d.digits))
	if zeros >= 0 && d.exp <= maxPlainDigits {
		for range zeros {
			dst = append(dst, '0')
		}
		return dst
	}
	return strconv.AppendInt(append(dst, 'e'), zeros, 10)
}

// maxPlainDigits is how many digits an integer may have to be written without an exponent by appendTo.
const maxPlainDigits = 30

// isPlainInteger reports whether a JSON number is already written as appendTo would write it.
func isPlainInteger(literal []byte) bool {
	if len(literal) > maxPlainDigits || string(literal) == "-0" {
		return false
	}
	for i, b := range literal {
		if !isDigit(b) && (i > 0 || b != '-') {
			return false
		}
	}
	return true
}

// smallInteger returns the value of a number that is written as an integer of at most 18 digits.
func smallInteger(literal []byte) (n int64, ok bool) {
	digits := literal
	if digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 18 {
		return 0, false
	}
	for _, b := range digits {
		if !isDigit(b) {
			return 0, false
		}
		n = n*10 + int64(b-'0')
	}
	if literal[0] == '-' {
		n = -n
	}
	return n, true
}

// divisor is the value of multipleOf: coefficient x 10^exp.
type divisor struct {
	coefficient uint64 // not divisible by 10
	exp         int64
}

// newDivisor reports whether d is positive and has few enough digits (19) to be a divisor.
func newDivisor(d decimal) (divisor, bool) {
	if d.sign() <= 0 || len(d.digits) > 19 {
		return divisor{}, false
	}
	c, err := strconv.ParseUint(string(d.digits), 10, 64)
	return divisor{c, d.exp - int64(len(d.digits))}, err == nil
}

// divides reports whether d is a multiple of m, exactly. The time depends on the digits of d, not on its size.
func (m divisor) divides(d decimal) bool {
	if len(d.digits) == 0 {
		return true
	}
	shift := d.exp - int64(len(d.digits)) - m.exp
	if shift < 0 {
		return false // d has a digit below the last place of every multiple
	}
	var rest uint64
	for _, b := range d.digits {
		rest = m.times(rest, 10)
		rest = m.plus(rest, uint64(b-'0'))
	}
	for power := 10 % m.coefficient; shift > 0; shift >>= 1 {
		if shift&1 == 1 {
			rest = m.times(rest, power)
		}
		power = m.times(power, power)
	}
	return rest == 0
}

func (m divisor) times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, m.coefficient)
}

func (m divisor) plus(a, b uint64) uint64 {
	lo, hi := bits.Add64(a, b, 0)
	return bits.Rem64(hi, lo, m.coefficient)
}
