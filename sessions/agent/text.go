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

// Truncate shortens s to at most limit bytes, ending with an ellipsis.
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

// Sentence returns s shortened and on one line, with a capital first letter and a full stop; "" if s is blank.
func Sentence(s string) string {
	s = strings.TrimRight(Shorten(s, 300), ".")
	if s == "" {
		return s
	}
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + s[size:] + "."
}

// ShortURL returns a URL for display: without scheme and credentials, and shortened.
func ShortURL(u string) string {
	u = WithoutCredentials(strings.TrimSpace(u))
	u = strings.TrimPrefix(strings.TrimPrefix(u, "https://"), "http://")
	return Truncate(strings.TrimSuffix(OneLine(u), "/"), 80)
}

// SpeakerName returns a person's name for a text in which names stand in square brackets. It cannot contain brackets.
func SpeakerName(name string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(Shorten(name, 60))
}

var passwordFieldName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)pass(?:word|wort|phrase|code)|\bpwd\b|\bpin\b|kennwort|contraseñ|mot de passe|senha|secret|パスワード|密码|пароль`)
})

// IsPasswordFieldName reports whether a text field of that name probably holds a password, even if it is not of type
// password.
func IsPasswordFieldName(name string) bool { return passwordFieldName().MatchString(name) }

// NormalizeRef converts the spellings of a ref (@e1, ref=e1, E1) to the one used in snapshots.
func NormalizeRef(ref string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(ref, "@"), "ref="))
}

// URLCredentials returns the userinfo of a URL, or of an address without a scheme, including the @. It returns "" if
// there is none.
func URLCredentials(u string) string {
	rest := strings.ReplaceAll(u, `\`, "/") // as browsers do
	if scheme, after, found := strings.Cut(rest, ":"); found &&
		(strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		rest = after // browsers accept any number of slashes
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

// CompleteURL adds a scheme to an address if it has none: https to "shop.example/cart", http to a host on this
// machine.
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

// SystemPrompt returns the system prompt: the instructions, the date, named places (name to URL) and the operator's
// additions.
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

// TookOverText tells a model that a call was not executed because a person took control of the page after the call
// was made.
const TookOverText = "Not executed: a person has worked the page meanwhile. Look at it again before you go on."
