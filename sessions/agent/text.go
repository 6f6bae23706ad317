package agent

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// OneLine joins the lines of s.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Truncate shortens s to at most limit bytes and says so with an ellipsis.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// Shorten returns s on one line, cut to at most limit bytes.
func Shorten(s string, limit int) string { return Truncate(OneLine(s), limit) }

// Quote returns s in quotes, shortened and on one line.
func Quote(s string) string { return `"` + Shorten(s, 60) + `"` }

// Sentence returns s shortened and on one line, with a capital letter at the beginning and a full stop at the
// end; "" if s says nothing.
func Sentence(s string) string {
	s = strings.TrimRight(Shorten(s, 300), ".")
	if s == "" {
		return s
	}
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + s[size:] + "."
}

// ShortURL returns a URL as people read it in passing: without scheme and credentials, and not too long.
func ShortURL(u string) string {
	u = WithoutCredentials(strings.TrimSpace(u))
	u = strings.TrimPrefix(strings.TrimPrefix(u, "https://"), "http://")
	return Truncate(strings.TrimSuffix(OneLine(u), "/"), 80)
}

// SpeakerName returns the name of whoever spoke, which a model reads in square brackets. It
// cannot look like their end.
func SpeakerName(name string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(Shorten(name, 60))
}

var passwordFieldName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)pass(?:word|wort|phrase|code)|\bpwd\b|\bpin\b|kennwort|contraseñ|mot de passe|senha|secret|パスワード|密码|пароль`)
})

// IsPasswordFieldName reports whether a text field of that name holds a password, although
// it may not be marked as a field for one.
func IsPasswordFieldName(name string) bool { return passwordFieldName().MatchString(name) }

// NormalizeRef brings the spellings of a ref (@e1, ref=e1, E1) to the one that page states use.
func NormalizeRef(ref string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(ref, "@"), "ref="))
}

// URLCredentials returns what precedes the host of a URL, or of an address as people write it, including the @:
// a name, and often a password. It returns "" if there is nothing.
func URLCredentials(u string) string {
	rest := strings.ReplaceAll(u, `\`, "/") // as browsers read it
	if scheme, after, found := strings.Cut(rest, ":"); found && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		rest = after // which browsers take without slashes, and with more than two
	} else if _, after, found := strings.Cut(rest, "//"); found {
		rest = after
	}
	rest = strings.TrimLeft(rest, "/")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest[:strings.LastIndex(rest, "@")+1]
}

// WithoutCredentials returns a URL without credentials.
func WithoutCredentials(u string) string {
	if c := URLCredentials(u); c != "" {
		return strings.Replace(u, c, "", 1)
	}
	return u
}

// CompleteURL makes a URL of what people write as one: "shop.example/cart" becomes
// https, a host of this machine http.
func CompleteURL(s string) string {
	s = strings.TrimSpace(s)
	scheme, rest, found := strings.Cut(s, ":")
	port := found && rest != "" && rest[0] >= '0' && rest[0] <= '9'
	if found && !port && !strings.ContainsAny(scheme, "./[") {
		return s
	}
	host := s
	if u, err := url.Parse("http://" + s); err == nil {
		host = u.Hostname()
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "127.") || host == "::1" {
		return "http://" + s
	}
	return "https://" + s
}

// SystemPrompt returns what a model is told before the conversation: the instructions, the date, the places that
// people call by a name (to their URLs), and what the operator adds.
func SystemPrompt(instructions string, now time.Time, places map[string]string, extra string) string {
	var b strings.Builder
	b.WriteString(instructions)
	fmt.Fprintf(&b, "\n\nToday is %s.", now.Format("Monday, 2 January 2006"))
	if len(places) > 0 {
		b.WriteString("\n\nPlaces that people call by a name:")
		for _, name := range slices.Sorted(maps.Keys(places)) {
			fmt.Fprintf(&b, "\n- %s: %s", name, places[name])
		}
	}
	if extra = strings.TrimSpace(extra); extra != "" {
		b.WriteString("\n\nFrom the operator of this program:\n" + extra)
	}
	return b.String()
}

// TookOverText tells a model that a call was not done, since a person had worked the page after it was made.
const TookOverText = "Not executed: a person has worked the page meanwhile. Look at it again before you go on."
