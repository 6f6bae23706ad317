package outline

import (
	"fmt"
	"strconv"
	"strings"

	"clank/browsermgr/fault"
)

// maxRefNumber bounds the numbers in a ref: more digits are a mistake, not an element.
const maxRefNumber = 1 << 30

// RefKey is a parsed ref: an element of a document, 0 being the main one, or a node of an accessibility tree.
type RefKey struct {
	Document int
	Number   int
	InTree   bool
}

// String returns the ref as snapshots show it.
func (k RefKey) String() string {
	if k.InTree {
		return fmt.Sprintf("ax%d", k.Number)
	}
	if k.Document == 0 {
		return fmt.Sprintf("e%d", k.Number)
	}
	return fmt.Sprintf("f%de%d", k.Document, k.Number)
}

// ParseRef reads a ref as people and models write it: e12, @e12, ref=e12, [ref=e12], 12, f1e5, ax3, in
// any case. The error
// wraps [fault.ErrInvalid].
func ParseRef(text string) (RefKey, error) {
	bad := func() (RefKey, error) {
		return RefKey{}, fault.Invalidf("%q is not a ref: take one such as e12 or f1e5 from a snapshot", text)
	}
	s := strings.ToLower(strings.TrimSpace(text))
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok {
			return bad()
		}
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "@"), "ref=")
	var key RefKey
	if rest, ok := strings.CutPrefix(s, "ax"); ok {
		key.InTree, s = true, rest
	} else if rest, ok := strings.CutPrefix(s, "f"); ok {
		frame, rest, ok := strings.Cut(rest, "e")
		if !ok || !parseCount(frame, &key.Document) {
			return bad()
		}
		s = rest
	} else {
		s = strings.TrimPrefix(s, "e")
	}
	if !parseCount(s, &key.Number) {
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
