package control

import (
	"regexp"
	"sync"
)

var (
	userInfoPattern    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b((?:wss?|https?)://)[^/@\s"']+@`) })
	secretQueryPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([?&](?:[a-z_-]*(?:token|key|secret|password|auth|credential|signature))=)[^&\s"'#]+`)
	})
)

// RedactCredentials takes credentials out of the addresses in a text.
func RedactCredentials(text string) string {
	return secretQueryPattern().ReplaceAllString(userInfoPattern().ReplaceAllString(text, "${1}[redacted]@"), "${1}[redacted]")
}
