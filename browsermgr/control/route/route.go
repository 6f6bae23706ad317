package route

import (
	"context"
	"reflect"
)

// Route is one entry of the table that makes the server and its OpenAPI document.
type Route struct {
	Method string
	Path   string  // of net/http.ServeMux, without {$}
	About  string  // what it does, in a sentence
	Query  []Field // besides profile; those of the path are in the path
	Body   []Field // besides profile
	Answer reflect.Type
	// Handle answers a request with a value that is written as JSON; nil if it has answered itself.
	Handle func(ctx context.Context, c *Call) (any, error)
}

// Field describes what a request carries under a name.
type Field struct {
	Name     string
	Kind     string // string, integer, number, boolean, object, array (of strings), objects (an array of them)
	About    string
	Required bool
	Enum     []string // the values it may have; nil for any
}

// On makes a route whose answer is described by the type of what its handler returns.
func On[R any](method, path, about string, handle func(context.Context, *Call) (R, error)) Route {
	return Route{
		Method: method, Path: path, About: about, Answer: reflect.TypeFor[R](),
		Handle: func(ctx context.Context, c *Call) (any, error) { return handle(ctx, c) },
	}
}

// Params gives the route with what its query carries.
func (r Route) Params(fields ...Field) Route {
	r.Query = fields
	return r
}

// Takes gives the route with what its body carries.
func (r Route) Takes(fields ...Field) Route {
	r.Body = fields
	return r
}

// Need is a field that a request has to carry.
func Need(name, kind, about string) Field {
	return Field{Name: name, Kind: kind, About: about, Required: true}
}

// May is a field that a request may carry.
func May(name, kind, about string) Field { return Field{Name: name, Kind: kind, About: about} }

// OneOf is a field that a request may carry, with one of the values.
func OneOf(name, about string, values ...string) Field {
	return Field{Name: name, Kind: "string", About: about, Enum: values}
}

// Tab is the field that names a tab.
func Tab() Field {
	return May("targetId", "string", "which tab: its tabId, label, targetId or a beginning of that; without, the one used last")
}

// Limit is the field that bounds the time of a request.
func Limit() Field { return May("timeoutMs", "integer", "how long it may take, in milliseconds") }
