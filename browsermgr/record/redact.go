package record

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Redacted replaces secrets.
const Redacted = "[REDACTED]"

// secretWords mark a name as that of a secret if it contains one of them, ignoring case and separators.
var secretWords = []string{
	"authorization", "cookie", "apikey", "token", "secret", "password", "passwd", "passphrase", "passcode", "pwd",
	"credential",
	"privatekey", "accesskey", "sessionid", "signature", "assertion", "onetimecode", "cardnumber", "creditcard",
}

// secretNames mark a name as that of a secret only if it is equal to one of them.
var secretNames = map[string]bool{
	"auth": true, "xauth": true, "bearer": true, "jwt": true, "key": true, "pass": true, "pin": true, "otp": true,
	"totp": true,
	"sid":  true, "sig": true, "session": true, "jsessionid": true, "phpsessid": true, "csrf": true, "xsrf": true,
	"cvv": true, "cvc": true,
	"ssn": true, "saml": true, "samlresponse": true, "samlrequest": true,
}

// secretName reports whether the value of a field with this name is secret.
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

// secretText matches secrets recognizable by their form: JSON Web Tokens and HTTP credentials.
var secretText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|(?i:\b(?:bearer|basic)) +[\w+/=.~-]{8,}`)
})

func redactText(s string) string {
	if !strings.Contains(s, "eyJ") {
		// Most texts hold no secrets, and the regular expression is slow.
		if lower := strings.ToLower(s); !strings.Contains(lower, "bearer ") && !strings.Contains(lower, "basic ") {
			return s
		}
	}
	return secretText().ReplaceAllLiteralString(s, Redacted)
}

// RedactURL removes user information, and secret values of query and fragment parameters, recognized by name or form.
// The rest stays unchanged. It accepts text that is not a URL.
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

// redactUser removes user and password from the authority of a URL.
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

// redactFragment treats a fragment as parameters, possibly preceded by a route.
func redactFragment(s string) string {
	if route, query, ok := strings.Cut(s, "?"); ok {
		return redactParams(route) + "?" + redactParams(query)
	}
	return redactParams(s)
}

// redactParams removes secrets from percent-encoded name=value pairs separated by & or ;.
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
	// A value may contain a URL or a document.
	clean := redactNested(decoded)
	switch {
	case clean == decoded:
		return name + "=" + value
	case decoded == value:
		return name + "=" + clean
	}
	return name + "=" + url.QueryEscape(clean)
}

// nestedSecret matches parameters inside the value of a parameter.
var nestedSecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([^?#&;="'\s<>,]+)=([^?#&;"'\s<>,]+)`)
})

// redactNested redacts the value of a parameter.
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

// addressHeaders are headers that contain URLs.
var addressHeaders = map[string]bool{
	":path": true, "referer": true, "location": true, "content-location": true, "refresh": true, "link": true,
	"origin": true,
}

// redactHeader removes secrets from a header's value. name is in lower case.
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

// Limits of the headers of one request or response: total bytes of names and values, and number.
const (
	maxHeaderBytes = 64 << 10
	maxHeaders     = 128
)

// RedactBody removes secrets from the body of a message. mime is its content type, which may be wrong. It returns false
// if the body is not text, whose secrets cannot be found.
func RedactBody(mime, body string) (string, bool) {
	if !utf8.ValidString(body) || strings.ContainsRune(body, 0) {
		return "", false
	}
	mime = strings.ToLower(mime)
	head := strings.TrimSpace(body)
	switch {
	case strings.Contains(mime, "multipart/"), strings.HasPrefix(head, "--") && strings.Contains(body, "name="):
		return redactMultipart(body), true
	case strings.Contains(mime, "json"), strings.HasPrefix(head, "{"), strings.HasPrefix(head, "["):
		return redactJSON(body), true
	case strings.Contains(mime, "urlencoded"), strings.Contains(body, "=") && !strings.ContainsAny(body, " \n<"):
		return redactParams(body), true
	}
	return redactLoose(body), true
}

// stringEnd returns the length of the JSON string at the beginning of s, which may be truncated.
func stringEnd(s string) int {
	for i := 1; ; {
		at := strings.IndexAny(s[i:], `"\\`)
		switch {
		case at < 0 || s[i+at] == '\\' && i+at+2 > len(s):
			return len(s)
		case s[i+at] == '"':
			return i + at + 1
		}
		i += at + 2
	}
}

// redactJSON removes the values of members with secret names. The text may be invalid or truncated JSON, and is
// otherwise unchanged.
func redactJSON(s string) string {
	var b strings.Builder
	for s != "" {
		if s[0] != '"' {
			end := strings.IndexByte(s, '"')
			if end < 0 {
				end = len(s)
			}
			b.WriteString(s[:end])
			s = s[end:]
			continue
		}
		text := s[:stringEnd(s)]
		s = s[len(text):]
		b.WriteString(redactText(text))
		gap, isKey := colonLength(s)
		if !isKey || !secretName(unquoteJSON(text)) {
			continue
		}
		rest := skipValue(s[gap:])
		b.WriteString(s[:gap])
		if value := s[gap : len(s)-len(rest)]; value != "" && value != "null" && value != `""` {
			b.WriteString(`"` + Redacted + `"`)
		} else {
			b.WriteString(value)
		}
		s = rest
	}
	return b.String()
}

// colonLength returns the length of the colon, including the space around it, that makes the string before it a name.
func colonLength(s string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\r\n"), ":")
	if !ok {
		return 0, false
	}
	return len(s) - len(strings.TrimLeft(rest, " \t\r\n")), true
}

func unquoteJSON(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) != nil {
		return text
	}
	return s
}

// skipValue returns the text after a JSON value.
func skipValue(s string) string {
	depth := 0
	for s != "" {
		switch s[0] {
		case '"':
			s = s[stringEnd(s):]
		case '{', '[':
			depth++
			s = s[1:]
			continue
		case '}', ']':
			if depth == 0 {
				return s
			}
			depth--
			s = s[1:]
		case ',':
			if depth == 0 {
				return s
			}
			s = s[1:]
			continue
		case ':', ' ', '\t', '\r', '\n':
			s = s[1:]
			continue
		default:
			end := strings.IndexAny(s, ",]}\"{[: \t\r\n")
			if end < 0 {
				end = len(s)
			}
			s = s[end:]
		}
		if depth == 0 {
			return s
		}
	}
	return s
}

// fieldName finds the field name in the header of a part of a form.
var fieldName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bname="?([^";\r\n]*)`) })

// redactMultipart removes the values of form fields with secret names.
func redactMultipart(body string) string {
	start := strings.Index(body, "--")
	if start < 0 {
		return redactLoose(body)
	}
	line, _, _ := strings.Cut(body[start:], "\n")
	boundary := strings.TrimRight(line, "\r")
	if len(boundary) < 3 {
		return redactLoose(body)
	}
	parts := strings.Split(body, boundary)
	for i, part := range parts {
		at := strings.Index(part, "\r\n\r\n")
		gap := 4
		if at < 0 {
			at, gap = strings.Index(part, "\n\n"), 2
		}
		if at < 0 {
			continue
		}
		head, value := part[:at+gap], part[at+gap:]
		name := fieldName().FindStringSubmatch(head)
		switch trimmed := strings.TrimRight(value, "\r\n"); {
		case name != nil && secretName(name[1]) && trimmed != "":
			parts[i] = head + Redacted + value[len(trimmed):]
		case strings.HasPrefix(trimmed, "{"), strings.HasPrefix(trimmed, "["):
			parts[i] = head + redactJSON(value)
		default:
			parts[i] = head + redactText(value)
		}
	}
	return strings.Join(parts, boundary)
}

// redactLoose removes the text after the name of a secret where the syntax is unknown: after a colon up to the end of
// the line or a separator, after an equals sign up to the next space, or in XML up to the next tag.
func redactLoose(s string) string {
	s = redactText(s)
	var b strings.Builder
	for {
		at := strings.IndexAny(s, ":=>")
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		ends := map[byte]string{':': "\r\n,;&<\"'", '=': "\r\n\t ,;&<>\"'", '>': "<"}[s[at]]
		secret := secretName(nameBefore(s[:at], s[at]))
		rest := strings.TrimLeft(s[at+1:], "\"' ")
		b.WriteString(s[:len(s)-len(rest)])
		s = rest
		if !secret {
			continue
		}
		end := strings.IndexAny(s, ends)
		if end < 0 {
			end = len(s)
		}
		if strings.TrimSpace(s[:end]) != "" {
			b.WriteString(Redacted)
			s = s[end:]
		}
	}
}

// maxName is the maximum length of a name to look for, in bytes.
const maxName = 100

// nameBefore returns the name at the end of a text: of an XML tag or an assignment.
func nameBefore(s string, sign byte) string {
	s = s[max(len(s)-maxName, 0):]
	if sign == '>' {
		tag := s[strings.LastIndexByte(s, '<')+1:]
		name, _, _ := strings.Cut(tag, " ")
		if strings.HasPrefix(name, "/") {
			return ""
		}
		return name
	}
	s = strings.TrimRight(s, "\"' ")
	return s[strings.LastIndexAny(s, "\"'\r\n\t ,;&<>{}()[]=:")+1:]
}
