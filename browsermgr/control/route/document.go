package route

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/control/reply"
)

// object is a JSON object of the document.
type object = map[string]any

// Document describes the routes as OpenAPI 3.1, as a value to be written as JSON. An empty version is told as "dev".
func Document(routes []Route, version string) map[string]any {
	paths := object{}
	for _, r := range routes {
		item, ok := paths[r.Path].(object)
		if !ok {
			item = object{}
			paths[r.Path] = item
		}
		item[strings.ToLower(r.Method)] = operation(r)
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
			"schemas": object{"Error": schemaOf(reflect.TypeFor[reply.Problem]())},
		},
	}
}

var profileField = May("profile", "string", "which profile; without, the default one")

var inPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w+)\}`) })

func operation(r Route) object {
	params := []any{}
	for _, m := range inPath().FindAllStringSubmatch(r.Path, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, f := range append([]Field{profileField}, r.Query...) {
		params = append(params, object{"name": f.Name, "in": "query", "required": f.Required, "description": f.About, "schema": f.schema()})
	}
	failed := object{"description": "why not", "content": object{
		"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}},
	}}
	op := object{"summary": r.About, "parameters": params, "responses": object{
		"200": object{"description": "done", "content": object{"application/json": object{"schema": schemaOf(r.Answer)}}}, "default": failed,
	}}
	if len(r.Body) > 0 {
		properties, required := object{}, []string{}
		for _, f := range append([]Field{profileField}, r.Body...) {
			s := f.schema()
			s["description"] = f.About
			properties[f.Name] = s
			if f.Required {
				required = append(required, f.Name)
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

func (f Field) schema() object {
	switch f.Kind {
	case "array":
		return object{"type": "array", "items": object{"type": "string"}}
	case "objects":
		return object{"type": "array", "items": object{"type": "object"}}
	}
	s := object{"type": f.Kind}
	if f.Enum != nil {
		s["enum"] = f.Enum
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
