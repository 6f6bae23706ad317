package agent

import (
	"regexp"
	"strings"
	"sync"
)

var passwordFieldName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)pass(?:word|wort|phrase|code)|\bpwd\b|\bpin\b|kennwort|contraseñ|mot de passe|senha|secret|パスワード|密码|пароль`)
})

// IsPasswordFieldName reports whether a text field of that name holds a password, although
// it may not be marked as a field for one.
func IsPasswordFieldName(name string) bool { return passwordFieldName().MatchString(name) }

// NormalizeRef brings the spellings of a ref (@e1, ref=e1, E1) to the one that page
// states use.
func NormalizeRef(ref string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(ref, "@"), "ref="))
}
