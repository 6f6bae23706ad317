package control

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// maxInteger is the largest whole number that every client can tell from its neighbours.
const maxInteger = 1<<53 - 1

// Bool is a field that is true or false, given as such or as "true", "1", "yes", "false", "0", "no" in any case. Anything
// else, a JSON number too, is undefined.
func (f *RequestFields) Bool(name string) (value, ok bool) {
	switch v := f.Raw(name).(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1", "yes":
			return true, true
		case "false", "0", "no":
			return false, true
		}
	}
	return false, false
}

// Flag is Bool with the value that holds if it is undefined.
func (f *RequestFields) Flag(name string, otherwise bool) bool {
	if value, ok := f.Bool(name); ok {
		return value
	}
	return otherwise
}

// Positive is a whole number above zero; false if there is none, or if it is malformed, which Err tells.
func (f *RequestFields) Positive(name string) (int, bool) {
	return f.integer(name, 1, "a positive integer.")
}

// NonNegative is a whole number that is not below zero.
func (f *RequestFields) NonNegative(name string) (int, bool) {
	return f.integer(name, 0, "a non-negative integer.")
}

// Integer is a whole number.
func (f *RequestFields) Integer(name string) (int, bool) {
	return f.integer(name, -maxInteger, "an integer.")
}

func (f *RequestFields) integer(name string, least float64, what string) (int, bool) {
	n, given, ok := f.number(name, true)
	if !given {
		return 0, false
	}
	if !ok || n != math.Trunc(n) || n < least || n > maxInteger {
		f.failf("%s must be %s", name, what)
		return 0, false
	}
	return int(n), true
}

// Number is a finite number.
func (f *RequestFields) Number(name string) (float64, bool) {
	n, given, ok := f.number(name, false)
	if given && !ok {
		f.failf("%s must be a finite number.", name)
	}
	return n, given && ok
}

// Clamp is a positive number of a field held between the two, or the other one if there is none.
func (f *RequestFields) Clamp(name string, otherwise, least, most int) int {
	n, ok := f.Positive(name)
	if !ok {
		return otherwise
	}
	return min(max(n, least), most)
}

// number reads a number. given is false for what counts as undefined. whole refuses texts that are not digits alone.
func (f *RequestFields) number(name string, whole bool) (n float64, given, ok bool) {
	switch v := f.Raw(name).(type) {
	case nil:
		return 0, false, false
	case float64:
		return v, true, !math.IsInf(v, 0) && !math.IsNaN(v)
	case json.Number:
		n, err := v.Float64()
		return n, true, err == nil
	case string:
		text := strings.TrimSpace(v)
		if text == "" {
			return 0, false, false
		}
		if !isDecimal(text, whole) {
			return 0, true, false
		}
		n, err := strconv.ParseFloat(text, 64)
		return n, true, err == nil
	}
	return 0, true, false
}

// isDecimal says whether a text is a sign, digits and, unless whole, a fraction: no exponent, no other base, no unit.
func isDecimal(text string, whole bool) bool {
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 {
		return false
	}
	before, after, point := strings.Cut(digits, ".")
	if whole && point || before+after == "" {
		return false
	}
	return strings.Trim(before+after, "0123456789") == ""
}

// plainNumber writes a JSON number the way people write whole ones: 1e3 is 1000.
func plainNumber(n json.Number) string {
	if !strings.ContainsAny(string(n), ".eE") {
		return string(n)
	}
	v, err := n.Float64()
	if err != nil {
		return string(n)
	}
	if v == math.Trunc(v) && math.Abs(v) <= maxInteger {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
