package record

import (
	"strings"

	"clank/browsermgr/fault"
)

// ParseURLPattern reads how the address of a response is described: whole, in part, or with * and ** for anything. The error
// wraps fault.ErrInvalid.
func ParseURLPattern(pattern string) (match func(url string) bool, err error) {
	pattern = strings.TrimSpace(pattern)
	if pattern == "" {
		return nil, fault.Invalidf("url is required")
	}
	if !strings.Contains(pattern, "*") {
		return func(url string) bool { return strings.Contains(url, pattern) }, nil
	}
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return r == '*' })
	return func(url string) bool { return url == pattern || matchGlob(url, pattern, parts) }, nil
}

// matchGlob reports whether the parts occur in the address one after the other, bound to its ends where the pattern has no
// star there. It takes linear time.
func matchGlob(url, pattern string, parts []string) bool {
	for i, part := range parts {
		first, last := i == 0 && pattern[0] != '*', i == len(parts)-1 && pattern[len(pattern)-1] != '*'
		at := strings.Index(url, part)
		switch {
		case at < 0 || first && at != 0:
			return false
		case last:
			return strings.HasSuffix(url, part) // after what matched before: url is the rest
		}
		url = url[at+len(part):]
	}
	return true
}
