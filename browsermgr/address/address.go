package address

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"clank/browsermgr/fault"
)

// Parse parses a web address as a person types it: http, https or about:blank. A bare host gets https://, a loopback
// host http://. The error for anything else wraps [fault.ErrInvalid] and repeats the text.
func Parse(text string) (string, error) {
	s := strings.TrimSpace(text)
	if strings.EqualFold(s, "about:blank") {
		return "about:blank", nil
	}
	refuse := func(why string) (string, error) {
		return "", fault.Invalidf("navigate %q: %s", text, why)
	}
	if s == "" || strings.ContainsAny(s, " \t\r\n\"<>\\^`{|}") {
		return refuse("not a web address: give one such as https://example.com/page")
	}
	scheme, rest, hasScheme := strings.Cut(s, ":")
	if strings.HasPrefix(s, "[") || hasScheme && isPort(rest) {
		hasScheme = false // [IPv6] or host:port
	}
	if !hasScheme {
		return bareHost(s, refuse)
	}
	if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return refuse("only http and https addresses can be opened")
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return refuse("not a web address: the host is missing or malformed")
	}
	return u.String(), nil
}

// isPort reports whether the text after "host:" is a port, possibly followed by a path.
func isPort(rest string) bool {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if strings.HasPrefix(rest, "0") {
		return false
	}
	port, err := strconv.ParseUint(rest[:end], 10, 16)
	return err == nil && port > 0
}

func bareHost(s string, refuse func(string) (string, error)) (string, error) {
	u, err := url.Parse("https://" + s)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return refuse("not a web address: give one such as https://example.com/page")
	}
	host := strings.ToLower(u.Hostname())
	ip, ipErr := netip.ParseAddr(host)
	switch {
	case ipErr != nil && strings.IndexFunc(host, invalidInHost) >= 0:
		return refuse("not a web address: the host is malformed")
	case host == "localhost" || strings.HasSuffix(host, ".localhost") || (ipErr == nil && ip.IsLoopback()):
		u.Scheme = "http"
	case ipErr == nil || u.Port() != "" || strings.Contains(strings.Trim(host, "."), "."):
	default:
		return refuse("not a web address: give one such as https://example.com/page")
	}
	return u.String(), nil
}

// invalidInHost reports whether a character cannot be part of a host name. Letters outside ASCII are left to Chromium.
func invalidInHost(r rune) bool {
	return r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-._", r)
}

// ParsePattern parses a URL pattern: * matches within a path segment, ** across segments, ? one character. A pattern
// without these must equal the whole URL, except that a trailing slash after the host may be omitted.
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
