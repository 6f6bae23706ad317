package control

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"
)

// object is a JSON object of the document.
type object = map[string]any

func documentRoutes() []route {
	return []route{on("GET", "/openapi.json", "This interface as an OpenAPI 3.1 document.",
		func(_ context.Context, c *call) (object, error) { return document(table(), c.server.Version), nil })}
}

// document describes the routes as OpenAPI 3.1.
func document(routes []route, version string) object {
	paths := object{}
	for _, r := range routes {
		item, ok := paths[r.path].(object)
		if !ok {
			item = object{}
			paths[r.path] = item
		}
		item[strings.ToLower(r.method)] = operation(r)
	}
	if version == "" {
		version = "dev"
	}
	return object{
		"openapi":  "3.1.0",
		"info":     object{"title": "clank browser control", "version": version},
		"paths":    paths,
		"security": []any{object{"token": []any{}}, object{"password": []any{}}, object{"basic": []any{}}},
		"components": object{
			"securitySchemes": object{
				"token":    object{"type": "http", "scheme": "bearer"},
				"password": object{"type": "apiKey", "in": "header", "name": "x-openclaw-password"},
				"basic":    object{"type": "http", "scheme": "basic"},
			},
			"schemas": object{"Error": schemaOf(reflect.TypeFor[problem]())},
		},
	}
}

var profileField = may("profile", "string", "which profile; without, the default one")

var inPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w+)\}`) })

func operation(r route) object {
	params := []any{}
	for _, m := range inPath().FindAllStringSubmatch(r.path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, f := range append([]field{profileField}, r.query...) {
		params = append(params, object{"name": f.name, "in": "query", "required": f.required, "description": f.about, "schema": f.schema()})
	}
	failed := object{"description": "why not", "content": object{
		"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}},
	}}
	op := object{"summary": r.about, "parameters": params, "responses": object{
		"200": object{"description": "done", "content": object{"application/json": object{"schema": schemaOf(r.answer)}}}, "default": failed,
	}}
	if len(r.body) > 0 {
		properties, required := object{}, []string{}
		for _, f := range append([]field{profileField}, r.body...) {
			s := f.schema()
			s["description"] = f.about
			properties[f.name] = s
			if f.required {
				required = append(required, f.name)
			}
		}
		s := object{"type": "object", "properties": properties}
		if len(required) > 0 {
			s["required"] = required
		}
		op["requestBody"] = object{"required": len(required) > 0, "content": object{"application/json": object{"schema": s}}}
	}
	return op
}

func (f field) schema() object {
	switch f.kind {
	case "array":
		return object{"type": "array", "items": object{"type": "string"}}
	case "objects":
		return object{"type": "array", "items": object{"type": "object"}}
	}
	s := object{"type": f.kind}
	if f.enum != nil {
		s["enum"] = f.enum
	}
	return s
}

// schemaOf describes how a value of the type is written as JSON.
func schemaOf(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		properties := object{}
		structFields(t, properties)
		return object{"type": "object", "properties": properties}
	default:
		return object{"type": "integer"}
	}
}

// structFields adds the fields of a struct, those of embedded ones included.
func structFields(t reflect.Type, into object) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			structFields(f.Type, into)
		case f.IsExported() && name != "-" && name != "":
			into[name] = schemaOf(f.Type)
		case f.IsExported() && name == "":
			into[f.Name] = schemaOf(f.Type)
		}
	}
}
