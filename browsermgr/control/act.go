package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
)

// actRoutes lists the routes for actions in a tab.
func (s *Server) actRoutes() []Route {
	p := actPerformer{settings: s.Settings}
	act := func(ctx context.Context, c *Call) (actAnswer, error) { return serveAct(ctx, c, p) }
	return []Route{NewRoute("POST", "/act", "Does something in a tab, or a batch of things.", act).WithBody(
		actFields()...)}
}

// actFields lists the fields of all kinds of actions, which form one flat object.
func actFields() []Param {
	kinds := actiontable.Kinds(actiontable.API)
	fields := []Param{{Name: "kind", Kind: "string", About: "what to do", Required: true, Enum: kinds}, tabParam()}
	for _, p := range actiontable.Union(actiontable.API, kinds) {
		fields = append(fields, Param{Name: p.Name, Kind: p.Type.String(), About: p.About, Enum: p.Enum, Max: p.Max})
	}
	return fields
}

type actAnswer struct {
	TargetAnswer

	URL             string           `json:"url,omitempty"`
	Result          json.RawMessage  `json:"result,omitempty"`
	Results         []entryAnswer    `json:"results,omitempty"`
	Aborted         *abortedAnswer   `json:"aborted,omitempty"`
	Downloads       []files.Download `json:"downloads,omitempty"`
	Notes           []string         `json:"notes,omitempty"` // side effects: downloads, new tabs, dialogs
	BlockedByDialog bool             `json:"blockedByDialog,omitempty"`
	NotDone         bool             `json:"notDone,omitempty"` // the dialog was open before: nothing was done
	BrowserState    *browserState    `json:"browserState,omitempty"`
}

// serveAct checks in the order of the contract.
func serveAct(ctx context.Context, c *Call, p actPerformer) (actAnswer, error) {
	a, err := readAction(c.Body)
	if err != nil {
		return actAnswer{}, err
	}
	if a.evaluates() && !p.settings.EvaluateEnabled() {
		return actAnswer{}, evaluateDisabled()
	}
	// A number is not a tab name, but in the body it is a mismatch.
	name, _ := c.Body.Raw("targetId").(string)
	h, err := c.Tab(ctx, name)
	if err != nil {
		return actAnswer{}, err
	}
	defer h.Release()
	if a.Kind != actiontable.KindResize && a.Kind != actiontable.KindClose {
		if err := h.CheckPolicy(ctx); err != nil {
			return actAnswer{}, err
		}
	}
	if err := checkTargets(h, a); err != nil {
		return actAnswer{}, err
	}
	if err := checkPersonalBrowser(h, a); err != nil {
		return actAnswer{}, err
	}
	p.approver, p.held = c.Approver, h
	return performInTurn(ctx, p, a)
}

func evaluateDisabled() error {
	return actError(http.StatusForbidden, codeEvaluate,
		errors.New("JavaScript of clients is switched off (browser.evaluateEnabled=false)"))
}

// checkTargets refuses an action, or an element of a batch, that names another tab than the request.
func checkTargets(h *heldTab, a actRequest) error {
	if a.target != "" && !h.Is(a.target) {
		return actError(http.StatusForbidden, codeMismatch, errors.New("action targetId must match request targetId"))
	}
	for _, name := range a.targets() {
		if !h.Is(name) {
			return actError(http.StatusForbidden, codeMismatch,
				errors.New("batched action targetId must match request targetId"))
		}
	}
	return nil
}

// performInTurn runs the action when no other request acts in the tab, and describes its outcome. Closing the tab ends
// what others do in it.
func performInTurn(ctx context.Context, p actPerformer, a actRequest) (actAnswer, error) {
	h := p.held
	answer := actAnswer{TargetAnswer: h.TargetAnswer()}
	var did actOutcome
	run := p.runSingle
	if a.Kind == actiontable.KindBatch {
		run = p.batch
	}
	act := func() (err error) { did, err = run(ctx, a); return err }
	var err error
	if a.Kind == actiontable.KindClose {
		err = act()
	} else {
		err = h.Exclusively(ctx, act)
	}
	switch {
	case isPendingDialog(err):
		did.dialog, answer.NotDone = true, true
	case IsNavigationBlocked(err):
		return answer, err
	case err != nil:
		return answer, operationFailed(a.Kind, err)
	}
	answer.Result, answer.Results, answer.Aborted, answer.Downloads = did.value, did.results, did.aborted, did.downloads
	answer.Notes = did.notes
	if did.closed {
		return answer, nil
	}
	if h.CheckPolicy(ctx) == nil {
		answer.URL = h.URL()
	}
	if did.dialog {
		answer.BlockedByDialog, answer.BrowserState = true, h.BrowserState()
	}
	return answer, nil
}

// operationFailed marks an error as a failure of the action itself, unless it has another cause.
func operationFailed(kind actiontable.Kind, err error) error {
	if _, told := errors.AsType[*StatusError](err); told {
		return err
	}
	f := ClassifyError(err)
	switch f.Status {
	case http.StatusBadRequest:
		f.Code = codeInvalid
	case http.StatusInternalServerError:
		f.Code = codeOperation
	}
	if kind == actiontable.KindBatch {
		f.Err = fmt.Errorf("batch: %w", err)
	}
	return &f
}

// checkPersonalBrowser refuses what the contract excludes in a person's own browser. Other things that the contract
// lets servers refuse are supported: buttons, modifiers, several values, timeouts and waiting for an idle network.
func checkPersonalBrowser(h *heldTab, a actRequest) error {
	if !h.Lease.Joined() {
		return nil
	}
	refuse := func(what, instead string) error {
		return actError(http.StatusNotImplemented, codePersonal,
			fmt.Errorf("%s is not supported for existing-session profiles such as %q: %s", what, h.Profile.Name, instead))
	}
	selector := a.StartSelector != "" || a.EndSelector != "" || a.Selector != "" && a.Kind != actiontable.KindWait
	switch {
	case a.Kind == actiontable.KindBatch:
		return refuse("batch", "send its actions one by one")
	case a.Kind == actiontable.KindDragCoords:
		return refuse("dragCoords", "use drag with refs")
	case selector:
		return refuse(string(a.Kind)+" by selector", "take a snapshot and use a ref of it")
	case a.Kind == actiontable.KindType && a.Slowly:
		return refuse("type slowly", "leave slowly out")
	case a.Kind == actiontable.KindPress && a.DelayMs > 0:
		return refuse("press with delayMs", "leave delayMs out")
	}
	return nil
}

// Error codes of POST /act.
const (
	codeKind      = "ACT_KIND_REQUIRED"
	codeInvalid   = "ACT_INVALID_REQUEST"
	codeSelector  = "ACT_SELECTOR_UNSUPPORTED"
	codeEvaluate  = "ACT_EVALUATE_DISABLED"
	codeMismatch  = "ACT_TARGET_ID_MISMATCH"
	codeOperation = "ACT_OPERATION_FAILED"
	codePersonal  = "ACT_EXISTING_SESSION_UNSUPPORTED"
)

// actRequest is a parsed, well-formed action.
type actRequest struct {
	page.Action

	target      string       // the tab it names; "" for none
	actions     []actRequest // of a batch
	stopOnError bool
	noWait      bool // a wait of zero time without a condition
}

func actError(status int, code string, err error) error {
	return &StatusError{Status: status, Code: code, Err: err}
}

// invalidRequest adds the error code for invalid fields.
func invalidRequest(err error) error {
	if _, ok := errors.AsType[*StatusError](err); ok {
		return err
	}
	return actError(http.StatusBadRequest, codeInvalid, err)
}

// readAction reads an action in the order of the contract: kind, fields, selector.
func readAction(f *RequestFields) (actRequest, error) {
	count := 0
	return readNested(f, 0, &count)
}

// readNested reads an action at a nesting depth of batches, and counts it.
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

// readBatch reads the actions of a batch.
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

// evaluates reports whether the action runs JavaScript of the client.
func (a actRequest) evaluates() bool {
	return a.Kind == actiontable.KindEvaluate || a.Kind == actiontable.KindWait && a.Fn != ""
}

// targets lists the tabs named by the actions of a batch.
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
