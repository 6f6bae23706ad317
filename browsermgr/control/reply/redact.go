package reply

import (
	"regexp"
	"sync"
)

var (
	userInfo    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b((?:wss?|https?)://)[^/@\s"']+@`) })
	secretQuery = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([?&](?:[a-z_-]*(?:token|key|secret|password|auth|credential|signature))=)[^&\s"'#]+`)
	})
)

// Redact takes credentials out of the addresses in a text.
func Redact(text string) string {
	return secretQuery().ReplaceAllString(userInfo().ReplaceAllString(text, "${1}[redacted]@"), "${1}[redacted]")
}
