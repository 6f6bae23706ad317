package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
)

// actRoutes lists the routes by which something is done in a tab. evaluate is asked each time a client wants its JavaScript
// run; nil means yes.
func actRoutes(evaluate func() bool) []Route {
	if evaluate == nil {
		evaluate = func() bool { return true }
	}
	act := func(ctx context.Context, c *Call) (actAnswer, error) { return serveAct(ctx, c, evaluate) }
	return []Route{NewRoute("POST", "/act", "Does something in a tab, or a batch of things.", act).WithBody(actFields()...)}
}

func actFields() []Param {
	kinds := []string{string(kindBatch)}
	for kind := range kindReaders {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(kinds)
	return []Param{
		{Name: "kind", Kind: "string", About: "what to do", Required: true, Enum: kinds},
		tabParam(), timeoutParam(),
		OptionalParam("ref", "string", "element, by a ref of a snapshot"), OptionalParam("selector", "string", "element, by a CSS selector"),
		OptionalParam("doubleClick", "boolean", "click, clickCoords"), EnumParam("button", "click, clickCoords", "left", "right", "middle"),
		OptionalParam("modifiers", "array", "click: Alt, Control, ControlOrMeta, Meta, Shift"), OptionalParam("delayMs", "integer", "click, clickCoords, press"),
		OptionalParam("x", "number", "clickCoords, in CSS pixels of the viewport"), OptionalParam("y", "number", "clickCoords"),
		OptionalParam("endX", "number", "dragCoords"), OptionalParam("endY", "number", "dragCoords"),
		OptionalParam("text", "string", "type: what to write; wait: what to wait for"), OptionalParam("submit", "boolean", "type: press Enter afterwards"),
		OptionalParam("slowly", "boolean", "type: key by key"), OptionalParam("key", "string", "press, such as Enter or Control+Shift+T"),
		OptionalParam("startRef", "string", "drag"), OptionalParam("startSelector", "string", "drag"), OptionalParam("endRef", "string", "drag"), OptionalParam("endSelector", "string", "drag"),
		OptionalParam("values", "array", "select: values or labels of options"), OptionalParam("fields", "objects", "fill: {ref, type, value}"),
		OptionalParam("width", "integer", "resize"), OptionalParam("height", "integer", "resize"),
		OptionalParam("direction", "string", "scroll: up, down, left or right"), OptionalParam("pixels", "integer", "scroll"),
		OptionalParam("timeMs", "integer", "wait"), OptionalParam("textGone", "string", "wait"), OptionalParam("url", "string", "wait: exact or glob"),
		EnumParam("loadState", "wait", "load", "domcontentloaded", "networkidle"), OptionalParam("fn", "string", "evaluate, wait: JavaScript"),
		OptionalParam("actions", "objects", "batch: bodies of this kind"), OptionalParam("stopOnError", "boolean", "batch: end at the first failure, which is the default"),
	}
}

type actAnswer struct {
	TargetAnswer

	URL             string           `json:"url,omitempty"`
	Result          json.RawMessage  `json:"result,omitempty"`
	Results         []entryAnswer    `json:"results,omitempty"`
	Aborted         *abortedAnswer   `json:"aborted,omitempty"`
	Downloads       []files.Download `json:"downloads,omitempty"`
	BlockedByDialog bool             `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState    `json:"browserState,omitempty"`
}

// serveAct follows the order of checks of the contract.
func serveAct(ctx context.Context, c *Call, evaluate func() bool) (actAnswer, error) {
	a, err := readAction(c.Body)
	if err != nil {
		return actAnswer{}, err
	}
	if a.evaluates() && !evaluate() {
		return actAnswer{}, evaluateDisabled()
	}
	// A number is no name of a tab, but it is a name that does not fit.
	name, _ := c.Body.Raw("targetId").(string)
	h, err := c.Tab(ctx, name)
	if err != nil {
		return actAnswer{}, err
	}
	defer h.Release()
	if a.Kind != page.KindResize && a.Kind != kindClose {
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
	return performInTurn(ctx, actPerformer{evaluate: evaluate, approver: c.Approver, held: h}, a)
}

func evaluateDisabled() error {
	return actError(http.StatusForbidden, codeEvaluate,
		errors.New("JavaScript of clients is switched off (browser.evaluateEnabled=false)"))
}

// checkTargets refuses an action, or an entry of a batch, that names another tab than the request.
func checkTargets(h *heldTab, a actRequest) error {
	if a.target != "" && !h.Is(a.target) {
		return actError(http.StatusForbidden, codeMismatch, errors.New("action targetId must match request targetId"))
	}
	for _, name := range a.targets() {
		if !h.Is(name) {
			return actError(http.StatusForbidden, codeMismatch, errors.New("batched action targetId must match request targetId"))
		}
	}
	return nil
}

// performInTurn does the action in the tab's turn and says what came of it.
func performInTurn(ctx context.Context, p actPerformer, a actRequest) (actAnswer, error) {
	h := p.held
	answer := actAnswer{TargetAnswer: h.TargetAnswer()}
	var did actOutcome
	err := h.Exclusively(ctx, func() error {
		var err error
		if a.Kind == kindBatch {
			did, err = p.batch(ctx, a)
		} else {
			did, err = p.one(ctx, a)
		}
		return err
	})
	switch {
	case isPendingDialog(err):
		did.dialog = true
	case IsNavigationBlocked(err):
		return answer, err
	case err != nil:
		return answer, operationFailed(a.Kind, err)
	}
	answer.Result, answer.Results, answer.Aborted, answer.Downloads = did.value, did.results, did.aborted, did.downloads
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

// operationFailed says that it was the action which failed, unless the cause lies elsewhere.
func operationFailed(kind page.Kind, err error) error {
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
	if kind == kindBatch {
		f.Err = fmt.Errorf("batch: %w", err)
	}
	return &f
}
