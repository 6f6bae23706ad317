package llmtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaFile is OpenAI's published API description as JSON Schema, searched for in each folder above the working
// directory. It is not part of this repository; without it nothing is validated.
const schemaFile = "shared/openai/schema.json"

// schemas validates messages by the names of component schemas.
type schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// loadSchemas reads the file once; nil if there is none.
var loadSchemas = sync.OnceValues(func() (*schemas, error) {
	path, err := findUp(schemaFile)
	if err != nil || path == "" {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("openai.json", nullable(doc)); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return &schemas{compiler: c, compiled: map[string]*jsonschema.Schema{}}, nil
})

// CheckSchema validates JSON against the named component of OpenAI's API description, for other packages. Without
// that file it returns nil.
func CheckSchema(name string, data []byte) error {
	s, err := loadSchemas()
	if err != nil || s == nil {
		return err
	}
	return s.check(name, data)
}

// check validates JSON against the named component.
func (s *schemas) check(name string, data []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	schema := s.compiled[name]
	if schema == nil {
		schema, err = s.compiler.Compile("openai.json#/components/schemas/" + name)
		if err != nil {
			return fmt.Errorf("compile schema: %w", err)
		}
		s.compiled[name] = schema
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("not a %s: %w", name, err)
	}
	return nil
}

// nullable converts "nullable" of OpenAPI 3.0, which JSON Schema lacks, to an alternative of type null.
func nullable(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = nullable(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = nullable(v[k])
		}
		if v["nullable"] == true {
			delete(v, "nullable")
			return map[string]any{"anyOf": []any{v, map[string]any{"type": "null"}}}
		}
	}
	return v
}

// findUp returns the path of name below the working directory or the nearest parent that has it; "" if none has.
func findUp(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	for {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find %s: %w", name, err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}
