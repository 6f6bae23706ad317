package settings

import "time"

// Kind says what values a field takes, and so how it is asked for.
type Kind string

// The kinds of field. The JSON form of each is given.
const (
	Toggle   Kind = "toggle"   // true or false
	Number   Kind = "number"   // a whole number
	Duration Kind = "duration" // a whole number of milliseconds
	Choice   Kind = "choice"   // one of Options, a string
	Text     Kind = "text"     // a string on one line
	LongText Kind = "longtext" // a string of several lines
	Model    Kind = "model"    // "provider:model", or "" where Optional
	URL      Kind = "url"      // an absolute http or https URL, or ""
	Secret   Kind = "secret"   // never stored: Key is the environment variable
)

// Option is one value of a [Choice].
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
	Kind     Kind
	Default  any // bool, int, string or time.Duration, by Kind; nil for a Secret
	Min, Max int // limits of a Number; of a Duration, in milliseconds
	MaxLen   int // limit of a text, in characters
	Options  []Option
	Optional bool // a Model may be empty

	check func(string) error // what else a Text or Model must be; nil: anything

	at func(*Settings) any // where the value lives: *bool, *int, *string or *time.Duration
}

// Fields returns the table of every setting, in the order of the settings page.
// Fields of one group stand together. The slice is the caller's.
func Fields() []Field { return append([]Field(nil), table...) }

// FieldOf returns the field with the given key, or with the key that it is another name of.
func FieldOf(key string) (Field, bool) {
	if other, ok := aliases[key]; ok {
		key = other
	}
	for _, f := range table {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// Get returns f's value in s: a bool, int, string or time.Duration by f's Kind,
// and nil for a [Secret].
func (f Field) Get(s Settings) any {
	if f.at == nil {
		return nil
	}
	switch p := f.at(&s).(type) {
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
	switch p := f.at(s).(type) {
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
