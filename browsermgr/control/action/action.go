package action

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"clank/browsermgr/control/body"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
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

// The kinds that are more than one thing done to a page.
const (
	kindBatch page.Kind = "batch"
	kindClose           = page.KindClose
)

const (
	maxActions = 100
	maxNesting = 5
)

// action is one entry of a request to act, read and found to be well-formed.
type action struct {
	page.Action

	target      string   // the tab it names; "" for none
	actions     []action // of a batch
	stopOnError bool
	idle        bool // a wait for no time and nothing else
}

func actError(status int, code string, err error) error {
	return &reply.StatusError{Status: status, Code: code, Err: err}
}

// invalid gives an error of reading the code it is told with.
func invalid(err error) error {
	if _, ok := errors.AsType[*reply.StatusError](err); ok {
		return err
	}
	return actError(http.StatusBadRequest, codeInvalid, err)
}

// readers read what each kind needs into an action. What is missing is found by [page.Action.Validate].
var readers = map[page.Kind]func(*body.Fields, *action){
	page.KindClick:          readClick,
	page.KindClickCoords:    readClickCoords,
	page.KindDragCoords:     readDragCoords,
	page.KindType:           readType,
	page.KindPress:          readPress,
	page.KindHover:          readElement,
	page.KindScrollIntoView: readElement,
	page.KindScroll:         readScroll,
	page.KindDrag:           readDrag,
	page.KindSelect:         readSelect,
	page.KindFill:           readFill,
	page.KindResize:         readResize,
	page.KindWait:           readWait,
	page.KindEvaluate:       readEvaluate,
	page.KindBack:           func(*body.Fields, *action) {},
	page.KindForward:        func(*body.Fields, *action) {},
	page.KindReload:         func(*body.Fields, *action) {},
	kindClose:               func(*body.Fields, *action) {},
}

// withSelector are the kinds that an element may be named to by a selector.
var withSelector = []page.Kind{
	kindBatch, page.KindClick, page.KindDrag, page.KindHover, page.KindScrollIntoView, page.KindSelect, page.KindType, page.KindWait,
}

// readAction reads an action in the order of the contract: its kind, its fields, its selector.
func readAction(f *body.Fields) (action, error) {
	count := 0
	return readNested(f, 0, &count)
}

// readNested reads an action at a depth of batches and counts it.
func readNested(f *body.Fields, depth int, count *int) (action, error) {
	var a action
	a.Kind = page.Kind(f.String("kind"))
	read := readers[a.Kind]
	if read == nil && a.Kind != kindBatch {
		code := codeKind
		if depth > 0 {
			code = codeInvalid
		}
		return a, actError(http.StatusBadRequest, code, fmt.Errorf("kind is required, and has to be one of the known ones; got %q", a.Kind))
	}
	a.target = f.String("targetId")
	var err error
	if a.Kind == kindBatch {
		err = a.readBatch(f, depth, count)
	} else {
		err = a.readFields(f, read)
	}
	if err != nil {
		return a, invalid(err)
	}
	if f.Has("selector") && !slices.Contains(withSelector, a.Kind) {
		return a, actError(http.StatusBadRequest, codeSelector,
			fmt.Errorf("'selector' is not supported for %s: take a snapshot and use a ref of it", a.Kind))
	}
	return a, nil
}

func (a *action) readFields(f *body.Fields, read func(*body.Fields, *action)) error {
	a.TimeoutMs, _ = f.Positive("timeoutMs")
	read(f, a)
	if err := f.Err(); err != nil || a.Kind == kindClose || a.idle {
		return err
	}
	return a.Validate()
}

func (a *action) readBatch(f *body.Fields, depth int, count *int) error {
	entries, _ := f.Objects("actions")
	a.stopOnError = f.Flag("stopOnError", true)
	switch {
	case len(entries) == 0:
		return fault.Invalidf("batch requires actions")
	case depth >= maxNesting:
		return fault.Invalidf("batch exceeds maximum nesting depth of %d", maxNesting)
	}
	*count += len(entries)
	if *count > maxActions {
		return fault.Invalidf("batch exceeds maximum of %d actions", maxActions)
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
func (a action) evaluates() bool {
	return a.Kind == page.KindEvaluate || a.Kind == page.KindWait && a.Fn != ""
}

// targets lists the tabs that the entries of a batch name.
func (a action) targets() []string {
	var out []string
	for _, entry := range a.actions {
		if entry.target != "" {
			out = append(out, entry.target)
		}
		out = append(out, entry.targets()...)
	}
	return out
}
