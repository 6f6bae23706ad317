package control

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

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
	maxBatchActions = 100
	maxBatchNesting = 5
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

// kindReaders read what each kind needs into an action. What is missing is found by [page.Action.Validate].
var kindReaders = map[page.Kind]func(*RequestFields, *actRequest){
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
	page.KindBack:           func(*RequestFields, *actRequest) {},
	page.KindForward:        func(*RequestFields, *actRequest) {},
	page.KindReload:         func(*RequestFields, *actRequest) {},
	kindClose:               func(*RequestFields, *actRequest) {},
}

// selectorKinds are the kinds that an element may be named to by a selector.
var selectorKinds = []page.Kind{
	kindBatch, page.KindClick, page.KindDrag, page.KindHover, page.KindScrollIntoView, page.KindSelect, page.KindType, page.KindWait,
}

// readAction reads an action in the order of the contract: its kind, its fields, its selector.
func readAction(f *RequestFields) (actRequest, error) {
	count := 0
	return readNested(f, 0, &count)
}

// readNested reads an action at a depth of batches and counts it.
func readNested(f *RequestFields, depth int, count *int) (actRequest, error) {
	var a actRequest
	a.Kind = page.Kind(f.String("kind"))
	read := kindReaders[a.Kind]
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
		return a, invalidRequest(err)
	}
	if f.Has("selector") && !slices.Contains(selectorKinds, a.Kind) {
		return a, actError(http.StatusBadRequest, codeSelector,
			fmt.Errorf("'selector' is not supported for %s: take a snapshot and use a ref of it", a.Kind))
	}
	return a, nil
}

func (a *actRequest) readFields(f *RequestFields, read func(*RequestFields, *actRequest)) error {
	a.TimeoutMs, _ = f.Positive("timeoutMs")
	read(f, a)
	if err := f.Err(); err != nil || a.Kind == kindClose || a.noWait {
		return err
	}
	return a.Validate()
}

func (a *actRequest) readBatch(f *RequestFields, depth int, count *int) error {
	entries, _ := f.Objects("actions")
	a.stopOnError = f.Flag("stopOnError", true)
	switch {
	case len(entries) == 0:
		return fault.Invalidf("batch requires actions")
	case depth >= maxBatchNesting:
		return fault.Invalidf("batch exceeds maximum nesting depth of %d", maxBatchNesting)
	}
	*count += len(entries)
	if *count > maxBatchActions {
		return fault.Invalidf("batch exceeds maximum of %d actions", maxBatchActions)
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
	return a.Kind == page.KindEvaluate || a.Kind == page.KindWait && a.Fn != ""
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
