package vault

import (
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Secret is a login that was revealed for one of its origins. It prints as its name only.
type Secret struct {
	name, username, password string
	origins                  []string
	totp                     *totp
	codes                    func(code string) // told of each code that is made, so that it is scrubbed
}

// Name returns the entry's.
func (s Secret) Name() string { return s.name }

// Username may be told to anybody who may use the entry.
func (s Secret) Username() string { return s.username }

// Origins returns where it may be used.
func (s Secret) Origins() []string { return slices.Clone(s.origins) }

// Password returns the password itself; "" if there is none. It belongs into the document whose origin was checked,
// and nowhere else.
func (s Secret) Password() string { return s.password }

// Code returns the one-time code of a time; "" if the entry makes none. It is scrubbed from texts from now on.
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

// String shows no secret.
func (s Secret) String() string { return fmt.Sprintf("[secret %s]", s.name) }

// GoString shows no secret.
func (s Secret) GoString() string { return s.String() }

// LogValue shows no secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText writes no secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
