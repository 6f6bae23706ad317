package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"clank/browsermgr/fault"
)

// Fields reads the fields of one object. The first thing that is wrong is kept, and told by Err: a handler reads all it
// needs and asks once. It is for one goroutine.
type Fields struct {
	values map[string]any
	asked  map[string]struct{}
	err    error
}

// New reads the fields of a decoded JSON object. Numbers may be json.Number or float64.
func New(values map[string]any) *Fields {
	return &Fields{values: values, asked: map[string]struct{}{}}
}

// Query reads the parameters of an address. Of those given more than once the first counts.
func Query(q url.Values) *Fields {
	values := make(map[string]any, len(q))
	for name, given := range q {
		if len(given) > 0 {
			values[name] = given[0]
		}
	}
	return New(values)
}

// Decode reads a JSON document. One that is not an object has no fields; an empty one is none. The error wraps
// [fault.ErrInvalid].
func Decode(data []byte) (*Fields, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return New(nil), nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		return nil, fault.Invalidf("the body is not JSON: %v", err)
	}
	object, _ := value.(map[string]any)
	return New(object), nil
}

// Err is the first thing that was wrong with what was read; nil if nothing was.
func (f *Fields) Err() error { return f.err }

// Fail notes that something is wrong, unless something is already. err wraps [fault.ErrInvalid].
func (f *Fields) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Asked lists the names that were read or looked for, sorted.
func (f *Fields) Asked() []string { return slices.Sorted(maps.Keys(f.asked)) }

// Has says whether the field is there, whatever it holds.
func (f *Fields) Has(name string) bool {
	_, ok := f.look(name)
	return ok
}

func (f *Fields) look(name string) (any, bool) {
	f.asked[name] = struct{}{}
	v, ok := f.values[name]
	return v, ok
}

func (f *Fields) failf(format string, args ...any) {
	f.Fail(fault.Invalidf(format, args...))
}

// Raw is the decoded value of a field, nil if absent.
func (f *Fields) Raw(name string) any {
	v, _ := f.look(name)
	return v
}

// Object is a field that holds an object; false if it does not.
func (f *Fields) Object(name string) (*Fields, bool) {
	object, ok := f.Raw(name).(map[string]any)
	if !ok {
		return nil, false
	}
	return New(object), true
}

// Objects are the entries of a list; those that are no objects have no fields. False if the field holds no list.
func (f *Fields) Objects(name string) ([]*Fields, bool) {
	list, ok := f.Raw(name).([]any)
	if !ok {
		return nil, false
	}
	out := make([]*Fields, len(list))
	for i, v := range list {
		object, _ := v.(map[string]any)
		out[i] = New(object)
	}
	return out, true
}

// Map is a field that holds an object, as it is; false if it does not.
func (f *Fields) Map(name string) (map[string]any, bool) {
	m, ok := f.Raw(name).(map[string]any)
	return m, ok
}

// String is the text of a field without surrounding space; "" if there is none. Numbers and booleans are written out.
func (f *Fields) String(name string) string {
	text, _ := f.Text(name)
	return strings.TrimSpace(text)
}

// Text is the text of a field as it is, and whether there is one. Numbers and booleans are written out.
func (f *Fields) Text(name string) (string, bool) { return Text(f.Raw(name)) }

// Required is String, but it is an error if it is blank.
func (f *Fields) Required(name string) string {
	text := f.String(name)
	if text == "" {
		f.failf("%s is required", name)
	}
	return text
}

// Strings is a list of texts without surrounding space. Blank ones, and what is no text, are left out.
func (f *Fields) Strings(name string) []string {
	var out []string
	for _, text := range f.Texts(name) {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// Texts is a list of texts as they are. What is no text is left out.
func (f *Fields) Texts(name string) []string {
	list, _ := f.Raw(name).([]any)
	var out []string
	for _, v := range list {
		if text, ok := Text(v); ok {
			out = append(out, text)
		}
	}
	return out
}

// Text writes out a decoded text, number or boolean; false for anything else.
func Text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return plain(v), true
	case float64:
		return fmt.Sprint(v), true
	}
	return "", false
}
