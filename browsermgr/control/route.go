package control

import (
	"context"
	"reflect"
)

// Route is one entry of the table that makes the server and its OpenAPI document.
type Route struct {
	Method string
	Path   string  // of net/http.ServeMux, without {$}
	About  string  // what it does, in a sentence
	Query  []Param // besides profile; those of the path are in the path
	Body   []Param // besides profile
	Answer reflect.Type
	// Handle answers a request with a value that is written as JSON; nil if it has answered itself.
	Handle func(ctx context.Context, c *Call) (any, error)
}

// Param describes what a request carries under a name.
type Param struct {
	Name     string
	Kind     string // string, integer, number, boolean, object, array (of strings), objects (an array of them)
	About    string
	Required bool
	Enum     []string // the values it may have; nil for any
	Max      int      // the largest number; 0 for any
}

// NewRoute makes a route whose answer is described by the type of what its handler returns.
func NewRoute[R any](method, path, about string, handle func(context.Context, *Call) (R, error)) Route {
	return Route{
		Method: method, Path: path, About: about, Answer: reflect.TypeFor[R](),
		Handle: func(ctx context.Context, c *Call) (any, error) { return handle(ctx, c) },
	}
}

// WithQuery gives the route with what its query carries.
func (r Route) WithQuery(fields ...Param) Route {
	r.Query = fields
	return r
}

// WithBody gives the route with what its body carries.
func (r Route) WithBody(fields ...Param) Route {
	r.Body = fields
	return r
}

// RequiredParam returns a field that a request has to carry.
func RequiredParam(name, kind, about string) Param {
	return Param{Name: name, Kind: kind, About: about, Required: true}
}

// OptionalParam returns a field that a request may carry.
func OptionalParam(name, kind, about string) Param {
	return Param{Name: name, Kind: kind, About: about}
}

// EnumParam returns a field that a request may carry, with one of the values.
func EnumParam(name, about string, values ...string) Param {
	return Param{Name: name, Kind: "string", About: about, Enum: values}
}

// tabParam returns the field that names a tab.
func tabParam() Param {
	return OptionalParam("targetId", "string", "which tab: its tabId, label, targetId or a beginning of that; without, the one used last")
}

// timeoutParam returns the field that bounds the time of a request.
func timeoutParam() Param {
	return OptionalParam("timeoutMs", "integer", "how long it may take, in milliseconds")
}
