package page

import (
	"fmt"
	"strconv"
	"strings"
)

// maxRefNumber bounds the numbers in a ref: more digits are a mistake, not an element.
const maxRefNumber = 1 << 30

// refKey is a parsed ref: element n of frame k, 0 being the main document.
type refKey struct {
	frame  int
	number int
}

func (k refKey) String() string {
	if k.frame == 0 {
		return fmt.Sprintf("e%d", k.number)
	}
	return fmt.Sprintf("f%de%d", k.frame, k.number)
}

// parseRef reads a ref as people and models write it: e12, @e12, ref=e12, [ref=e12], 12, f1e5, in any case.
func parseRef(text string) (refKey, error) {
	bad := func() (refKey, error) {
		return refKey{}, invalidf("%q is not a ref: take one such as e12 or f1e5 from a snapshot", text)
	}
	s := strings.ToLower(strings.TrimSpace(text))
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok {
			return bad()
		}
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "@"), "ref=")
	var key refKey
	if rest, ok := strings.CutPrefix(s, "f"); ok {
		frame, rest, ok := strings.Cut(rest, "e")
		if !ok || !parseCount(frame, &key.frame) {
			return bad()
		}
		s = rest
	} else {
		s = strings.TrimPrefix(s, "e")
	}
	if !parseCount(s, &key.number) {
		return bad()
	}
	return key, nil
}

// parseCount reads a positive decimal number without sign or leading zero.
func parseCount(s string, into *int) bool {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return false
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > maxRefNumber {
		return false
	}
	*into = n
	return true
}
