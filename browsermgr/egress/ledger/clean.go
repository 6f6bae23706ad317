package ledger

import (
	"net/url"
	"strings"
)

// hidden stands for the value of a parameter that looks like a secret.
const hidden = "[hidden]"

const longest = 2048 // bytes of a URL that are kept

// words in the name of a parameter make its value a secret, without regard to case and separators; names do as a whole.
var (
	words = []string{
		"auth", "cookie", "apikey", "token", "secret", "passw", "passphrase", "passcode", "pwd", "credential", "privatekey", "accesskey",
		"session", "signature", "assertion", "onetime", "card", "jwt", "otp", "csrf", "xsrf", "saml",
	}
	names = []string{"key", "pass", "pin", "sid", "sig", "code", "cvv", "cvc", "ssn", "state", "nonce"}
)

// Clean takes from a URL what nobody needs to read and somebody might abuse: user info, the fragment, the values of
// parameters that look like secrets. What is not a URL is returned as it is, shortened.
func Clean(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return cut(strings.SplitN(address, "?", 2)[0])
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		u.RawQuery = cleanQuery(u.RawQuery)
	}
	return cut(u.String())
}

func cut(s string) string {
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func cleanQuery(query string) string {
	var b strings.Builder
	for i, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if i > 0 {
			b.WriteByte('&')
		}
		name, value, ok := strings.Cut(pair, "=")
		b.WriteString(name)
		if ok {
			if secret(name) {
				value = hidden
			}
			b.WriteString("=" + value)
		}
	}
	return b.String()
}

func secret(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
	for _, n := range names {
		if name == n {
			return true
		}
	}
	for _, w := range words {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}
