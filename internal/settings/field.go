package settings

import "time"

// FieldKind says what values a field takes, and so how it is asked for.
type FieldKind string

// The kinds of field. The JSON form of each is given.
const (
	KindToggle   FieldKind = "toggle"   // true or false
	KindNumber   FieldKind = "number"   // a whole number
	KindDuration FieldKind = "duration" // a whole number of milliseconds
	KindChoice   FieldKind = "choice"   // one of Options, a string
	KindText     FieldKind = "text"     // a string on one line
	KindLongText FieldKind = "longtext" // a string of several lines
	KindModel    FieldKind = "model"    // "provider:model", or "" where Optional
	KindURL      FieldKind = "url"      // an absolute http or https KindURL, or ""
	KindSecret   FieldKind = "secret"   // never stored: Key is the environment variable
)

// Option is one value of a [KindChoice].
type Option struct {
	Value string
	Label string
}

// Field describes one setting to people and to the program.
type Field struct {
	Key      string
	Group    string
	Label    string
	Effect   string // one sentence: what changes
	Kind     FieldKind
	Default  any // bool, int, string or time.Duration, by Kind; nil for a Secret
	Min, Max int // limits of a Number; of a Duration, in milliseconds
	MaxLen   int // limit of a text, in characters
	Options  []Option
	Optional bool // a Model may be empty

	check func(string) error // what else a Text or Model must be; nil: anything

	target func(*Settings) any // where the value lives: *bool, *int, *string or *time.Duration
}

// Fields returns the table of every setting, in the order of the settings page.
// Fields of one group stand together. The slice is the caller's.
func Fields() []Field { return append([]Field(nil), settingsTable...) }

// FindField returns the field with the given key, or with the key that it is another name of.
func FindField(key string) (Field, bool) {
	if other, ok := keyAliases[key]; ok {
		key = other
	}
	for _, f := range settingsTable {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// Get returns f's value in s: a bool, int, string or time.Duration by f's Kind,
// and nil for a [KindSecret].
func (f Field) Get(s Settings) any {
	if f.target == nil {
		return nil
	}
	switch p := f.target(&s).(type) {
	case *bool:
		return *p
	case *int:
		return *p
	case *string:
		return *p
	case *time.Duration:
		return *p
	}
	return nil
}

// assign puts v, which has f's type, into s.
func (f Field) assign(s *Settings, v any) {
	switch p := f.target(s).(type) {
	case *bool:
		*p = v.(bool)
	case *int:
		*p = v.(int)
	case *string:
		*p = v.(string)
	case *time.Duration:
		*p = v.(time.Duration)
	}
}
