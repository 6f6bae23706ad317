package record

import (
	"encoding/json"
	"strings"
)

// remoteObject is what is used of the protocol's Runtime.RemoteObject.
type remoteObject struct {
	Type                string          `json:"type"`
	Subtype             string          `json:"subtype"`
	ClassName           string          `json:"className"`
	Value               json.RawMessage `json:"value"`
	UnserializableValue string          `json:"unserializableValue"`
	Description         string          `json:"description"`
	Preview             *objectPreview  `json:"preview"`
}

// objectPreview is what is used of Runtime.ObjectPreview.
type objectPreview struct {
	Subtype    string            `json:"subtype"`
	Overflow   bool              `json:"overflow"`
	Properties []previewProperty `json:"properties"`
	Entries    []json.RawMessage `json:"entries"`
}

type previewProperty struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Value   string `json:"value"`
}

// text returns the value as a console would write it, on one line as far as possible.
func (o remoteObject) text() string {
	var s string
	switch {
	case o.Type == "undefined":
		return "undefined"
	case o.UnserializableValue != "":
		return o.UnserializableValue
	case len(o.Value) > 0:
		if json.Unmarshal(o.Value, &s) == nil && o.Value[0] == '"' {
			return s
		}
		return string(o.Value)
	case o.Preview != nil && o.Subtype != "error" && len(o.Preview.Entries) == 0 && needsPreview(o.Preview.Subtype):
		return o.Preview.text(o.ClassName)
	}
	return o.Description
}

// needsPreview says whether the preview tells more than the description.
func needsPreview(subtype string) bool { return subtype == "" || subtype == "array" }

func (p *objectPreview) text(class string) string {
	var b strings.Builder
	array := p.Subtype == "array"
	if class != "" && class != "Object" && class != "Array" {
		b.WriteString(class + " ")
	}
	b.WriteString(map[bool]string{false: "{", true: "["}[array])
	for i, prop := range p.Properties {
		if i > 0 {
			b.WriteString(", ")
		}
		if !array {
			b.WriteString(prop.Name + ": ")
		}
		if prop.Value == "" && prop.Type != "string" {
			b.WriteString(prop.Type)
		}
		b.WriteString(prop.Value)
	}
	if p.Overflow {
		b.WriteString(", …")
	}
	b.WriteString(map[bool]string{false: "}", true: "]"}[array])
	return b.String()
}
