package recording

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/llm"
)

// RedactedText replaces secrets in a bundle. Steps show it for passwords.
const RedactedText = "••••"

// minRedactAnywhere is the minimum length of a secret that is removed everywhere. A shorter one is removed only as a
// whole word, because many words contain it.
const minRedactAnywhere = 4

// secretSet is the set of passwords that a run has typed.
type secretSet struct {
	words []string
	forms []secretForm
}

// secretForm is a spelling of a secret in a line of JSON, and its replacement.
type secretForm struct{ from, to []byte }

// learn adds a password and reports whether it was new.
func (s *secretSet) learn(word string) bool {
	if word == "" || word == RedactedText || slices.Contains(s.words, word) {
		return false
	}
	s.words = append(s.words, word)
	s.forms = append(s.forms, secretForms(word)...)
	// Longest first: a long form may contain a shorter one.
	slices.SortStableFunc(s.forms, func(a, b secretForm) int { return len(b.from) - len(a.from) })
	return true
}

// secretForms returns the forms of word in a line of JSON: plain, escaped in JSON, in JSON quoted within JSON, and
// URL-encoded.
func secretForms(word string) []secretForm {
	once := jsonForm(word)
	set := []string{
		word, once, jsonForm(once), htmlForm(word), jsonForm(htmlForm(word)), url.QueryEscape(word),
		url.PathEscape(word),
	}
	var forms []secretForm
	for i, w := range set {
		if slices.Contains(set[:i], w) {
			continue
		}
		if len(word) >= minRedactAnywhere {
			forms = append(forms, secretForm{[]byte(w), []byte(RedactedText)})
			continue
		}
		for _, q := range []string{`"`, `\"`, `\\\"`} {
			forms = append(forms, secretForm{[]byte(q + w + q), []byte(q + RedactedText + q)})
		}
	}
	return forms
}

// jsonForm returns s as it appears inside the quotation marks of JSON.
func jsonForm(s string) string {
	raw, err := llm.MarshalJSON(s)
	if err != nil {
		return s
	}
	return string(raw[1 : len(raw)-1]) // without the quotation marks
}

// htmlForm is like jsonForm for encoders that escape HTML.
func htmlForm(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(raw[1 : len(raw)-1])
}

// redact removes the secrets from a line.
func (s *secretSet) redact(line []byte) []byte {
	for _, f := range s.forms {
		if bytes.Contains(line, f.from) {
			line = bytes.ReplaceAll(line, f.from, f.to)
		}
	}
	return redactCredentials(line)
}

// userInfo matches the user name and password in a URL.
var userInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://([^/\s"\\@:]+:([^/\s"\\@]+))@`) })

// addressPasswords returns the passwords in the URLs of a line, with and without the user name: a label may show a
// part of a URL.
func addressPasswords(line []byte) []string {
	if !bytes.Contains(line, []byte("@")) {
		return nil
	}
	var words []string
	for _, m := range userInfo().FindAllSubmatch(line, -1) {
		if string(m[2]) != RedactedText && string(m[1]) != RedactedText {
			words = append(words, string(m[1]), string(m[2]))
		}
	}
	return words
}

// credentialPattern matches credentials by their format, or by the words before them. Every match contains hint, so
// that most lines need no regexp search.
type credentialPattern struct {
	hint []byte
	re   *regexp.Regexp
	to   []byte
}

// credentialPatterns are compiled on first use, to keep the start of every command fast.
var credentialPatterns = sync.OnceValue(func() []credentialPattern {
	return []credentialPattern{
		{[]byte("earer "), regexp.MustCompile(`([Bb]earer )[A-Za-z0-9._~+/=-]{20,}`), []byte("${1}" + RedactedText)},
		{[]byte("ookie: "), regexp.MustCompile(`((?:[Ss]et-)?[Cc]ookie: )[^"\\\r\n]+`), []byte("${1}" + RedactedText)},
		{[]byte("uthorization: "), regexp.MustCompile(`([Aa]uthorization: )[^"\\\r\n]+`), []byte("${1}" + RedactedText)},
		{[]byte("ey: "), regexp.MustCompile(`([Xx]-[A-Za-z-]*[Kk]ey: )[^"\\\r\n]+`), []byte("${1}" + RedactedText)},
		{[]byte("uthorization"), regexp.MustCompile(`([Aa]uthorization\\*" ?: ?\\*")[^"\\]+`), []byte("${1}" + RedactedText)},
		{[]byte("ookie"), regexp.MustCompile(`((?:[Ss]et-)?[Cc]ookie\\*" ?: ?\\*")[^"\\]+`), []byte("${1}" + RedactedText)},
		// a JSON Web Token (RFC 7519)
		{[]byte("eyJ"), regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`), []byte(RedactedText)},
		{[]byte("AKIA"), regexp.MustCompile(`AKIA[A-Z0-9]{16}`), []byte(RedactedText)},
		{[]byte("sk-"), regexp.MustCompile(`sk-[A-Za-z0-9_-]{16,}`), []byte(RedactedText)},
		{[]byte("AIza"), regexp.MustCompile(`AIza[A-Za-z0-9_-]{30,}`), []byte(RedactedText)},
		{[]byte("gh"), regexp.MustCompile(`gh[pousr]_[A-Za-z0-9]{30,}`), []byte(RedactedText)},
		{[]byte("xox"), regexp.MustCompile(`xox[abprs]-[A-Za-z0-9-]{10,}`), []byte(RedactedText)},
		{[]byte("PRIVATE KEY"), regexp.MustCompile(
			`-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----`), []byte(RedactedText)},
	}
})

// redactCredentials removes credentials that have a known format.
func redactCredentials(line []byte) []byte {
	for _, c := range credentialPatterns() {
		if bytes.Contains(line, c.hint) {
			line = c.re.ReplaceAll(line, c.to)
		}
	}
	return redactParameters(line)
}

// Names of URL parameters with secret values: complete names, and parts of names, in lower case without separators.
var (
	secretNames = []string{"auth", "code", "key", "pass", "pin", "pwd", "session", "sid", "sig"}
	secretParts = []string{
		"accesskey", "apikey", "assertion", "credential", "jwt", "otp", "passw", "secret", "sessionid",
		"signature", "token",
	}
)

// minSecretValue is the minimum length of a parameter value that may be a secret.
const minSecretValue = 4

// redactParameters removes the values of such parameters from the URLs in a line of JSON.
func redactParameters(line []byte) []byte {
	var out []byte
	done := 0
	for from := 0; ; {
		i := bytes.IndexByte(line[from:], '=')
		if i < 0 {
			break
		}
		at := from + i + 1
		from = at
		end := at + valueLength(line[at:])
		if end-at < minSecretValue || string(line[at:end]) == RedactedText || !secretParameter(line[done:at-1]) {
			continue
		}
		out = append(append(out, line[done:at]...), RedactedText...)
		done, from = end, end
	}
	if done == 0 {
		return line
	}
	return append(out, line[done:]...)
}

// valueLength returns the length of the parameter value at the start of text.
func valueLength(text []byte) int {
	if i := bytes.IndexAny(text, "&#;\"'\\<>(){}[]`, \t\r\n"); i >= 0 {
		return i
	}
	return len(text)
}

// secretParameter reports whether text ends with the name of such a parameter,
// where an address has them.
func secretParameter(text []byte) bool {
	begin := len(text)
	for begin > 0 && len(text)-begin < 60 && isNameByte(text[begin-1]) {
		begin--
	}
	if begin == 0 {
		return false
	}
	name := string(text[begin:])
	switch before := text[begin-1]; before {
	case '?', '&', '#', ';':
	case '\\':
		var found bool
		// an ampersand as encoders write it that keep JSON fit for HTML
		if name, found = strings.CutPrefix(name, "u0026"); !found {
			return false
		}
	default:
		return false
	}
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	return slices.Contains(secretNames, plain) ||
		slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(plain, part) })
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}
