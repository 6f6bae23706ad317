package control

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"clank/browsermgr"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/cancel"
)

// Call is a request to a route. It is not safe for concurrent use.
type Call struct {
	// Tabs knows the tabs of all profiles.
	Tabs *TabRegistry
	// Approver asks people to approve effects of the request; nil, for a person's own request, approves everything.
	Approver *requestApprover
	// Request is the request, whose body has been read.
	Request *http.Request
	// Writer is for handlers that write the response themselves.
	Writer http.ResponseWriter
	// Query reads the query parameters.
	Query *RequestFields
	// Body reads the JSON object; it is empty for methods without a body.
	Body *RequestFields

	profile string            // of the requester of a model's request; "" if the request chooses
	used    *browsermgr.Lease // last used by the request
}

// NewCall returns the Call for a request that passed through [ReadJSONBody].
func NewCall(tabs *TabRegistry, w http.ResponseWriter, r *http.Request) *Call {
	return &Call{Tabs: tabs, Request: r, Writer: w, Query: QueryFields(r.URL.Query()), Body: requestBody(r)}
}

// Err returns the first error in the fields read so far.
func (c *Call) Err() error { return errors.Join(c.Query.Err(), c.Body.Err()) }

// Profile returns the name of the request's profile: for a model's request that of its requester, otherwise the one
// named by the query or, failing that, the body; "" is the default profile.
func (c *Call) Profile() string {
	if name := cmp.Or(c.profile, c.Query.String("profile")); name != "" {
		return name
	}
	return c.Body.String("profile")
}

// resolveProfile determines the profile of a model's request.
func (c *Call) resolveProfile() (err error) {
	c.profile, err = c.Approver.profile(c.Profile())
	return err
}

// maxWait bounds the time a request may ask to wait.
const maxWait = 2 * time.Minute

// Timeout returns the body's timeoutMs, clamped to least and two minutes; if it is absent, otherwise.
func (c *Call) Timeout(otherwise, least time.Duration) time.Duration {
	ms := c.Body.Clamp("timeoutMs", int(otherwise.Milliseconds()), int(least.Milliseconds()), int(maxWait.Milliseconds()))
	return time.Duration(ms) * time.Millisecond
}

// Browser calls [TabRegistry.Browser] for the request's profile.
func (c *Call) Browser(ctx context.Context, launch bool) (*profileTabs, *browsermgr.Lease, error) {
	d, use, err := c.Tabs.Browser(ctx, c.Profile(), launch)
	if err == nil && c.Approver != nil {
		use.Model = c.Approver.id
	}
	c.used = use
	return d, use, err
}

// answerWriter masks in responses what people have typed into the tabs of the call's browser.
type answerWriter struct {
	http.ResponseWriter

	call *Call
}

func (w answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w answerWriter) Write(data []byte) (int, error) {
	n := len(data)
	if w.call.used != nil {
		for _, tab := range w.call.used.Browser.Tabs() {
			data = tab.Recordable(data)
		}
	}
	_, err := w.ResponseWriter.Write(data)
	return n, err
}

// recordModel records on whose behalf a model uses the tab. A person's own request changes nothing.
func (c *Call) recordModel(h *heldTab) {
	if c.Approver != nil || c.Request.Method != http.MethodGet {
		h.Lease.RecordModel(h.Tab.TargetID())
	}
}

// Tab returns the tab with that name or, for "", the one used last or a new one, and makes it the one used last. It
// starts the browser if necessary. It fails for a quarantined tab and if the request has invalid fields. The caller
// calls Release.
func (c *Call) Tab(ctx context.Context, name string) (*heldTab, error) {
	h, err := c.AnyTab(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := h.QuarantineError(); err != nil {
		h.Release()
		return nil, err
	}
	h.MarkUsed()
	return h, nil
}

// AnyTab is like Tab but allows a quarantined tab, and does not change which tab was used last.
func (c *Call) AnyTab(ctx context.Context, name string) (*heldTab, error) {
	if err := c.Err(); err != nil {
		return nil, err
	}
	d, use, err := c.Browser(ctx, true)
	if err != nil {
		return nil, err
	}
	h := &heldTab{Profile: d, Lease: use}
	if err := h.find(ctx, name); err != nil {
		use.Release()
		return nil, err
	}
	c.recordModel(h)
	return h, nil
}

// TargetTab is Tab for the request's targetId.
func (c *Call) TargetTab(ctx context.Context) (*heldTab, error) {
	switch c.Request.Method {
	case http.MethodGet, http.MethodHead:
		return c.Tab(ctx, c.Query.String("targetId"))
	}
	return c.Tab(ctx, c.Body.String("targetId"))
}

// PermittedTab is TargetTab for requests that read the page or act on it: it also checks the page's address against the
// policy.
func (c *Call) PermittedTab(ctx context.Context) (*heldTab, error) {
	h, err := c.TargetTab(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.CheckPolicy(ctx); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// ExistingTab returns the tab that pick finds in a running browser. The caller calls Release.
func (c *Call) ExistingTab(ctx context.Context, pick tabPicker) (*heldTab, error) {
	d, use, err := c.waitRunning(ctx)
	if err != nil {
		return nil, err
	}
	h := &heldTab{Profile: d, Lease: use}
	names, err := pick(d)
	if err == nil {
		err = h.setTab(names)
	}
	if err != nil {
		use.Release()
		return nil, err
	}
	c.recordModel(h)
	return h, nil
}

// reachDelay is how long a request waits for a browser that another request is starting, or that reconnects.
const reachDelay = 250 * time.Millisecond

// waitRunning calls Browser for requests that do not start one. If none is running, it retries once after a delay.
func (c *Call) waitRunning(ctx context.Context) (*profileTabs, *browsermgr.Lease, error) {
	d, use, err := c.Browser(ctx, false)
	if !errors.Is(err, browsermgr.ErrNotRunning) {
		return d, use, err
	}
	if err := cancel.Sleep(ctx, reachDelay); err != nil {
		return nil, nil, err
	}
	return c.Browser(ctx, false)
}

// RequestFields reads the fields of an object. It keeps the first error for Err, so that a handler reads all it needs
// and checks once. It is not safe for concurrent use.
type RequestFields struct {
	values map[string]any
	asked  map[string]struct{}
	err    error
	note   string // added to errors about fields that are missing
}

// newFields reads a decoded JSON object. Numbers may be json.Number or float64.
func newFields(values map[string]any) *RequestFields {
	return &RequestFields{values: values, asked: map[string]struct{}{}}
}

// QueryFields reads query parameters; of repeated ones the first.
func QueryFields(q url.Values) *RequestFields {
	f := newFields(make(map[string]any, len(q)))
	for name, given := range q {
		if len(given) == 0 {
			continue
		}
		if f.values[name] = given[0]; !utf8.ValidString(given[0]) {
			f.failf("%s is not valid UTF-8", name)
		}
	}
	return f
}

// DecodeFields parses a JSON document. One that is not an object has no fields, nor has an empty one. The error wraps
// [fault.ErrInvalid].
func DecodeFields(data []byte) (*RequestFields, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return newFields(nil), nil
	}
	if !utf8.Valid(data) { // json would read U+FFFD instead
		return nil, fault.Invalidf("the body is not valid UTF-8: convert it, for example with iconv -t UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("unexpected data after the value")
		}
	}
	if err != nil {
		return nil, fault.Invalidf("the body is not JSON: %v", err)
	}
	object, _ := value.(map[string]any)
	return newFields(object), nil
}

// Err returns the first error in the fields read so far.
func (f *RequestFields) Err() error { return f.err }

// Fail records an error unless there is one already. err wraps [fault.ErrInvalid].
func (f *RequestFields) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// NamesRead lists the names of the fields read or looked for, sorted.
func (f *RequestFields) NamesRead() []string { return slices.Sorted(maps.Keys(f.asked)) }

// Has reports whether the field is present, with any value.
func (f *RequestFields) Has(name string) bool {
	_, ok := f.lookup(name)
	return ok
}

func (f *RequestFields) lookup(name string) (any, bool) {
	f.asked[name] = struct{}{}
	v, ok := f.values[name]
	return v, ok
}

func (f *RequestFields) failf(format string, args ...any) {
	f.Fail(fault.Invalidf(format, args...))
}

// Raw returns the decoded value of a field; nil if absent.
func (f *RequestFields) Raw(name string) any {
	v, _ := f.lookup(name)
	return v
}

// Objects returns the elements of an array; those that are not objects have no fields. It returns false if the field is
// not an array.
func (f *RequestFields) Objects(name string) ([]*RequestFields, bool) {
	list, ok := f.Raw(name).([]any)
	if !ok {
		return nil, false
	}
	out := make([]*RequestFields, len(list))
	for i, v := range list {
		object, _ := v.(map[string]any)
		out[i] = newFields(object)
	}
	return out, true
}

// Map returns an object field; false if it is not an object.
func (f *RequestFields) Map(name string) (map[string]any, bool) {
	m, ok := f.Raw(name).(map[string]any)
	return m, ok
}

// String returns the text of a field without surrounding space; "" if absent. Numbers and booleans are formatted.
func (f *RequestFields) String(name string) string {
	text, _ := f.Text(name)
	return strings.TrimSpace(text)
}

// Text returns the text of a field, and whether there is one. Numbers and booleans are formatted.
func (f *RequestFields) Text(name string) (string, bool) { return actiontable.ScalarText(f.Raw(name)) }

// Required returns the text of a field as String does, and records an error if it is blank.
func (f *RequestFields) Required(name string) string {
	text := f.String(name)
	if text == "" {
		f.failf("%s is required%s", name, f.note)
	}
	return text
}

// Strings returns an array of strings, trimmed, without blank ones and without other types.
func (f *RequestFields) Strings(name string) []string {
	list, _ := f.Raw(name).([]any)
	var out []string
	for _, v := range list {
		if text, _ := actiontable.ScalarText(v); strings.TrimSpace(text) != "" {
			out = append(out, strings.TrimSpace(text))
		}
	}
	return out
}

// readAction reads the arguments of an action of this kind.
func (f *RequestFields) readAction(spec *actiontable.Spec) (actiontable.Values, error) {
	for _, p := range spec.ParamsIn(actiontable.API) {
		f.asked[p.Name] = struct{}{}
	}
	return spec.Read(actiontable.API, f.values)
}

// Bool returns a boolean field; see [actiontable.ParseBool]. ok is false for any other value.
func (f *RequestFields) Bool(name string) (value, ok bool) { return actiontable.ParseBool(f.Raw(name)) }

// Flag returns a boolean field, or otherwise if it is absent or invalid.
func (f *RequestFields) Flag(name string, otherwise bool) bool {
	if value, ok := f.Bool(name); ok {
		return value
	}
	return otherwise
}

// Positive returns an integer above zero. It returns false if the field is absent or, with an error in Err, malformed.
func (f *RequestFields) Positive(name string) (int, bool) {
	return f.integer(name, 1, "a positive integer.")
}

// NonNegative is Positive for integers from zero.
func (f *RequestFields) NonNegative(name string) (int, bool) {
	return f.integer(name, 0, "a non-negative integer.")
}

func (f *RequestFields) integer(name string, least float64, what string) (int, bool) {
	n, given, ok := actiontable.ParseInteger(f.Raw(name), least)
	if given && !ok {
		f.failf("%s must be %s", name, what)
	}
	return n, given && ok
}

// Number returns a finite number.
func (f *RequestFields) Number(name string) (float64, bool) {
	n, given, ok := actiontable.ParseNumber(f.Raw(name), false)
	if given && !ok {
		f.failf("%s must be a finite number.", name)
	}
	return n, given && ok
}

// Clamp returns a positive integer field clamped to least and most; if it is absent, otherwise.
func (f *RequestFields) Clamp(name string, otherwise, least, most int) int {
	n, ok := f.Positive(name)
	if !ok {
		return otherwise
	}
	return min(max(n, least), most)
}

// maxBodyBytes bounds the request body, in bytes.
const maxBodyBytes = 1 << 20

type bodyKey struct{}

// ReadJSONBody reads the JSON body of a request before any check of the request. A body of another content type is
// ignored.
func ReadJSONBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields, err := decodeBody(w, r)
		if err != nil {
			WriteError(w, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), bodyKey{}, fields)))
	})
}

func decodeBody(w http.ResponseWriter, r *http.Request) (*RequestFields, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(ioTimeout))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &StatusError{Status: http.StatusRequestEntityTooLarge, Err: errors.New("the body is larger than 1 MB")}
	}
	if err != nil {
		return nil, &StatusError{Status: http.StatusBadRequest, Err: errors.New("the body did not arrive whole")}
	}
	// From here on the connection is only read to detect that it was closed.
	_ = control.SetReadDeadline(time.Time{})
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "" && kind != "application/json" &&
		!strings.HasSuffix(kind, "+json") {
		fields := newFields(nil)
		if len(data) > 0 {
			fields.note = fmt.Sprintf("; the body was not read, since its Content-Type is %.60q, not application/json", kind)
		}
		return fields, nil
	}
	return DecodeFields(data)
}

// requestBody returns the body read by ReadJSONBody.
func requestBody(r *http.Request) *RequestFields {
	if fields, ok := r.Context().Value(bodyKey{}).(*RequestFields); ok {
		return fields
	}
	return newFields(nil)
}
