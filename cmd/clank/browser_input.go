package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clank/browsermgr/address"

	"github.com/spf13/pflag"
)

// commandInput is the input of a command.
type commandInput struct {
	command   *browserCommand
	args      []string
	flags     *pflag.FlagSet                    // including the command's own
	read      func(path string) ([]byte, error) // reads a file, or standard input for "-"
	stopped   func() error                      // returns why the command is canceled, or nil
	home      string                            // clank's home directory
	uploadDir string                            // directory of copies for the server; "" if there are none
}

// controlRequest is a request to the server.
type controlRequest struct {
	method, path string
	query        url.Values
	body         map[string]any
}

// checkText returns an error for text that is not UTF-8, which encoding it as JSON would change.
func (r controlRequest) checkText() error {
	if r.query != nil && !utf8.ValidString(fmt.Sprint(r.query)) {
		return usagef("an argument is not valid UTF-8; nothing was sent")
	}
	for name, value := range r.body {
		if !utf8.ValidString(fmt.Sprintf("%s", value)) {
			return usagef("%s is not valid UTF-8, and nothing was sent: convert it, for example with iconv -t UTF-8", name)
		}
	}
	return nil
}

func (in *commandInput) has(name string) bool { return in.flags.Changed(name) }

func (in *commandInput) text(name string) string { return in.flags.Lookup(name).Value.String() }

func (in *commandInput) isOn(name string) bool {
	on, _ := strconv.ParseBool(in.text(name))
	return on
}

// arg returns argument i, or "".
func (in *commandInput) arg(i int) string {
	if i >= len(in.args) {
		return ""
	}
	return in.args[i]
}

// getRequest returns a GET request with the flags as parameters. pairs are additional names and values.
func (in *commandInput) getRequest(path string, pairs ...string) controlRequest {
	r := controlRequest{method: http.MethodGet, path: path, query: url.Values{}}
	for _, o := range in.command.options {
		if o.field != "" && in.has(o.name) {
			r.query.Set(o.field, in.text(o.name))
			if o.kind == kindToggle {
				r.query.Set(o.field, strconv.FormatBool(in.isOn(o.name)))
			}
		}
	}
	for pair := range slices.Chunk(pairs, 2) {
		r.query.Set(pair[0], pair[1])
	}
	return r
}

// postRequest returns a POST request with the flags and fields as its body.
func (in *commandInput) postRequest(path string, fields map[string]any) controlRequest {
	r := controlRequest{method: http.MethodPost, path: path, body: map[string]any{}}
	for _, o := range in.command.options {
		if o.field != "" && in.has(o.name) {
			r.body[o.field] = in.value(o)
		}
	}
	maps.Copy(r.body, fields)
	return r
}

// buildGet returns a function that builds a GET request with the flags as parameters.
func buildGet(path string) func(*commandInput) (controlRequest, error) {
	return func(in *commandInput) (controlRequest, error) { return in.getRequest(path), nil }
}

// buildPost returns a function that builds a POST request with the flags and the given arguments as fields.
func buildPost(path string, fields ...string) func(*commandInput) (controlRequest, error) {
	return func(in *commandInput) (controlRequest, error) {
		r := in.postRequest(path, nil)
		for i, arg := range in.args[:min(len(in.args), len(fields))] {
			r.body[fields[i]] = arg
		}
		return r, nil
	}
}

// buildLoad returns a function that builds a POST request with the flags and an address, which needs no scheme.
func buildLoad(path string) func(*commandInput) (controlRequest, error) {
	return func(in *commandInput) (controlRequest, error) {
		r, err := buildPost(path, "url")(in)
		if whole, wrong := address.Parse(in.arg(0)); wrong == nil && !strings.Contains(in.arg(0), "://") {
			r.body["url"] = whole
		}
		return r, err
	}
}

// actRequest returns the request for an action.
func (in *commandInput) actRequest(kind string, fields map[string]any) controlRequest {
	r := in.postRequest("/act", fields)
	r.body["kind"] = kind
	return r
}

// value returns the JSON value of a flag. Its syntax has been checked.
func (in *commandInput) value(o browserOption) any {
	given := in.text(o.name)
	switch o.kind {
	case kindToggle:
		return in.isOn(o.name)
	case kindInteger:
		n, _ := strconv.Atoi(given)
		return n
	case kindDecimal:
		f, _ := strconv.ParseFloat(given, 64)
		return f
	case kindList:
		return splitList(given)
	default:
		return given
	}
}

// splitList splits a comma-separated list; empty entries are dropped.
func splitList(joined string) []string {
	parts := []string{}
	for part := range strings.SplitSeq(joined, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// number parses argument i as a number; what describes it in errors.
func (in *commandInput) number(i int, what string) (float64, error) {
	f, err := strconv.ParseFloat(in.arg(i), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, usagef("%s must be a number, not %q", what, in.arg(i))
	}
	return f, nil
}

// positiveInt parses argument i as a positive integer.
func (in *commandInput) positiveInt(i int, what string) (int, error) {
	n, err := strconv.ParseUint(in.arg(i), 10, 31)
	if err != nil || n == 0 {
		return 0, usagef("%s must be a positive whole number, not %q", what, in.arg(i))
	}
	return int(n), nil
}

// maxInputFile is the maximum size of an input file in bytes.
const maxInputFile = 1_000_000

// readInputFile reads a file, or stdin for "-", up to one byte more than [maxInputFile]. If a file cannot be read the
// error is a [usageError]. It returns when ctx ends; a pending read of stdin is abandoned.
func readInputFile(ctx context.Context, stdin io.Reader, path string) ([]byte, error) {
	from := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, usagef("%v", err)
		}
		defer f.Close()
		from = f
	}
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // a read of a terminal cannot be canceled, so the goroutine is abandoned
		data, err := io.ReadAll(io.LimitReader(from, maxInputFile+1))
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-done:
		if r.err != nil {
			return nil, usagef("read %s: %v", path, r.err)
		}
		return r.data, nil
	}
}
