package address

import (
	"regexp"
	"strings"

	"clank/browsermgr/fault"
)

// ParsePattern reads an address pattern: * matches within a path segment, ** across, ? one character. A pattern without
// any of these must be the whole address; a final slash after the host may be left out.
func ParsePattern(pattern string) (func(string) bool, error) {
	if !strings.Contains(pattern, "*") {
		return func(s string) bool { return s == pattern || s == pattern+"/" }, nil
	}
	var b strings.Builder
	b.WriteString(`^`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*' && strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re, err := regexp.Compile(b.String() + `/?$`)
	if err != nil {
		return nil, fault.Invalidf("wait url %q: not a pattern", pattern)
	}
	return re.MatchString, nil
}
