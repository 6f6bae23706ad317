package actiontable

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Spec describes a kind of action.
type Spec struct {
	Kind   Kind
	About  string     // description for people and models
	In     Surface    // where it is available; 0 means everywhere
	Params []Param    // fields besides kind and targetId
	Needs  [][]string // at least one field of each group is required
	Limit  Limit      // zero: the actions in it have their own

	AtPoint  bool // it applies to a point or the focus rather than an element of a snapshot
	MayClose bool // a page may close itself in response

	Sketch string // its main fields, for the description of the browser tool

	Command  string   // command of the command line; "" for none
	Args     []string // fields that are arguments of the command rather than flags, in order
	Done     string   // what the command prints on success, with its arguments for %s
	Examples []string // of the command

	Tool       string   // name of the agents' tool; "" for none
	ToolFields []string // fields of that tool; those with "!" are required
	Label      string   // one line for people; see [Spec.Describe]
	ByRef      bool     // easier with refs than with a mouse, so agents that see pictures have it too
	ReadOnly   bool     // it changes only what the window shows
}

// Limit is the time limit of an action: the default, and the maximum that a request may set.
type Limit struct{ Default, Longest time.Duration }

// shortestLimit is the minimum that a request may set.
const shortestLimit = 500 * time.Millisecond

// Limits of a batch, including nested ones.
const (
	MaxBatchActions = 100
	MaxBatchDepth   = 5
)

// Surface is an interface through which actions are requested.
type Surface uint8

// Values of Surface.
const (
	API    Surface = 1 << iota // POST /act and its clients
	Window                     // a browsermgr.Window, with arguments from a model
)

func (s Surface) covers(in Surface) bool { return s == 0 || s&in != 0 }

// Type is the type of a field.
type Type int

// Values of Type. Surrounding space is removed from texts unless the type says otherwise.
const (
	Text          Type = iota
	Verbatim           // text with its surrounding space
	Key                // a key or chord; a single space means the space bar
	Ref                // of an element in a snapshot
	Selector           // CSS
	Bool               // true or false
	Natural            // an integer, not negative
	Positive           // an integer above zero
	Size               // a required integer above zero
	Number             // any finite number
	Coordinate         // a required finite number, not negative
	Texts              // texts without blank ones
	VerbatimTexts      // texts as they are
	Modifiers          // names of modifier keys
	Points             // "x, y" each
	Entries            // of a fill: {ref, type, value}
	Requests           // actions
	Request            // an action
)

// String returns the type's name for JSON: string, boolean, integer, number, object, array (of strings) or objects (an
// array of objects).
func (t Type) String() string {
	switch t {
	case Bool:
		return "boolean"
	case Natural, Positive, Size:
		return "integer"
	case Number, Coordinate:
		return "number"
	case Texts, VerbatimTexts, Modifiers, Points:
		return "array"
	case Entries, Requests:
		return "objects"
	case Request:
		return "object"
	default:
		return "string"
	}
}

// Effect says how a field affects the time limit of its action.
type Effect int

// Values of Effect.
const (
	NoEffect Effect = iota
	AddsTime        // its milliseconds are added for each repetition of the action
	HasLimit        // it, or each entry of a list, has the full limit
)

// Param is one field of an action.
type Param struct {
	Name     string
	Type     Type
	About    string
	Required bool     // must be present, but may be empty
	Enum     []string // allowed values
	Ignored  bool     // a value that is not in Enum counts as absent
	Max      int      // maximum absolute value; 0 means none
	In       Surface  // where it is available; 0 means wherever its action is
	Effect   Effect
	PerRune  time.Duration // added to the limit for each character
	OnlyIf   string        // flag that must be set for PerRune to apply
	flag     string        // flag on the command line, if it cannot be derived from Name
}

// Flag returns the name of the field's flag on the command line, such as delay-ms.
func (p Param) Flag() string {
	if p.flag != "" {
		return p.flag
	}
	var b strings.Builder
	for _, r := range p.Name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Schema returns the JSON Schema of the field's values.
func (p Param) Schema() map[string]any {
	schema := map[string]any{"type": p.Type.String()}
	switch p.Type.String() {
	case "array":
		schema["items"] = map[string]any{"type": "string"}
	case "objects":
		schema["type"], schema["items"] = "array", map[string]any{"type": "object"}
	case "integer":
		schema["minimum"] = 1
		if p.Type == Natural {
			schema["minimum"] = 0
		}
	}
	if p.Enum != nil {
		schema["enum"] = p.Enum
	}
	if p.Max != 0 {
		schema["maximum"] = p.Max
	}
	if p.About != "" {
		schema["description"] = p.About
	}
	return schema
}

// Specs lists all actions, the common ones first. The caller must not modify the list.
var Specs = sync.OnceValue(func() []Spec {
	specs := table()
	for i := range specs {
		if specs[i].OnPage() {
			specs[i].Params = append(specs[i].Params, timeoutMs)
		}
	}
	return specs
})

// Lookup returns the description of a kind available at that surface.
func Lookup(in Surface, kind Kind) (*Spec, bool) {
	i := slices.IndexFunc(Specs(), func(s Spec) bool { return s.Kind == kind && s.In.covers(in) })
	if i < 0 {
		return nil, false
	}
	return &Specs()[i], true
}

// OnPage reports whether the action applies to the page itself, rather than to its window, and is not a batch.
func (s *Spec) OnPage() bool { return s.Limit != (Limit{}) }

// Kinds lists the kinds available at that surface.
func Kinds(in Surface) []string {
	var kinds []string
	for _, s := range Specs() {
		if s.In.covers(in) {
			kinds = append(kinds, string(s.Kind))
		}
	}
	return kinds
}

// ParamsIn lists the fields of the action at that surface.
func (s *Spec) ParamsIn(in Surface) []Param {
	return slices.DeleteFunc(slices.Clone(s.Params), func(p Param) bool { return !p.In.covers(in) })
}

// Param returns a field by its name.
func (s *Spec) Param(in Surface, name string) (Param, bool) {
	i := slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == name && p.In.covers(in) })
	if i < 0 {
		return Param{}, false
	}
	return s.Params[i], true
}

// TakesSelector reports whether the action accepts CSS selectors.
func (s *Spec) TakesSelector(in Surface) bool {
	return slices.ContainsFunc(s.ParamsIn(in), func(p Param) bool { return p.Type == Selector || p.Type == Requests })
}

// Tools lists the actions that agents have, each with only the fields of its tool.
var Tools = sync.OnceValue(func() []Spec {
	var tools []Spec
	for _, s := range Specs() {
		if s.Tool == "" {
			continue
		}
		var params []Param
		for _, name := range s.ToolFields {
			name, required := strings.CutSuffix(name, "!")
			p, _ := s.Param(Window, name)
			p.Required = required
			params = append(params, p)
		}
		s.About = strings.ToUpper(s.About[:1]) + s.About[1:] + "."
		s.Params, s.Needs = params, slices.Clone(s.Needs)
		for i, group := range s.Needs {
			s.Needs[i] = slices.DeleteFunc(slices.Clone(group), func(name string) bool {
				return !slices.ContainsFunc(params, func(p Param) bool { return p.Name == name })
			})
		}
		tools = append(tools, s)
	}
	return tools
})

// ObjectSchema returns the JSON Schema of an object with exactly these fields.
func ObjectSchema(params []Param) json.RawMessage {
	props, required := make(map[string]any, len(params)), []string{}
	for _, p := range params {
		props[p.Name] = p.Schema()
		if p.Required {
			required = append(required, p.Name)
		}
	}
	raw, err := json.Marshal(map[string]any{
		"type": "object", "properties": props, "required": required, "additionalProperties": false,
	})
	if err != nil {
		return json.RawMessage(`{"type":"object"}`) // strings and ints always marshal
	}
	return raw
}

var labelField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([^{}]*?)(\w+)\}`) })

// Describe returns the label with values inserted: {in ref} becomes "in" and what show returns for the ref, or nothing
// if there is no ref. Elements of a list are shown one by one.
func (s *Spec) Describe(values Values, show func(p Param, text string) string) string {
	return labelField().ReplaceAllStringFunc(s.Label, func(field string) string {
		m := labelField().FindStringSubmatch(field)
		p, _ := s.Param(Window, m[2])
		var shown []string
		if text, scalar := ScalarText(values[p.Name]); scalar && text != "" {
			shown = []string{show(p, text)}
		}
		for _, text := range values.Texts(p.Name) {
			shown = append(shown, show(p, text))
		}
		between := ", "
		if p.Type == Points {
			between = " to "
		}
		if len(shown) == 0 {
			return ""
		}
		return m[1] + strings.Join(shown, between)
	})
}

// Union lists every field of these kinds once, for one flat object. The description of a field begins with the kinds
// that have it, unless most do.
func Union(in Surface, kinds []string) []Param {
	var union []Param
	users := map[string][]string{}
	abouts := map[string][]string{} // as "kind, kind: about"
	for _, kind := range kinds {
		s, ok := Lookup(in, Kind(kind))
		if !ok {
			continue
		}
		for _, p := range s.ParamsIn(in) {
			users[p.Name] = append(users[p.Name], kind)
			i := slices.IndexFunc(union, func(u Param) bool { return u.Name == p.Name })
			if i < 0 {
				p.Required = false
				union = append(union, p)
				abouts[p.Name] = []string{kind + ": " + p.About}
				continue
			}
			if union[i].Max != p.Max {
				union[i].Max = 0
			}
			abouts[p.Name] = addAbout(abouts[p.Name], kind, p.About)
		}
	}
	const many = 4
	for i := range union {
		p := &union[i]
		if said := abouts[p.Name]; len(said) > 1 || len(users[p.Name]) < many {
			p.About = strings.TrimSuffix(strings.Join(said, "; "), ": ")
		}
	}
	return union
}

// addAbout adds a kind's description of a field to those of others.
func addAbout(said []string, kind, about string) []string {
	for i, s := range said {
		if kinds, same := strings.CutSuffix(s, ": "+about); same {
			said[i] = kinds + ", " + kind + ": " + about
			return said
		}
	}
	return append(said, kind+": "+about)
}
