package actiontable

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Spec describes one kind of action.
type Spec struct {
	Kind   Kind
	About  string     // what it does, for people and models
	In     Surface    // where it can be asked for; 0 is everywhere
	Params []Param    // what it takes besides kind and targetId
	Needs  [][]string // of each group at least one has to be given
	Limit  Limit      // zero: what it consists of has its own

	AtPoint  bool // it means what is at a point or has the focus, rather than an element of a snapshot
	MayClose bool // a page may answer it by closing itself

	Sketch string // its main fields, for the description of the browser tool

	Command string   // its command on the command line; "" for none
	Args    []string // the fields that are arguments of the command rather than flags, in order

	Tool       string   // what agents know it as; "" for those that they do not have
	ToolFields []string // the fields that they may give; those with a "!" they have to
	Label      string   // one line for people, see [Spec.Describe]
	ByRef      bool     // it does by refs what a mouse does badly: agents that see pictures have it, too
}

// Limit says how long an action may take: by default, and at the most when it says so itself.
type Limit struct{ Default, Longest time.Duration }

// shortestLimit is the least that an action can ask for.
const shortestLimit = 500 * time.Millisecond

// Limits of a batch, all batches in it included.
const (
	MaxBatchActions = 100
	MaxBatchDepth   = 5
)

// Surface names a place where actions are asked for.
type Surface uint8

// The surfaces.
const (
	API    Surface = 1 << iota // POST /act, and who speaks with it
	Window                     // a window of browsermgr, with arguments from a model
)

func (s Surface) covers(in Surface) bool { return s == 0 || s&in != 0 }

// Type is the type of a field.
type Type int

// The types. Texts lose the space around them unless the type says otherwise.
const (
	Text          Type = iota
	Verbatim           // text with the space around it
	Key                // a key or chord; a single space is the space bar
	Ref                // of an element in a snapshot
	Selector           // CSS
	Bool               // true or false
	Natural            // a whole number, not below zero
	Positive           // a whole number above zero
	Size               // a whole number above zero that cannot be left out
	Number             // any finite number
	Coordinate         // a finite number, not below zero, that cannot be left out
	Texts              // texts; blank ones are dropped
	VerbatimTexts      // texts as they are
	Modifiers          // names of modifier keys
	Points             // "x, y" each
	Entries            // of a fill: {ref, type, value}
	Requests           // actions
	Request            // an action
)

// String is the type in words of JSON: string, boolean, integer, number, object, array (of strings) or objects (an array of
// them).
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

// Effect tells how a field counts toward the time that its action may take.
type Effect int

// The effects.
const (
	NoEffect Effect = iota
	AddsTime        // its milliseconds are added, as often as the action is repeated
	HasLimit        // it has the limit to itself, as has each entry of a list
)

// Param is one field of an action.
type Param struct {
	Name     string
	Type     Type
	About    string
	Required bool     // it has to be there, though it may be empty
	Enum     []string // the values that it may have
	Ignored  bool     // a value that is not in Enum counts as none
	Max      int      // the largest number, by magnitude; 0 is any
	In       Surface  // where it can be given; 0 is wherever its action can
	Effect   Effect
	PerRune  time.Duration // added for each character
	OnlyIf   string        // the flag without which PerRune does not count
	flag     string        // on the command line, where it does not follow from Name
}

// Flag is the name of the field on the command line, such as delay-ms.
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

// Schema describes a value of the field as JSON Schema does.
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

// Specs lists all actions, the usual ones first. The list and what it holds is not to be changed.
var Specs = sync.OnceValue(func() []Spec {
	specs := table()
	for i := range specs {
		if specs[i].OnPage() {
			specs[i].Params = append(specs[i].Params, timeoutMs)
		}
	}
	return specs
})

// Lookup returns the description of a kind that can be asked for there.
func Lookup(in Surface, kind Kind) (*Spec, bool) {
	i := slices.IndexFunc(Specs(), func(s Spec) bool { return s.Kind == kind && s.In.covers(in) })
	if i < 0 {
		return nil, false
	}
	return &Specs()[i], true
}

// OnPage reports whether the action is one on the page itself, rather than on its window or several in a row.
func (s *Spec) OnPage() bool { return s.Limit != (Limit{}) }

// Kinds lists the kinds that can be asked for there.
func Kinds(in Surface) []string {
	var kinds []string
	for _, s := range Specs() {
		if s.In.covers(in) {
			kinds = append(kinds, string(s.Kind))
		}
	}
	return kinds
}

// ParamsIn lists what the action takes there.
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

// TakesSelector reports whether elements can be named to the action by CSS.
func (s *Spec) TakesSelector(in Surface) bool {
	return slices.ContainsFunc(s.ParamsIn(in), func(p Param) bool { return p.Type == Selector || p.Type == Requests })
}

// Tools lists the actions that agents have, each with the fields that they may give alone.
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

// ObjectSchema describes an object with these fields and no others as JSON Schema does.
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

// Describe returns the label with the values in their places: {in ref} is "in" and what show makes of the ref, or nothing if
// no ref is given. A list is shown text by text.
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

// Union lists every field of these kinds once, as one flat object needs them. What is said about a field begins with the
// kinds that take it, unless most do.
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

// addAbout adds what a kind says about a field to what others say about it.
func addAbout(said []string, kind, about string) []string {
	for i, s := range said {
		if kinds, same := strings.CutSuffix(s, ": "+about); same {
			said[i] = kinds + ", " + kind + ": " + about
			return said
		}
	}
	return append(said, kind+": "+about)
}
