package frame

import (
	"fmt"
	"strings"

	"clank/browsermgr/fault"
)

// ScriptError is an expected failure of one of our scripts.
type ScriptError struct {
	Code    string       `json:"code"`
	Role    string       `json:"role"`
	Name    string       `json:"name"`
	Hint    string       `json:"hint"`
	Kind    string       `json:"kind"`
	Text    string       `json:"text"`
	Options []string     `json:"options"`
	Ref     string       `json:"ref"` // of the element on top, in its document's own numbering
	By      *ScriptError `json:"by"`
}

func (f *ScriptError) Error() string { return "the page's script answered " + f.Code }

// subject describes the element: button "Buy".
func (f *ScriptError) subject() string {
	role := f.Role
	if role == "" || role == "generic" {
		role = "element"
		if f.Hint != "" {
			role, _, _ = strings.Cut(f.Hint, "#")
			role, _, _ = strings.Cut(role, ".")
		}
	}
	if f.Name == "" {
		return role
	}
	return fmt.Sprintf("%s %q", role, f.Name)
}

func (f *ScriptError) coveringElement() string {
	switch {
	case f.By == nil:
		return "lies outside of what can be scrolled into view, or something clips it: scroll, or close what hides it"
	case f.By.Role == "" || f.By.Role == "generic":
		return fmt.Sprintf("is covered by %s%s, which would get it: close or scroll away what covers it", f.By.Hint,
			f.By.shownRef())
	}
	return fmt.Sprintf("is covered by %s%s (%s), which would get it: close or scroll away what covers it", f.By.subject(),
		f.By.shownRef(), f.By.Hint)
}

func (f *ScriptError) shownRef() string {
	if f.Ref == "" {
		return ""
	}
	return fmt.Sprintf(" [ref=%s]", f.Ref)
}

// Explain describes the failure. given is the ref or selector that the caller used.
func (f *ScriptError) Explain(given string) error {
	stuck := func(why string) error {
		return fmt.Errorf("%s %s %s (%w)", given, f.subject(), why, fault.ErrNotInteractable)
	}
	switch f.Code {
	case "unknown":
		return fault.UnknownRef(given)
	case "gone":
		return fault.VanishedRef(given)
	case "selector":
		return fault.Invalidf("%s is not a CSS selector", given)
	case "missing":
		return fmt.Errorf("%s: not found or not visible (%w); take a new snapshot", given, fault.ErrNotInteractable)
	case "noframe":
		return fault.Invalidf("%s matches no frame of the page: take a new snapshot to see its frames", given)
	case "notframe":
		return fault.Invalidf("%s %s is not a frame", given, f.subject())
	case "hidden":
		return stuck("is not visible: open or scroll to what holds it, then take a new snapshot")
	case "clipped":
		return stuck("is not visible: the page clips it to a point, for screen readers; focus it and press Enter, or act " +
			"on what shows it")
	case "disabled":
		return stuck("is disabled")
	case "moving":
		return stuck("keeps moving")
	case "covered":
		return stuck(f.coveringElement())
	case "strayed":
		return fmt.Errorf("%s is not reached by the mouse, because its frame is not drawn there yet: wait, take a new "+
			"snapshot and try again (%w)", given, fault.ErrNotInteractable)
	case "away":
		return stuck("is not in view")
	}
	return f.explainValue(given)
}

// explainValue describes a failure with a value rather than with reaching the element.
func (f *ScriptError) explainValue(given string) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%s %s %s (%w)", given, f.subject(), fmt.Sprintf(format, args...), fault.ErrNotInteractable)
	}
	switch f.Code {
	case "readonly":
		return refuse("is read-only")
	case "nottext":
		if f.Kind == "select" {
			return refuse("is a list: use select")
		}
		if f.Role == "slider" || f.Role == "spinbutton" {
			return refuse("does not take text: click it and press ArrowUp or ArrowDown, or drag it")
		}
		return refuse("does not take text")
	case "steps":
		return refuse("%s", f.Text)
	case "refused":
		return refuse("is a %s field and does not take %q%s", f.Kind, f.Text, fieldFormat(f.Kind))
	case "reverted":
		return refuse("did not keep the text: the page set it back at once; take a new snapshot to see what it made of it")
	case "cut":
		return refuse("takes %s characters at most, and holds no more of the text than these", f.Text)
	case "notcheck":
		return refuse("cannot be checked or unchecked")
	case "unchecked":
		return refuse("was clicked and is still %s: take a new snapshot to see what the click did", f.Text)
	case "radio":
		return refuse("is a radio button: check another one of its group instead")
	case "notselect":
		return refuse("is not a list of options: click it, then click the option")
	case "closed":
		return refuse("closed before all options were selected: open it again and take a new snapshot")
	case "unpicked":
		return refuse("did not take clicks on its options: take a new snapshot to see what is selected")
	case "unopened":
		return refuse("opens no field: not by a click, Enter or a double click")
	case "nooption":
		return refuse("has no option %q; it has %s", f.Text, quoteList(f.Options))
	case "single":
		return refuse("takes one value only")
	}
	return f
}

// fieldFormat returns the format of a field's value (HTML, "Dates and times").
func fieldFormat(kind string) string {
	format := map[string]string{
		"date": "2026-01-31", "time": "14:05", "datetime-local": "2026-01-31T14:05", "month": "2026-01", "week": "2026-W05",
		"color": "#ff4500", "number": "12.5",
		"range": "12.5",
	}[kind]
	if format == "" {
		return ""
	}
	return ": write it as " + format
}

func quoteList(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(quoted, ", ")
}
