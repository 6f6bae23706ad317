package recording

import (
	"bytes"
	"slices"
	"strings"
)

// Parameters of addresses whose values give access: by their whole name, or by
// what is part of it, in small letters without what separates words.
var (
	secretNames = []string{"auth", "code", "key", "pass", "pin", "pwd", "session", "sid", "sig"}
	secretParts = []string{"accesskey", "apikey", "assertion", "credential", "jwt", "otp", "passw", "secret", "sessionid", "signature", "token"}
)

// minSecretValue is how long the value of a parameter is that may give access.
const minSecretValue = 4

// redactParameters takes the values of such parameters out of the addresses in
// a line of JSON.
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
