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
	KindURL      FieldKind = "url"      // an absolute http or https URL, or ""
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

// inGroup returns fields that stand together under a heading.
func inGroup(name string, fields ...Field) []Field {
	for i := range fields {
		fields[i].Group = name
	}
	return fields
}

func toggle(key, label, effect string, value bool, at func(*Settings) *bool) Field {
	return newField(KindToggle, key, label, effect, value, at)
}

func number(key, label, effect string, value, least, most int, at func(*Settings) *int) Field {
	f := newField(KindNumber, key, label, effect, value, at)
	f.Min, f.Max = least, most
	return f
}

func duration(key, label, effect string, value, least, most time.Duration, at func(*Settings) *time.Duration) Field {
	f := newField(KindDuration, key, label, effect, value, at)
	f.Min, f.Max = int(least.Milliseconds()), int(most.Milliseconds())
	return f
}

func choice(key, label, effect, value string, at func(*Settings) *string, options ...Option) Field {
	f := newField(KindChoice, key, label, effect, value, at)
	f.Options = options
	return f
}

func text(key, label, effect, value string, most int, at func(*Settings) *string) Field {
	f := newField(KindText, key, label, effect, value, at)
	f.MaxLen = most
	return f
}

func longText(key, label, effect string, at func(*Settings) *string) Field {
	f := newField(KindLongText, key, label, effect, "", at)
	f.MaxLen = longTextMax
	return f
}

// model is a field that may be empty, unless it is required.
func model(key, label, effect, value string, at func(*Settings) *string) Field {
	f := newField(KindModel, key, label, effect, value, at)
	f.Optional, f.MaxLen = true, modelMaxLen
	return f
}

func address(key, label, effect string, at func(*Settings) *string) Field {
	f := newField(KindURL, key, label, effect, "", at)
	f.MaxLen = pathMaxLen
	return f
}

func secret(name, label, effect string) Field {
	return Field{Key: name, Label: label, Effect: effect, Kind: KindSecret}
}

func newField[T any](kind FieldKind, key, label, effect string, value T, at func(*Settings) *T) Field {
	return Field{
		Key: key, Label: label, Effect: effect, Kind: kind, Default: value, target: func(s *Settings) any { return at(s) },
	}
}

// checked returns the field with a check of its values.
func (f Field) checked(check func(string) error) Field {
	f.check = check
	return f
}

func (f Field) required() Field {
	f.Optional = false
	return f
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

// Get returns f's value in s: a bool, int, string or time.Duration by f's Kind, and nil for a [KindSecret].
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
