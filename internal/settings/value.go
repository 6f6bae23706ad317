package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"clank/internal/untrusted"
	"clank/sessions/access"
)

// FieldError is the reason why a value was refused, worded for the person who entered it.
type FieldError struct {
	Key   string `json:"key"`
	Value string `json:"value"`   // as entered, shortened
	Why   string `json:"message"` // "must be from 1 to 30"
}

func (e FieldError) Error() string { return fmt.Sprintf("%s = %s: %s", e.Key, e.Value, e.Why) }

// InvalidError lists all refused values. Nothing was changed.
type InvalidError struct {
	Fields []FieldError
}

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lines[i] = f.Error()
	}
	return "invalid settings: " + strings.Join(lines, "; ")
}

// ParseText converts text entered by a person to the JSON form of f's value, without checking it: "on" and "yes" for
// a toggle, "30s" or "30000" for a duration.
func (f Field) ParseText(text string) json.RawMessage {
	t := strings.TrimSpace(text)
	switch f.Kind {
	case KindToggle:
		switch strings.ToLower(t) {
		case "true", "on", "yes", "1":
			return json.RawMessage("true")
		case "false", "off", "no", "0":
			return json.RawMessage("false")
		}
	case KindNumber, KindDuration:
		if n, err := strconv.Atoi(t); err == nil {
			return json.RawMessage(strconv.Itoa(n))
		}
		if d, err := time.ParseDuration(t); err == nil && f.Kind == KindDuration {
			return json.RawMessage(strconv.FormatInt(d.Milliseconds(), 10))
		}
	default:
	}
	raw, _ := json.Marshal(text) // a string always marshals
	return raw
}

// JSON returns the stored form of f's value in s, and nil for a [KindSecret].
func (f Field) JSON(s Settings) json.RawMessage { return encodeValue(f.Get(s)) }

func encodeValue(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	if d, ok := v.(time.Duration); ok {
		v = d.Milliseconds()
	}
	raw, _ := json.Marshal(v) // bool, int64, int and string always marshal
	return raw
}

// Limits describes the valid values of f: "1 to 30", "5 s to 2 min", "at most 120 characters". It is empty if there
// is no limit.
func (f Field) Limits() string {
	switch f.Kind {
	case KindNumber:
		return fmt.Sprintf("%d to %d", f.Min, f.Max)
	case KindDuration:
		return fmt.Sprintf("%s to %s", humanMillis(f.Min), humanMillis(f.Max))
	case KindText, KindLongText, KindModel, KindURL:
		return fmt.Sprintf("at most %d characters", f.MaxLen)
	case KindChoice:
		values := make([]string, len(f.Options))
		for i, o := range f.Options {
			values[i] = strconv.Quote(o.Value)
		}
		return "one of " + strings.Join(values, ", ")
	default:
		return ""
	}
}

// FormatValue returns f's value in s as people read it.
func (f Field) FormatValue(s Settings) string {
	switch v := f.Get(s).(type) {
	case bool:
		if v {
			return "on"
		}
		return "off"
	case int:
		return strconv.Itoa(v)
	case time.Duration:
		return humanMillis(int(v.Milliseconds()))
	case string:
		for _, o := range f.Options {
			if o.Value == v {
				return o.Label
			}
		}
		if v == "" {
			return "empty"
		}
		return v
	}
	return ""
}

// humanMillis formats milliseconds: "5 s", "2 min", "1,500 ms".
func humanMillis(ms int) string {
	switch {
	case ms >= minuteMs && ms%minuteMs == 0:
		return fmt.Sprintf("%d min", ms/minuteMs)
	case ms%secondMs == 0:
		return fmt.Sprintf("%d s", ms/secondMs)
	}
	return fmt.Sprintf("%d ms", ms)
}

// decode checks raw against f and returns its typed value. The error describes the valid values. providers are the
// known model providers; nil allows any.
func (f Field) decode(raw json.RawMessage, providers []string) (any, error) {
	switch f.Kind {
	case KindToggle:
		var v bool
		if json.Unmarshal(raw, &v) != nil || isNull(raw) {
			return nil, errors.New("must be true or false")
		}
		return v, nil
	case KindNumber, KindDuration:
		return f.decodeNumber(raw)
	case KindSecret:
		return nil, fmt.Errorf("is a secret: set the environment variable %s or %s_FILE and start clank again", f.Key, f.Key)
	case KindChoice:
		// strings, as other clients of the API send them
		if truth := string(bytes.TrimSpace(raw)); truth == "true" || truth == "false" {
			raw = json.RawMessage(strconv.Quote(truth))
		}
	default:
	}
	var v string
	if json.Unmarshal(raw, &v) != nil || isNull(raw) {
		return nil, errors.New("must be text")
	}
	return f.checkText(v, providers)
}

func (f Field) decodeNumber(raw json.RawMessage) (any, error) {
	var v float64
	if json.Unmarshal(raw, &v) != nil || isNull(raw) || v != math.Trunc(v) || v < float64(f.Min) || v > float64(f.Max) {
		if f.Kind == KindDuration {
			return nil, fmt.Errorf("must be %s (%d to %d milliseconds)", f.Limits(), f.Min, f.Max)
		}
		return nil, fmt.Errorf("must be a whole number, %s", f.Limits())
	}
	if f.Kind == KindDuration {
		return time.Duration(v) * time.Millisecond, nil
	}
	return int(v), nil
}

func (f Field) checkText(v string, providers []string) (any, error) {
	if f.Kind != KindLongText {
		v = strings.TrimSpace(v)
	}
	if f.Kind == KindChoice {
		v = cmp.Or(f.renamed[v], v)
		if !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == v }) {
			return nil, errors.New("must be " + f.Limits())
		}
		return v, nil
	}
	if n := utf8.RuneCountInString(v); n > f.MaxLen {
		return nil, fmt.Errorf("is %d characters long; %s fit", n, f.Limits())
	}
	if strings.ContainsFunc(v, func(r rune) bool {
		return unicode.IsControl(r) && (f.Kind != KindLongText || r != '\n' && r != '\t' && r != '\r')
	}) {
		return nil, errors.New("must not hold control characters")
	}
	switch f.Kind {
	case KindModel:
		if err := f.checkModel(v, providers); err != nil || f.check == nil {
			return v, err
		}
		return v, f.check(v)
	case KindURL:
		return v, checkURL(v)
	default:
		if f.check != nil {
			return v, f.check(v)
		}
		return v, nil
	}
}

// checkNodes checks lines of a name and an address.
func checkNodes(v string) error {
	for line := range strings.Lines(v) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return fmt.Errorf("must have a name and an address on each line, unlike %q", strings.TrimSpace(line))
		}
		u, err := url.Parse(f[1])
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("must have an address like https://node.example:18790 after the name %q; tokens come from the "+
				"environment", f[0])
		}
	}
	return nil
}

// parses returns a check that a value can be parsed.
func parses[T any](parse func(string) (T, error)) func(string) error {
	return func(v string) error {
		_, err := parse(v)
		return err
	}
}

// unreadableID replaces the contents of a list that cannot be parsed, because an empty list means everyone.
const unreadableID = "0"

func readIDs(text string) []string {
	ids, err := access.ParseIDs(text)
	if err != nil {
		return []string{unreadableID}
	}
	return ids
}

func readGrants(text string) []access.ProfileGrant {
	grants, err := access.ParseGrants(text)
	if err != nil {
		return []access.ProfileGrant{{To: []string{unreadableID}}}
	}
	return grants
}

func checkColor(v string) error {
	rgb, ok := strings.CutPrefix(v, "#")
	if _, err := strconv.ParseUint(rgb, 16, 24); !ok || err != nil || len(rgb) != 6 {
		return errors.New("must be a colour like #FF4500")
	}
	return nil
}

func (f Field) checkModel(v string, providers []string) error {
	if v == "" && f.Optional {
		return nil
	}
	provider, model, ok := strings.Cut(v, ":")
	if !ok || provider == "" || strings.TrimSpace(model) == "" || strings.ContainsAny(v, " \t") {
		return fmt.Errorf("must be provider:model, such as %s or openai:gpt-5.6", defaultModel)
	}
	if providers != nil && !slices.Contains(providers, provider) {
		return fmt.Errorf("names the unknown provider %q; there are %s", provider, strings.Join(providers, ", "))
	}
	return nil
}

func checkURL(v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("must be a URL that begins with http:// or https://")
	}
	if u.User != nil {
		return errors.New("must not hold a user name or password; keys come from the environment")
	}
	return nil
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

// shortValue shortens raw for an error message.
func shortValue(raw json.RawMessage) string {
	return untrusted.Shorten(strings.ToValidUTF8(string(raw), "?"), 60)
}
