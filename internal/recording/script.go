package recording

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/llm/plain"
	"clank/sessions"
)

// Script is a saved script.
type Script struct {
	Name   string        `json:"name"`
	About  []string      `json:"about,omitempty"` // comment lines: description and source
	Values []ScriptValue `json:"values,omitempty"`
	Steps  []string      `json:"steps"` // in the syntax of llm/plain, with {name} as placeholder of a value
}

// ScriptValue is a parameter of a script.
type ScriptValue struct {
	Name string `json:"name"`
	Text string `json:"text"` // the value in the recorded run
}

// Limits of scripts.
const (
	maxScript = 256 << 10 // bytes
	maxSteps  = 500
)

var (
	scriptName     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })
	valueName      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`) })
	setLinePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^set ([a-z][a-z0-9_]{0,31}) = (.*)$`)
	})
	valuePlaceholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-z][a-z0-9_]{0,31}\}`) })
)

// CheckScriptName returns an error if name is not a valid script name.
func CheckScriptName(name string) error {
	if !scriptName().MatchString(name) {
		return fmt.Errorf("script %q: a name has small letters, digits, - and _, such as find-lamps", name)
	}
	return nil
}

// String returns the text of the script, which [ParseScript] parses.
func (s Script) String() string {
	var b strings.Builder
	for _, l := range s.About {
		b.WriteString("# " + strings.Join(strings.Fields(l), " ") + "\n")
	}
	for _, v := range s.Values {
		b.WriteString("set " + v.Name + " = " + quoteValue(v.Text) + "\n")
	}
	for _, l := range s.Steps {
		b.WriteString(l + "\n")
	}
	return b.String()
}

// ParseScript parses a script: comment lines with #, lines such as `set search = "lamp"`, and one step per line.
func ParseScript(name, text string) (Script, error) {
	s := Script{Name: name}
	if len(text) > maxScript {
		return s, fmt.Errorf("script %s: it is larger than the %s that a script may have", name,
			sessions.SizeText(maxScript))
	}
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		set := setLinePattern().FindStringSubmatch(l)
		switch {
		case l == "":
		case strings.HasPrefix(l, "#"):
			s.About = append(s.About, strings.TrimSpace(l[1:]))
		case set != nil && strings.HasPrefix(set[2], `"`):
			v, rest, err := unquoteValue(set[2])
			if err != nil || rest != "" {
				return s, fmt.Errorf("script %s: %q is not understood; write set %s = \"text\"", name, l, set[1])
			}
			s.Values = append(s.Values, ScriptValue{set[1], v})
		default:
			s.Steps = append(s.Steps, l)
		}
	}
	return s, s.check()
}

// check returns an error if the script cannot be run.
func (s Script) check() error {
	if len(s.Steps) == 0 || len(s.Steps) > maxSteps {
		return fmt.Errorf("script %s: it has %d steps, and needs 1 to %d", s.Name, len(s.Steps), maxSteps)
	}
	for i, v := range s.Values {
		if slices.ContainsFunc(s.Values[:i], func(o ScriptValue) bool { return o.Name == v.Name }) {
			return fmt.Errorf("script %s: the value %s is set twice", s.Name, v.Name)
		}
	}
	text, err := s.Fill("")
	if err != nil {
		return err
	}
	n, err := plain.CheckInstruction(text)
	if err != nil {
		return fmt.Errorf("script %s: %w", s.Name, err)
	}
	if n < len(s.Steps) {
		return fmt.Errorf("script %s: its %d lines are read as %d steps (is a quotation mark left open?)", s.Name,
			len(s.Steps), n)
	}
	return nil
}

// Fill returns the steps with their placeholders replaced: by the values in given (`search = desk, city = "Rome,
// Italy"`), otherwise by those of the script.
func (s Script) Fill(given string) (string, error) {
	list, err := readValues(given)
	if err != nil {
		return "", fmt.Errorf("script %s: %w", s.Name, err)
	}
	return s.FillWith(list)
}

// FillWith returns the steps with the values in list, and for the others those of the script.
func (s Script) FillWith(list []ScriptValue) (string, error) {
	values := make(map[string]string, len(s.Values))
	for _, v := range s.Values {
		values[v.Name] = v.Text
	}
	for _, v := range list {
		if strings.HasSuffix(v.Text, `\`) {
			const why = "script %s: the text of %s ends with a backslash, which no step can say"
			return "", fmt.Errorf(why, s.Name, v.Name)
		}
		if _, known := values[v.Name]; !known {
			return "", fmt.Errorf("script %s: it has no value %q (it has: %s)", s.Name, v.Name, s.names())
		}
		values[v.Name] = v.Text
	}
	steps := make([]string, len(s.Steps))
	for i, l := range s.Steps {
		steps[i] = valuePlaceholder().ReplaceAllStringFunc(l, func(p string) string {
			text, known := values[p[1:len(p)-1]]
			if !known {
				return p
			}
			return strings.ReplaceAll(text, `"`, `\"`)
		})
	}
	return strings.Join(steps, "\n"), nil
}

func (s Script) names() string {
	if len(s.Values) == 0 {
		return "none"
	}
	var names []string
	for _, v := range s.Values {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// readValues parses `search = desk, city = "Rome, Italy"`.
func readValues(given string) ([]ScriptValue, error) {
	var list []ScriptValue
	for rest := strings.TrimSpace(given); rest != ""; {
		name, after, found := strings.Cut(rest, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !found || !valueName().MatchString(name) {
			return nil, fmt.Errorf("%q is not understood; write name = text, and a comma between two", rest)
		}
		after = strings.TrimSpace(after)
		v := ScriptValue{Name: name}
		if strings.HasPrefix(after, `"`) {
			var err error
			if v.Text, rest, err = unquoteValue(after); err != nil {
				return nil, err
			}
			rest = strings.TrimSpace(rest)
			if rest != "" && !strings.HasPrefix(rest, ",") {
				return nil, fmt.Errorf("%q is not understood after the text of %s", rest, name)
			}
			rest = strings.TrimSpace(strings.TrimPrefix(rest, ","))
		} else {
			v.Text, rest, _ = strings.Cut(after, ",")
			v.Text, rest = strings.TrimSpace(v.Text), strings.TrimSpace(rest)
		}
		list = append(list, v)
	}
	return list, nil
}

// quoteValue returns text quoted on one line.
func quoteValue(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(text) + `"`
}

// unquoteValue parses a text written by quoteValue and returns the rest after it.
func unquoteValue(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", fmt.Errorf("%q: a quotation mark is not closed", s)
}
