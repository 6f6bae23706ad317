package action

import (
	"slices"

	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/outline"
)

// Validate reports the first thing that is wrong with the action, as an error that wraps [fault.ErrInvalid].
func Validate(a Action) error {
	if err := a.Check(); err != nil {
		return err
	}
	spec, _ := actiontable.Lookup(actiontable.API|actiontable.Window, a.Kind)
	for _, p := range spec.Params {
		if err := checkSyntax(a, p); err != nil {
			return err
		}
	}
	for _, f := range a.NamedFields() {
		if _, err := outline.ParseRef(f.Ref); err != nil && a.Kind == actiontable.KindFill {
			return err
		}
	}
	return nil
}

// checkSyntax checks what the value of a field is made of.
func checkSyntax(a Action, p actiontable.Param) (err error) {
	text, _ := a.Value(p.Name).(string)
	switch {
	case p.Type == actiontable.Ref && text != "":
		_, err = outline.ParseRef(text)
	case p.Type == actiontable.Key:
		_, err = frame.ParseChord(text)
	case p.Type == actiontable.Modifiers:
		_, err = frame.ModifierBits(a.Modifiers)
	case p.Type == actiontable.Points:
		_, err = dragPath(a)
	}
	return err
}

// isLoadState reports whether s is a load state that can be waited for.
func isLoadState(s string) bool { return slices.Contains(actiontable.LoadStates, s) }
