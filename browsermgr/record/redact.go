package record

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Redacted stands for what is not told.
const Redacted = "[REDACTED]"

// secretWords make a name one of a secret when it contains one of them, without regard to case and separators.
var secretWords = []string{
	"authorization", "cookie", "apikey", "token", "secret", "password", "passwd", "passphrase", "passcode", "pwd", "credential",
	"privatekey", "accesskey", "sessionid", "signature", "assertion", "onetimecode", "cardnumber", "creditcard",
}

// secretNames are names of secrets only as a whole.
var secretNames = map[string]bool{
	"auth": true, "xauth": true, "bearer": true, "jwt": true, "key": true, "pass": true, "pin": true, "otp": true, "totp": true,
	"sid": true, "sig": true, "session": true, "jsessionid": true, "phpsessid": true, "csrf": true, "xsrf": true, "cvv": true, "cvc": true,
	"ssn": true, "saml": true, "samlresponse": true, "samlrequest": true,
}

// secretName says whether what goes by this name is not told.
func secretName(name string) bool {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
	if secretNames[plain] {
		return true
	}
	for _, word := range secretWords {
		if strings.Contains(plain, word) {
			return true
		}
	}
	return false
}

// secretText finds secrets that are known by their own look: JSON Web Tokens and credentials of HTTP.
var secretText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|(?i:\b(?:bearer|basic)) +[\w+/=.~-]{8,}`)
})

func redactText(s string) string {
	if !strings.Contains(s, "eyJ") {
		// Most texts hold no secrets, and the expression is slow to say so.
		if lower := strings.ToLower(s); !strings.Contains(lower, "bearer ") && !strings.Contains(lower, "basic ") {
			return s
		}
	}
	return secretText().ReplaceAllLiteralString(s, Redacted)
}

// RedactURL removes user information and the values of query and fragment parameters that are secrets by their name or
// look. Everything else stays as it is written; what is no address is treated like one.
func RedactURL(s string) string {
	if strings.HasPrefix(s, "data:") {
		return s
	}
	s, fragment, hasFragment := strings.Cut(s, "#")
	s, query, hasQuery := strings.Cut(s, "?")
	s = redactText(redactUser(s))
	if hasQuery {
		s += "?" + redactParams(query)
	}
	if hasFragment {
		s += "#" + redactFragment(fragment)
	}
	return s
}

// redactUser removes user and password from the authority.
func redactUser(s string) string {
	scheme, rest, ok := strings.Cut(s, "//")
	if !ok {
		return s
	}
	authority, path, hasPath := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return s
	}
	s = scheme + "//" + Redacted + authority[at:]
	if hasPath {
		s += "/" + path
	}
	return s
}

// redactFragment treats a fragment as parameters, with or without a route in front.
func redactFragment(s string) string {
	if route, query, ok := strings.Cut(s, "?"); ok {
		return redactParams(route) + "?" + redactParams(query)
	}
	return redactParams(s)
}

// redactParams removes secrets from name=value pairs, percent-encoded and separated by & or ;.
func redactParams(s string) string {
	var b strings.Builder
	for {
		end := strings.IndexAny(s, "&;")
		pair := s
		if end >= 0 {
			pair = s[:end]
		}
		b.WriteString(redactPair(pair))
		if end < 0 {
			return b.String()
		}
		b.WriteByte(s[end])
		s = s[end+1:]
	}
}

func redactPair(pair string) string {
	name, value, ok := strings.Cut(pair, "=")
	if !ok {
		return redactText(pair)
	}
	plain, err := url.QueryUnescape(name)
	if err != nil {
		plain = name
	}
	if value != "" && secretName(plain) {
		return name + "=" + Redacted
	}
	decoded, err := url.QueryUnescape(value)
	if err != nil {
		decoded = value
	}
	// A value may hold an address or a document of its own.
	clean := redactNested(decoded)
	switch {
	case clean == decoded:
		return name + "=" + value
	case decoded == value:
		return name + "=" + clean
	}
	return name + "=" + url.QueryEscape(clean)
}

// nestedSecret finds parameters in what was found inside a parameter.
var nestedSecret = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([^?#&;="'\s<>,]+)=([^?#&;"'\s<>,]+)`) })

// redactNested cleans what was found inside a parameter.
func redactNested(s string) string {
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		s = redactJSON(s)
	}
	if !strings.Contains(s, "=") {
		return redactText(redactUser(s))
	}
	var b strings.Builder
	last := 0
	for _, m := range nestedSecret().FindAllStringSubmatchIndex(s, -1) {
		if secretName(s[m[2]:m[3]]) {
			b.WriteString(s[last:m[4]] + Redacted)
			last = m[5]
		}
	}
	return redactText(redactUser(b.String() + s[last:]))
}

// addressHeaders are headers that hold an address, or several.
var addressHeaders = map[string]bool{
	":path": true, "referer": true, "location": true, "content-location": true, "refresh": true, "link": true, "origin": true,
}

// redactHeader removes what is secret of a header. The name is in lower case.
func redactHeader(name, value string) string {
	switch {
	case value == "":
		return value
	case secretName(name) && name != "www-authenticate":
		return Redacted
	case addressHeaders[name], strings.Contains(value, "://"):
		return RedactURL(value)
	}
	return redactText(value)
}

// The bounds of the headers of one request or response, in bytes of names and values, and in number.
const (
	maxHeaderBytes = 64 << 10
	maxHeaders     = 128
)
