package browsercli

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"clank/internal/cmdline"
)

// input is what a command was given.
type input struct {
	command *command
	args    []string
	values  map[string]string                 // the command's own flags
	read    func(path string) ([]byte, error) // a file, or the standard input for "-"
}

// request is what a command asks the server.
type request struct {
	method, path string
	query        url.Values
	body         map[string]any
}

func (in *input) has(name string) bool { _, ok := in.values[name]; return ok }

func (in *input) text(name string) string { return in.values[name] }

func (in *input) on(name string) bool {
	on, _ := strconv.ParseBool(in.values[name])
	return on
}

// arg is the argument i, or "".
func (in *input) arg(i int) string {
	if i >= len(in.args) {
		return ""
	}
	return in.args[i]
}

// get asks with the flags as parameters. pairs are further names and values.
func (in *input) get(path string, pairs ...string) request {
	r := request{method: http.MethodGet, path: path, query: url.Values{}}
	for _, o := range in.command.options {
		if o.field != "" && in.has(o.name) {
			r.query.Set(o.field, in.text(o.name))
			if o.kind == toggle {
				r.query.Set(o.field, strconv.FormatBool(in.on(o.name)))
			}
		}
	}
	for pair := range slices.Chunk(pairs, 2) {
		r.query.Set(pair[0], pair[1])
	}
	return r
}

// post asks with the flags as fields of the body, besides those given.
func (in *input) post(path string, fields map[string]any) request {
	r := request{method: http.MethodPost, path: path, body: map[string]any{}}
	for _, o := range in.command.options {
		if o.field != "" && in.has(o.name) {
			r.body[o.field] = in.value(o)
		}
	}
	maps.Copy(r.body, fields)
	return r
}

// act asks for an action.
func (in *input) act(kind string, fields map[string]any) request {
	r := in.post("/act", fields)
	r.body["kind"] = kind
	return r
}

// value is a flag as JSON has it. Its form has been checked.
func (in *input) value(o option) any {
	given := in.text(o.name)
	switch o.kind {
	case toggle:
		return in.on(o.name)
	case integer:
		n, _ := strconv.Atoi(given)
		return n
	case decimal:
		f, _ := strconv.ParseFloat(given, 64)
		return f
	case list:
		return split(given)
	default:
		return given
	}
}

// split takes a list with commas apart; blanks are dropped.
func split(joined string) []string {
	parts := []string{}
	for part := range strings.SplitSeq(joined, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// number reads argument i as a number; what says what it is for.
func (in *input) number(i int, what string) (float64, error) {
	f, err := strconv.ParseFloat(in.arg(i), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, cmdline.Usagef("%s must be a number, not %q", what, in.arg(i))
	}
	return f, nil
}

// whole reads argument i as a positive whole number.
func (in *input) whole(i int, what string) (int, error) {
	n, err := strconv.ParseUint(in.arg(i), 10, 31)
	if err != nil || n == 0 {
		return 0, cmdline.Usagef("%s must be a positive whole number, not %q", what, in.arg(i))
	}
	return int(n), nil
}
