package control

import (
	"errors"
	"fmt"
	"net/http"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
)

// Codes of POST /act.
const (
	codeKind      = "ACT_KIND_REQUIRED"
	codeInvalid   = "ACT_INVALID_REQUEST"
	codeSelector  = "ACT_SELECTOR_UNSUPPORTED"
	codeEvaluate  = "ACT_EVALUATE_DISABLED"
	codeMismatch  = "ACT_TARGET_ID_MISMATCH"
	codeOperation = "ACT_OPERATION_FAILED"
	codePersonal  = "ACT_EXISTING_SESSION_UNSUPPORTED"
)

// actRequest is one entry of a request to act, read and found to be well-formed.
type actRequest struct {
	page.Action

	target      string       // the tab it names; "" for none
	actions     []actRequest // of a batch
	stopOnError bool
	noWait      bool // a wait for no time and nothing else
}

func actError(status int, code string, err error) error {
	return &StatusError{Status: status, Code: code, Err: err}
}

// invalidRequest gives an error of reading the code it is told with.
func invalidRequest(err error) error {
	if _, ok := errors.AsType[*StatusError](err); ok {
		return err
	}
	return actError(http.StatusBadRequest, codeInvalid, err)
}

// readAction reads an action in the order of the contract: its kind, its fields, its selector.
func readAction(f *RequestFields) (actRequest, error) {
	count := 0
	return readNested(f, 0, &count)
}

// readNested reads an action at a depth of batches and counts it.
func readNested(f *RequestFields, depth int, count *int) (actRequest, error) {
	kind := actiontable.Kind(f.String("kind"))
	spec, ok := actiontable.Lookup(actiontable.API, kind)
	if !ok {
		code := codeKind
		if depth > 0 {
			code = codeInvalid
		}
		return actRequest{}, actError(http.StatusBadRequest, code, actiontable.UnknownKind(actiontable.API, kind))
	}
	values, err := f.readAction(spec)
	a := actRequest{Action: spec.Action(values), target: f.String("targetId")}
	switch {
	case err != nil:
	case kind == actiontable.KindBatch:
		err = a.readBatch(f, depth, count)
	default:
		a.noWait = kind == actiontable.KindWait && values["timeMs"] == 0 && a.Conditions() == 0
		if !a.noWait {
			err = action.Validate(a.Action)
		}
	}
	if err != nil {
		return a, invalidRequest(err)
	}
	if f.Has("selector") && !spec.TakesSelector(actiontable.API) {
		return a, actError(http.StatusBadRequest, codeSelector,
			fmt.Errorf("'selector' is not supported for %s: take a snapshot and use a ref of it", a.Kind))
	}
	return a, nil
}

// readBatch reads the entries of a batch.
func (a *actRequest) readBatch(f *RequestFields, depth int, count *int) error {
	entries, _ := f.Objects("actions")
	a.stopOnError = f.Flag("stopOnError", true)
	switch {
	case len(entries) == 0:
		return fault.Invalidf("batch requires actions")
	case depth >= actiontable.MaxBatchDepth:
		return fault.Invalidf("batch exceeds maximum nesting depth of %d", actiontable.MaxBatchDepth)
	}
	*count += len(entries)
	if *count > actiontable.MaxBatchActions {
		return fault.Invalidf("batch exceeds maximum of %d actions", actiontable.MaxBatchActions)
	}
	for _, entry := range entries {
		one, err := readNested(entry, depth+1, count)
		if err != nil {
			return err
		}
		a.actions = append(a.actions, one)
	}
	return nil
}

// evaluates says whether the action runs the client's JavaScript.
func (a actRequest) evaluates() bool {
	return a.Kind == actiontable.KindEvaluate || a.Kind == actiontable.KindWait && a.Fn != ""
}

// targets lists the tabs that the entries of a batch name.
func (a actRequest) targets() []string {
	var out []string
	for _, entry := range a.actions {
		if entry.target != "" {
			out = append(out, entry.target)
		}
		out = append(out, entry.targets()...)
	}
	return out
}
