package actiontable

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// MaxInteger is the largest whole number that every client can tell from its neighbours.
const MaxInteger = 1<<53 - 1

// ScalarText writes out a decoded text, number or boolean; false for anything else. Whole numbers are written without an
// exponent.
func ScalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") {
			return string(v), true
		}
		f, err := v.Float64()
		if err != nil {
			return string(v), true
		}
		return formatNumber(f), true
	}
	if f, given, ok := ParseNumber(v, false); given && ok {
		return formatNumber(f), true
	}
	return "", false
}

func formatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) <= MaxInteger {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// ParseBool reads true or false, given as such or as "true", "1", "yes", "false", "0", "no" in any case. A JSON number is
// neither.
func ParseBool(v any) (value, ok bool) {
	switch v := v.(type) {
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

// ParseNumber reads a finite number. given is false for nil and for blank texts. Texts are a sign and digits, with a
// fraction unless whole: no exponent, no other base, no unit.
func ParseNumber(v any, whole bool) (n float64, given, ok bool) {
	switch v := v.(type) {
	case nil:
		return 0, false, false
	case int:
		return float64(v), true, true
	case int64:
		return float64(v), true, true
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

// ParseInteger reads a whole number from least up, see [ParseNumber].
func ParseInteger(v any, least float64) (n int, given, ok bool) {
	f, given, ok := ParseNumber(v, true)
	if !given || !ok || f != math.Trunc(f) || f < least || f > MaxInteger {
		return 0, given, false
	}
	return int(f), true, true
}
