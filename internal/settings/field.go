package settings

import (
	"reflect"
	"slices"
	"time"
)

// FieldKind is the type of a field's values, and thus of its form control.
type FieldKind string

// Kinds of fields, with the JSON form of their values.
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
	KindChannels FieldKind = "channels" // ids of channels of a server, separated by spaces
	KindRoles    FieldKind = "roles"    // ids of roles of a server, separated by spaces
)

// Option is a choice of a [KindChoice].
type Option struct {
	Value string
	Label string
}

// Field describes a setting, for people and for the program.
type Field struct {
	Key      string
	Group    string
	Label    string
	Effect   string // one sentence: the effect of the setting
	Kind     FieldKind
	Default  any // bool, int, string or time.Duration, according to Kind; nil for a secret
	Min, Max int // limits of a number; of a duration, in milliseconds
	MaxLen   int // limit of a text, in characters
	Options  []Option
	Optional bool // a model may be empty

	check   func(string) error // additional check of a text or model; nil accepts anything
	renamed map[string]string  // former values of a choice and their current names

	path []int // index path of the value in Settings; nil for a secret
}

// at is a template: a pointer to one of its fields tells which value in Settings a row of the table refers to.
var at Settings

// settingPaths maps pointers into [at] to index paths in Settings.
var settingPaths = findPaths(reflect.ValueOf(&at).Elem(), nil, make(map[any][]int))

func findPaths(v reflect.Value, path []int, paths map[any][]int) map[any][]int {
	for i := range v.NumField() {
		here := append(slices.Clip(path), i)
		if f := v.Field(i); f.Kind() == reflect.Struct {
			findPaths(f, here, paths)
		} else {
			paths[f.Addr().Interface()] = here
		}
	}
	return paths
}

// inGroup returns fields that appear together under a heading.
func inGroup(name string, fields ...Field) []Field {
	for i := range fields {
		fields[i].Group = name
	}
	return fields
}

func toggle(key, label, effect string, value bool, at *bool) Field {
	return newField(KindToggle, key, label, effect, value, at)
}

func number(key, label, effect string, value, least, most int, at *int) Field {
	f := newField(KindNumber, key, label, effect, value, at)
	f.Min, f.Max = least, most
	return f
}

func duration(key, label, effect string, value, least, most time.Duration, at *time.Duration) Field {
	f := newField(KindDuration, key, label, effect, value, at)
	f.Min, f.Max = int(least.Milliseconds()), int(most.Milliseconds())
	return f
}

func choice(key, label, effect, value string, at *string, options ...Option) Field {
	f := newField(KindChoice, key, label, effect, value, at)
	f.Options = options
	return f
}

func text(key, label, effect, value string, most int, at *string) Field {
	f := newField(KindText, key, label, effect, value, at)
	f.MaxLen = most
	return f
}

func longText(key, label, effect string, at *string) Field {
	f := newField(KindLongText, key, label, effect, "", at)
	f.MaxLen = longTextMax
	return f
}

// model returns a field for a model name, which may be empty unless it is required.
func model(key, label, effect, value string, at *string) Field {
	f := newField(KindModel, key, label, effect, value, at)
	f.Optional, f.MaxLen = true, modelMaxLen
	return f
}

func address(key, label, effect string, at *string) Field {
	f := newField(KindURL, key, label, effect, "", at)
	f.MaxLen = pathMaxLen
	return f
}

func secret(name, label, effect string) Field {
	return Field{Key: name, Label: label, Effect: effect, Kind: KindSecret}
}

func newField[T any](kind FieldKind, key, label, effect string, value T, at *T) Field {
	return Field{
		Key: key, Label: label, Effect: effect, Kind: kind, Default: value, path: settingPaths[at],
	}
}

// checked returns the field with a check for its values.
func (f Field) checked(check func(string) error) Field {
	f.check = check
	return f
}

// alsoKnownAs returns the field with former names of its values, which are converted to the current ones.
func (f Field) alsoKnownAs(renamed map[string]string) Field {
	f.renamed = renamed
	return f
}

func (f Field) required() Field {
	f.Optional = false
	return f
}

// Fields returns all settings in the order of the settings page, grouped. The caller owns the slice.
func Fields() []Field { return append([]Field(nil), settingsTable...) }

// FindField returns the field with the given key or alias.
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

// commonKeys are the most important settings.
var commonKeys = []string{
	presetKey, agentKeys + "execution.model", assistantKeys + "model", "agentStack.runtimeConfig.models.compatibleBaseUrl",
	runtimeKeys + "enabled", runtimeKeys + "headed",
	"agentStack.runtimeConfig.budget.task", "agentStack.runtimeConfig.budget.user",
	"agentStack.runtimeConfig.budget.guild",
	"agentStack.runtimeConfig.budget.day",
	agentKeys + "maxStepsPerTask", agentKeys + "maxBrowseCallsPerHour", taskKeys + "maxAtOnce",
	"interaction.stop.allowedTo",
	approvalKeys + "buy", accessKeys + "guilds", accessKeys + "operators", "interaction.history.retentionDays",
	"interaction.voice.enabled", "interaction.share.publicUrl",
}

// IsCommon reports whether f is one of the most important settings.
func (f Field) IsCommon() bool { return slices.Contains(commonKeys, f.Key) }

// Get returns f's value in s: a bool, int, string or time.Duration by f's Kind, and nil for a [KindSecret].
func (f Field) Get(s Settings) any {
	if f.path == nil {
		return nil
	}
	return reflect.ValueOf(s).FieldByIndex(f.path).Interface()
}

// assign sets f's value in s to v, which has f's type.
func (f Field) assign(s *Settings, v any) {
	reflect.ValueOf(s).Elem().FieldByIndex(f.path).Set(reflect.ValueOf(v))
}
