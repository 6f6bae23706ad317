package control

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"
)

// jsonObject is a JSON object of the document.
type jsonObject = map[string]any

// OpenAPIDocument returns an OpenAPI 3.1 description of the routes, to be encoded as JSON. An empty version becomes
// "dev".
func OpenAPIDocument(routes []Route, version string) map[string]any {
	paths := jsonObject{}
	for _, r := range routes {
		item, ok := paths[r.Path].(jsonObject)
		if !ok {
			item = jsonObject{}
			paths[r.Path] = item
		}
		item[strings.ToLower(r.Method)] = openAPIOperation(r)
	}
	version = cmp.Or(version, "dev")
	return jsonObject{
		"openapi":  "3.1.0",
		"info":     jsonObject{"title": "clank browser control", "version": version},
		"paths":    paths,
		"security": []any{jsonObject{"token": []any{}}, jsonObject{"password": []any{}}, jsonObject{"basic": []any{}}},
		"components": jsonObject{
			"securitySchemes": jsonObject{
				"token":    jsonObject{"type": "http", "scheme": "bearer"},
				"password": jsonObject{"type": "apiKey", "in": "header", "name": "x-openclaw-password"},
				"basic":    jsonObject{"type": "http", "scheme": "basic"},
			},
			"schemas": jsonObject{"Error": openAPISchema(reflect.TypeFor[errorAnswer]())},
		},
	}
}

var profileParam = OptionalParam("profile", "string", "which profile; without, the default one")

var pathParamPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w+)\}`) })

func openAPIOperation(r Route) jsonObject {
	params := []any{}
	for _, m := range pathParamPattern().FindAllStringSubmatch(r.Path, -1) {
		params = append(params, jsonObject{
			"name": m[1], "in": "path", "required": true,
			"schema": jsonObject{"type": "string"},
		})
	}
	for _, f := range append([]Param{profileParam}, r.Query...) {
		params = append(params, jsonObject{
			"name": f.Name, "in": "query", "required": f.Required, "description": f.About,
			"schema": f.schema(),
		})
	}
	failed := jsonObject{"description": "why not", "content": jsonObject{
		"application/json": jsonObject{"schema": jsonObject{"$ref": "#/components/schemas/Error"}},
	}}
	op := jsonObject{"summary": r.About, "parameters": params, "responses": jsonObject{
		"200": jsonObject{
			"description": "done",
			"content":     jsonObject{"application/json": jsonObject{"schema": openAPISchema(r.Answer)}},
		}, "default": failed,
	}}
	if len(r.Body) > 0 {
		properties, required := jsonObject{}, []string{}
		for _, f := range append([]Param{profileParam}, r.Body...) {
			s := f.schema()
			s["description"] = f.About
			properties[f.Name] = s
			if f.Required {
				required = append(required, f.Name)
			}
		}
		s := jsonObject{"type": "object", "properties": properties}
		if len(required) > 0 {
			s["required"] = required
		}
		op["requestBody"] = jsonObject{
			"required": len(required) > 0,
			"content":  jsonObject{"application/json": jsonObject{"schema": s}},
		}
	}
	return op
}

func (f Param) schema() jsonObject {
	switch f.Kind {
	case "array":
		return jsonObject{"type": "array", "items": jsonObject{"type": "string"}}
	case "objects":
		return jsonObject{"type": "array", "items": jsonObject{"type": "object"}}
	}
	s := jsonObject{"type": f.Kind}
	if f.Enum != nil {
		s["enum"] = f.Enum
	}
	if f.Max != 0 {
		s["maximum"] = f.Max
	}
	return s
}

// openAPISchema returns the JSON schema of values of a type.
func openAPISchema(t reflect.Type) jsonObject {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return jsonObject{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return jsonObject{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return openAPISchema(t.Elem())
	case reflect.String:
		return jsonObject{"type": "string"}
	case reflect.Bool:
		return jsonObject{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return jsonObject{"type": "number"}
	case reflect.Slice, reflect.Array:
		return jsonObject{"type": "array", "items": openAPISchema(t.Elem())}
	case reflect.Map:
		return jsonObject{"type": "object", "additionalProperties": openAPISchema(t.Elem())}
	case reflect.Struct:
		properties := jsonObject{}
		structFields(t, properties)
		return jsonObject{"type": "object", "properties": properties}
	default:
		return jsonObject{"type": "integer"}
	}
}

// structFields adds the schemas of a struct's fields, including embedded ones.
func structFields(t reflect.Type, into jsonObject) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			structFields(f.Type, into)
		case f.IsExported() && name != "-" && name != "":
			into[name] = openAPISchema(f.Type)
		case f.IsExported() && name == "":
			into[f.Name] = openAPISchema(f.Type)
		}
	}
}
