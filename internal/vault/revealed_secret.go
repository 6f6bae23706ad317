package vault

import (
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Secret is a login revealed for one of its origins. It prints only its name.
type Secret struct {
	name, username, password string
	origins                  []string
	totp                     *totp
	codes                    func(code string) // called with each new code, so that it is scrubbed
}

// Name returns the name of the entry.
func (s Secret) Name() string { return s.name }

// Username returns the user name, which is not secret to people who may use the entry.
func (s Secret) Username() string { return s.username }

// Origins returns the origins where it may be used.
func (s Secret) Origins() []string { return slices.Clone(s.origins) }

// Password returns the password; "" if there is none. It must be passed only to the document whose origin was
// checked.
func (s Secret) Password() string { return s.password }

// Code returns the one-time code for a time; "" if the entry has none. It is scrubbed from texts from now on.
func (s Secret) Code(at time.Time) string {
	if s.totp == nil {
		return ""
	}
	code := s.totp.code(at)
	if s.codes != nil {
		s.codes(code)
	}
	return code
}

// String implements fmt.Stringer without the secret.
func (s Secret) String() string { return fmt.Sprintf("[secret %s]", s.name) }

// GoString implements fmt.GoStringer without the secret.
func (s Secret) GoString() string { return s.String() }

// LogValue implements slog.LogValuer without the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler without the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
