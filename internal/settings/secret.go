package settings

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// SecretValue is a secret that is not printed by accident: formatting, logging and JSON show only whether it is set.
type SecretValue struct {
	value string
}

// Reveal returns the secret, for the code that sends it.
func (s SecretValue) Reveal() string { return s.value }

// IsSet reports whether there is a secret.
func (s SecretValue) IsSet() bool { return s.value != "" }

// String implements fmt.Stringer without the secret.
func (s SecretValue) String() string {
	if s.IsSet() {
		return "(present)"
	}
	return "(missing)"
}

// GoString implements fmt.GoStringer without the secret.
func (s SecretValue) GoString() string { return s.String() }

// LogValue implements slog.LogValuer without the secret.
func (s SecretValue) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler without the secret.
func (s SecretValue) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// maxSecret is the maximum size of a secret's file in bytes; a larger file cannot be a secret.
const maxSecret = 64 << 10

// ReadSecret returns the secret called name (such as "OPENAI_API_KEY"): the value of that variable, or the contents
// of the file that the variable name_FILE names, without surrounding space. If neither is set the secret is empty,
// without an error; if both are set, or the file is empty or unreadable, that is an error. getenv is os.Getenv except
// in tests. No error contains the secret.
func ReadSecret(name string, getenv func(string) string) (SecretValue, error) {
	value, path := strings.TrimSpace(getenv(name)), strings.TrimSpace(getenv(name+"_FILE"))
	if path == "" {
		return checkSecret(name, value)
	}
	if value != "" {
		return SecretValue{}, fmt.Errorf("both %s and %s_FILE are set: unset one of them", name, name)
	}
	info, err := os.Stat(path)
	if err != nil {
		return SecretValue{}, fmt.Errorf("read the file named by %s_FILE: %w", name, err)
	}
	if info.IsDir() || info.Size() > maxSecret {
		return SecretValue{}, fmt.Errorf("the file named by %s_FILE (%s) is not a file with a key in it", name, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return SecretValue{}, fmt.Errorf("read the file named by %s_FILE: %w", name, err)
	}
	value = strings.TrimSpace(string(data))
	if value == "" {
		return SecretValue{}, fmt.Errorf("the file named by %s_FILE (%s) is empty", name, path)
	}
	return checkSecret(name, value)
}

func checkSecret(name, value string) (SecretValue, error) {
	if strings.ContainsAny(value, "\r\n\x00") {
		return SecretValue{}, errors.New(name + " holds more than one line: a key is one line")
	}
	return SecretValue{value}, nil
}
