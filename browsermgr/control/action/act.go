package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/page"
	"clank/browsermgr/transfer"
)

// Routes lists the routes by which something is done in a tab. evaluate is asked each time a client wants its JavaScript
// run; nil means yes.
func Routes(evaluate func() bool) []route.Route {
	if evaluate == nil {
		evaluate = func() bool { return true }
	}
	act := func(ctx context.Context, c *route.Call) (actAnswer, error) { return act(ctx, c, evaluate) }
	return []route.Route{route.On("POST", "/act", "Does something in a tab, or a batch of things.", act).Takes(actFields()...)}
}

func actFields() []route.Field {
	kinds := []string{string(kindBatch)}
	for kind := range readers {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(kinds)
	return []route.Field{
		{Name: "kind", Kind: "string", About: "what to do", Required: true, Enum: kinds},
		route.Tab(), route.Limit(),
		route.May("ref", "string", "element, by a ref of a snapshot"), route.May("selector", "string", "element, by a CSS selector"),
		route.May("doubleClick", "boolean", "click, clickCoords"), route.OneOf("button", "click, clickCoords", "left", "right", "middle"),
		route.May("modifiers", "array", "click: Alt, Control, ControlOrMeta, Meta, Shift"), route.May("delayMs", "integer", "click, clickCoords, press"),
		route.May("x", "number", "clickCoords, in CSS pixels of the viewport"), route.May("y", "number", "clickCoords"),
		route.May("endX", "number", "dragCoords"), route.May("endY", "number", "dragCoords"),
		route.May("text", "string", "type: what to write; wait: what to wait for"), route.May("submit", "boolean", "type: press Enter afterwards"),
		route.May("slowly", "boolean", "type: key by key"), route.May("key", "string", "press, such as Enter or Control+Shift+T"),
		route.May("startRef", "string", "drag"), route.May("startSelector", "string", "drag"), route.May("endRef", "string", "drag"), route.May("endSelector", "string", "drag"),
		route.May("values", "array", "select: values or labels of options"), route.May("fields", "objects", "fill: {ref, type, value}"),
		route.May("width", "integer", "resize"), route.May("height", "integer", "resize"),
		route.May("direction", "string", "scroll: up, down, left or right"), route.May("pixels", "integer", "scroll"),
		route.May("timeMs", "integer", "wait"), route.May("textGone", "string", "wait"), route.May("url", "string", "wait: exact or glob"),
		route.OneOf("loadState", "wait", "load", "domcontentloaded", "networkidle"), route.May("fn", "string", "evaluate, wait: JavaScript"),
		route.May("actions", "objects", "batch: bodies of this kind"), route.May("stopOnError", "boolean", "batch: end at the first failure, which is the default"),
	}
}

type actAnswer struct {
	reply.Target

	URL             string              `json:"url,omitempty"`
	Result          json.RawMessage     `json:"result,omitempty"`
	Results         []entryAnswer       `json:"results,omitempty"`
	Aborted         *aborted            `json:"aborted,omitempty"`
	Downloads       []transfer.Download `json:"downloads,omitempty"`
	BlockedByDialog bool                `json:"blockedByDialog,omitempty"`
	BrowserState    *desk.State         `json:"browserState,omitempty"`
}

// act follows the order of checks of the contract.
func act(ctx context.Context, c *route.Call, evaluate func() bool) (actAnswer, error) {
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
		if err := h.Permitted(ctx); err != nil {
			return actAnswer{}, err
		}
	}
	if err := checkTargets(h, a); err != nil {
		return actAnswer{}, err
	}
	if err := personal(h, a); err != nil {
		return actAnswer{}, err
	}
	return perform(ctx, performer{evaluate: evaluate, asker: c.Asker, held: h}, a)
}

func evaluateDisabled() error {
	return actError(http.StatusForbidden, codeEvaluate,
		errors.New("JavaScript of clients is switched off (browser.evaluateEnabled=false)"))
}

// checkTargets refuses an action, or an entry of a batch, that names another tab than the request.
func checkTargets(h *desk.Held, a action) error {
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

// perform does the action in the tab's turn and says what came of it.
func perform(ctx context.Context, p performer, a action) (actAnswer, error) {
	h := p.held
	answer := actAnswer{Target: h.Answer()}
	var did outcome
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
	case desk.PendingDialog(err):
		did.dialog = true
	case desk.IsBlocked(err):
		return answer, err
	case err != nil:
		return answer, operationFailed(a.Kind, err)
	}
	answer.Result, answer.Results, answer.Aborted, answer.Downloads = did.value, did.results, did.aborted, did.downloads
	if did.closed {
		return answer, nil
	}
	if h.Permitted(ctx) == nil {
		answer.URL = h.URL()
	}
	if did.dialog {
		answer.BlockedByDialog, answer.BrowserState = true, h.State()
	}
	return answer, nil
}

// operationFailed says that it was the action which failed, unless the cause lies elsewhere.
func operationFailed(kind page.Kind, err error) error {
	if _, told := errors.AsType[*reply.StatusError](err); told {
		return err
	}
	f := reply.Classify(err)
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
