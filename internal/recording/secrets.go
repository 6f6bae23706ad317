package recording

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// RedactedText stands in a bundle for what it must not hold. It is what steps show for a password.
const RedactedText = "••••"

// minRedactAnywhere is how long a secret must be to be taken out wherever it stands. A
// shorter one is taken out where it stands alone: it is a part of many words.
const minRedactAnywhere = 4

// secretSet are the passwords that a run has typed.
type secretSet struct {
	words []string
	forms []secretForm
}

// secretForm is a spelling of a secret in a line of JSON, and what takes its place.
type secretForm struct{ from, to []byte }

// learn adds a password. It reports whether it was not known.
func (s *secretSet) learn(word string) bool {
	if word == "" || word == RedactedText || slices.Contains(s.words, word) {
		return false
	}
	s.words = append(s.words, word)
	s.forms = append(s.forms, secretForms(word)...)
	// A longer one first: it may contain another.
	slices.SortStableFunc(s.forms, func(a, b secretForm) int { return len(b.from) - len(a.from) })
	return true
}

// secretForms returns the ways in which word may stand in a line of JSON: as it is,
// within JSON, within JSON that is quoted in JSON, and in an address.
func secretForms(word string) []secretForm {
	once := jsonForm(word)
	set := []string{word, once, jsonForm(once), htmlForm(word), jsonForm(htmlForm(word)), url.QueryEscape(word), url.PathEscape(word)}
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

// jsonForm returns s as it stands between the quotation marks in JSON.
func jsonForm(s string) string {
	raw, err := marshalPlain(s)
	if err != nil {
		return s
	}
	return string(raw[1 : len(raw)-2]) // a line break ends it
}

// htmlForm is like jsonForm for encoders that keep JSON safe for HTML.
func htmlForm(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(raw[1 : len(raw)-1])
}

// redact takes the secrets out of a line.
func (s *secretSet) redact(line []byte) []byte {
	for _, f := range s.forms {
		if bytes.Contains(line, f.from) {
			line = bytes.ReplaceAll(line, f.from, f.to)
		}
	}
	return redactCredentials(line)
}

// userInfo matches what stands before the host in an address that logs in.
var userInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://([^/\s"\\@:]+:([^/\s"\\@]+))@`) })

// addressPasswords returns the passwords in the addresses of a line, with the user's name
// and without: a label may show the address in part.
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

// credentialPattern is something that gives access by its mere shape, or by the words
// before it. hint is in each of them, so that most lines are not searched.
type credentialPattern struct {
	hint []byte
	re   *regexp.Regexp
	to   []byte
}

// credentialPatterns are compiled when they are first needed: every command of the program would wait for it.
var credentialPatterns = sync.OnceValue(func() []credentialPattern {
	return []credentialPattern{
		{[]byte("earer "), regexp.MustCompile(`([Bb]earer )[A-Za-z0-9._~+/=-]{20,}`), []byte("${1}" + RedactedText)},
		{[]byte("ookie: "), regexp.MustCompile(`((?:[Ss]et-)?[Cc]ookie: )[^"\\\r\n]+`), []byte("${1}" + RedactedText)},
		{[]byte("uthorization: "), regexp.MustCompile(`([Aa]uthorization: )[^"\\\r\n]+`), []byte("${1}" + RedactedText)},
		{[]byte("ey: "), regexp.MustCompile(`([Xx]-[A-Za-z-]*[Kk]ey: )[^"\\\r\n]+`), []byte("${1}" + RedactedText)},
		{[]byte("uthorization"), regexp.MustCompile(`([Aa]uthorization\\*" ?: ?\\*")[^"\\]+`), []byte("${1}" + RedactedText)},
		{[]byte("ookie"), regexp.MustCompile(`((?:[Ss]et-)?[Cc]ookie\\*" ?: ?\\*")[^"\\]+`), []byte("${1}" + RedactedText)},
		{[]byte("eyJ"), regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`), []byte(RedactedText)}, // a JSON Web Token (RFC 7519)
		{[]byte("AKIA"), regexp.MustCompile(`AKIA[A-Z0-9]{16}`), []byte(RedactedText)},
		{[]byte("sk-"), regexp.MustCompile(`sk-[A-Za-z0-9_-]{16,}`), []byte(RedactedText)},
		{[]byte("AIza"), regexp.MustCompile(`AIza[A-Za-z0-9_-]{30,}`), []byte(RedactedText)},
		{[]byte("gh"), regexp.MustCompile(`gh[pousr]_[A-Za-z0-9]{30,}`), []byte(RedactedText)},
		{[]byte("xox"), regexp.MustCompile(`xox[abprs]-[A-Za-z0-9-]{10,}`), []byte(RedactedText)},
		{[]byte("PRIVATE KEY"), regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----`), []byte(RedactedText)},
	}
})

// redactCredentials takes out what gives access by its shape.
func redactCredentials(line []byte) []byte {
	for _, c := range credentialPatterns() {
		if bytes.Contains(line, c.hint) {
			line = c.re.ReplaceAll(line, c.to)
		}
	}
	return redactParameters(line)
}

// Parameters of addresses whose values give access: by their whole name, or by
// what is part of it, in small letters without what separates words.
var (
	secretNames = []string{"auth", "code", "key", "pass", "pin", "pwd", "session", "sid", "sig"}
	secretParts = []string{"accesskey", "apikey", "assertion", "credential", "jwt", "otp", "passw", "secret", "sessionid", "signature", "token"}
)

// minSecretValue is how long the value of a parameter is that may give access.
const minSecretValue = 4

// redactParameters takes the values of such parameters out of the addresses in a line of JSON.
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

// valueLength returns how much of text is the value of a parameter.
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
		if name, found = strings.CutPrefix(name, "u0026"); !found { // an ampersand as encoders write it that keep JSON fit for HTML
			return false
		}
	default:
		return false
	}
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	return slices.Contains(secretNames, plain) || slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(plain, part) })
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}
