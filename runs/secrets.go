package runs

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mask stands in a bundle for what it must not hold. It is what steps show for a
// password.
const Mask = "••••"

// minAnywhere is how long a secret must be to be taken out wherever it stands. A
// shorter one is taken out where it stands alone: it is a part of many words.
const minAnywhere = 4

// secrets are the passwords that a run has typed.
type secrets struct {
	words []string
	forms []form
}

// form is a spelling of a secret in a line of JSON, and what takes its place.
type form struct{ from, to []byte }

// learn adds a password. It reports whether it was not known.
func (s *secrets) learn(word string) bool {
	if word == "" || word == Mask || slices.Contains(s.words, word) {
		return false
	}
	s.words = append(s.words, word)
	s.forms = append(s.forms, spellings(word)...)
	// A longer one first: it may contain another.
	slices.SortStableFunc(s.forms, func(a, b form) int { return len(b.from) - len(a.from) })
	return true
}

// spellings are the ways in which word may stand in a line of JSON: as it is,
// within JSON, within JSON that is quoted in JSON, and in an address.
func spellings(word string) []form {
	once := inJSON(word)
	set := []string{word, once, inJSON(once), inHTML(word), inJSON(inHTML(word)), url.QueryEscape(word), url.PathEscape(word)}
	var forms []form
	for i, w := range set {
		if slices.Contains(set[:i], w) {
			continue
		}
		if len(word) >= minAnywhere {
			forms = append(forms, form{[]byte(w), []byte(Mask)})
			continue
		}
		for _, q := range []string{`"`, `\"`, `\\\"`} {
			forms = append(forms, form{[]byte(q + w + q), []byte(q + Mask + q)})
		}
	}
	return forms
}

// inJSON is s as it stands between the quotation marks of JSON.
func inJSON(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return s
	}
	raw := strings.TrimSuffix(b.String(), "\n")
	return raw[1 : len(raw)-1]
}

// inHTML is inJSON as encoders write it that keep JSON fit for HTML.
func inHTML(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(raw[1 : len(raw)-1])
}

// clean takes the secrets out of a line.
func (s *secrets) clean(line []byte) []byte {
	for _, f := range s.forms {
		if bytes.Contains(line, f.from) {
			line = bytes.ReplaceAll(line, f.from, f.to)
		}
	}
	return withoutKeys(line)
}

// userInfo matches what stands before the host in an address that logs in.
var userInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://([^/\s"\\@:]+:([^/\s"\\@]+))@`) })

// inAddresses are the passwords in the addresses of a line, with the user's name
// and without: a label may show the address in part.
func inAddresses(line []byte) []string {
	if !bytes.Contains(line, []byte("@")) {
		return nil
	}
	var words []string
	for _, m := range userInfo().FindAllSubmatch(line, -1) {
		if string(m[2]) != Mask && string(m[1]) != Mask {
			words = append(words, string(m[1]), string(m[2]))
		}
	}
	return words
}

// credential is something that gives access by its mere shape, or by the words
// before it. hint is in each of them, so that most lines are not searched.
type credential struct {
	hint []byte
	re   *regexp.Regexp
	to   []byte
}

// credentials are compiled when they are first needed: every command of the program would wait for it.
var credentials = sync.OnceValue(func() []credential {
	return []credential{
		{[]byte("earer "), regexp.MustCompile(`([Bb]earer )[A-Za-z0-9._~+/=-]{20,}`), []byte("${1}" + Mask)},
		{[]byte("ookie: "), regexp.MustCompile(`((?:[Ss]et-)?[Cc]ookie: )[^"\\\r\n]+`), []byte("${1}" + Mask)},
		{[]byte("uthorization: "), regexp.MustCompile(`([Aa]uthorization: )[^"\\\r\n]+`), []byte("${1}" + Mask)},
		{[]byte("ey: "), regexp.MustCompile(`([Xx]-[A-Za-z-]*[Kk]ey: )[^"\\\r\n]+`), []byte("${1}" + Mask)},
		{[]byte("uthorization"), regexp.MustCompile(`([Aa]uthorization\\*" ?: ?\\*")[^"\\]+`), []byte("${1}" + Mask)},
		{[]byte("ookie"), regexp.MustCompile(`((?:[Ss]et-)?[Cc]ookie\\*" ?: ?\\*")[^"\\]+`), []byte("${1}" + Mask)},
		{[]byte("eyJ"), regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`), []byte(Mask)}, // a JSON Web Token (RFC 7519)
		{[]byte("AKIA"), regexp.MustCompile(`AKIA[A-Z0-9]{16}`), []byte(Mask)},
		{[]byte("sk-"), regexp.MustCompile(`sk-[A-Za-z0-9_-]{16,}`), []byte(Mask)},
		{[]byte("AIza"), regexp.MustCompile(`AIza[A-Za-z0-9_-]{30,}`), []byte(Mask)},
		{[]byte("gh"), regexp.MustCompile(`gh[pousr]_[A-Za-z0-9]{30,}`), []byte(Mask)},
		{[]byte("xox"), regexp.MustCompile(`xox[abprs]-[A-Za-z0-9-]{10,}`), []byte(Mask)},
		{[]byte("PRIVATE KEY"), regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----`), []byte(Mask)},
	}
})

// withoutKeys takes out what gives access by its shape.
func withoutKeys(line []byte) []byte {
	for _, c := range credentials() {
		if bytes.Contains(line, c.hint) {
			line = c.re.ReplaceAll(line, c.to)
		}
	}
	return withoutParameters(line)
}
