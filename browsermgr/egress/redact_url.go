package egress

import (
	"net/url"
	"slices"
	"strings"

	"clank/internal/untrusted"
)

// hiddenValue stands for the value of a parameter that looks like a secret.
const hiddenValue = "[hidden]"

const maxRecordedURL = 2048 // characters of a URL that are kept

// words in the name of a parameter make its value a secret, without regard to case and separators; names do as a whole.
var (
	secretNameParts = []string{
		"auth", "cookie", "apikey", "token", "secret", "passw", "passphrase", "passcode", "pwd", "credential", "privatekey", "accesskey",
		"session", "signature", "assertion", "onetime", "card", "jwt", "otp", "csrf", "xsrf", "saml",
	}
	secretNames = []string{"key", "pass", "pin", "sid", "sig", "code", "cvv", "cvc", "ssn", "state", "nonce"}
)

// RedactURL takes from a URL what nobody needs to read and somebody might abuse: user info, the fragment, the values of
// parameters that look like secrets. What is not a URL is returned as it is, shortened.
func RedactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		if end := strings.IndexAny(address, "?#"); end >= 0 {
			address = address[:end]
		}
		if at := strings.LastIndexByte(address, '@'); at >= 0 {
			address = "…" + address[at+1:]
		}
		return untrusted.Shorten(strings.ToValidUTF8(address, "\uFFFD"), maxRecordedURL+1)
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		u.RawQuery = redactQuery(u.RawQuery)
	}
	return untrusted.Shorten(strings.ToValidUTF8(u.String(), "\uFFFD"), maxRecordedURL+1)
}

func redactQuery(query string) string {
	var b strings.Builder
	for i, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		if i > 0 {
			b.WriteByte('&')
		}
		name, value, ok := strings.Cut(pair, "=")
		b.WriteString(name)
		if ok {
			if isSecretName(name) {
				value = hiddenValue
			}
			b.WriteString("=" + value)
		}
	}
	return b.String()
}

func isSecretName(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	return slices.Contains(secretNames, name) || slices.ContainsFunc(secretNameParts, func(w string) bool { return strings.Contains(name, w) })
}
