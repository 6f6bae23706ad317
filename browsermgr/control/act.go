package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"clank/browsermgr/page"
	"clank/browsermgr/transfer"
)

func actRoutes() []route {
	return []route{on("POST", "/act", "Does something in a tab, or a batch of things.", act).takes(actFields()...)}
}

func actFields() []field {
	kinds := []string{string(kindBatch)}
	for kind := range readers {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(kinds)
	return []field{
		{name: "kind", kind: "string", about: "what to do", required: true, enum: kinds},
		targetField, timeoutField,
		may("ref", "string", "element, by a ref of a snapshot"), may("selector", "string", "element, by a CSS selector"),
		may("doubleClick", "boolean", "click, clickCoords"), oneOf("button", "click, clickCoords", "left", "right", "middle"),
		may("modifiers", "array", "click: Alt, Control, ControlOrMeta, Meta, Shift"), may("delayMs", "integer", "click, clickCoords, press"),
		may("x", "number", "clickCoords, in CSS pixels of the viewport"), may("y", "number", "clickCoords"),
		may("endX", "number", "dragCoords"), may("endY", "number", "dragCoords"),
		may("text", "string", "type: what to write; wait: what to wait for"), may("submit", "boolean", "type: press Enter afterwards"),
		may("slowly", "boolean", "type: key by key"), may("key", "string", "press, such as Enter or Control+Shift+T"),
		may("startRef", "string", "drag"), may("startSelector", "string", "drag"), may("endRef", "string", "drag"), may("endSelector", "string", "drag"),
		may("values", "array", "select: values or labels of options"), may("fields", "objects", "fill: {ref, type, value}"),
		may("width", "integer", "resize"), may("height", "integer", "resize"),
		may("direction", "string", "scroll: up, down, left or right"), may("pixels", "integer", "scroll"),
		may("timeMs", "integer", "wait"), may("textGone", "string", "wait"), may("url", "string", "wait: exact or glob"),
		oneOf("loadState", "wait", "load", "domcontentloaded", "networkidle"), may("fn", "string", "evaluate, wait: JavaScript"),
		may("actions", "objects", "batch: bodies of this kind"), may("stopOnError", "boolean", "batch: end at the first failure, which is the default"),
	}
}

type actAnswer struct {
	targetAnswer

	URL             string              `json:"url,omitempty"`
	Result          json.RawMessage     `json:"result,omitempty"`
	Results         []entryAnswer       `json:"results,omitempty"`
	Aborted         *aborted            `json:"aborted,omitempty"`
	Downloads       []transfer.Download `json:"downloads,omitempty"`
	BlockedByDialog bool                `json:"blockedByDialog,omitempty"`
	BrowserState    *browserState       `json:"browserState,omitempty"`
}

// act follows the order of checks of the contract.
func act(ctx context.Context, c *call) (actAnswer, error) {
	a, err := readAction(c.body)
	if err != nil {
		return actAnswer{}, err
	}
	if a.evaluates() && !c.server.evaluateEnabled() {
		return actAnswer{}, evaluateDisabled()
	}
	// A number is no name of a tab, but it is a name that does not fit.
	name, _ := c.body.Raw("targetId").(string)
	h, err := c.tab(ctx, name)
	if err != nil {
		return actAnswer{}, err
	}
	defer h.release()
	if a.Kind != page.KindResize && a.Kind != kindClose {
		if err := c.server.permitted(ctx, h); err != nil {
			return actAnswer{}, err
		}
	}
	if err := h.checkTargets(a); err != nil {
		return actAnswer{}, err
	}
	if err := h.personal(a); err != nil {
		return actAnswer{}, err
	}
	return c.perform(ctx, h, a)
}

func (s *Server) evaluateEnabled() bool { return s.EvaluateEnabled == nil || s.EvaluateEnabled() }

func evaluateDisabled() error {
	return actError(http.StatusForbidden, codeEvaluate,
		errors.New("JavaScript of clients is switched off (browser.evaluateEnabled=false)"))
}

// checkTargets refuses an action, or an entry of a batch, that names another tab than the request.
func (h *held) checkTargets(a action) error {
	is := func(name string) bool {
		names, err := h.desk.book.Resolve(name)
		return err == nil && names.Target == h.tab.TargetID()
	}
	if a.target != "" && !is(a.target) {
		return actError(http.StatusForbidden, codeMismatch, errors.New("action targetId must match request targetId"))
	}
	for _, name := range a.targets() {
		if !is(name) {
			return actError(http.StatusForbidden, codeMismatch, errors.New("batched action targetId must match request targetId"))
		}
	}
	return nil
}

// perform does the action in the tab's turn and says what came of it.
func (c *call) perform(ctx context.Context, h *held, a action) (actAnswer, error) {
	answer := actAnswer{targetAnswer: h.answer()}
	p := performer{server: c.server, held: h}
	var did outcome
	err := h.exclusively(ctx, func() error {
		var err error
		if a.Kind == kindBatch {
			did, err = p.batch(ctx, a)
		} else {
			did, err = p.one(ctx, a)
		}
		return err
	})
	switch {
	case pendingDialog(err):
		did.dialog = true
	case isBlocked(err):
		return answer, err
	case err != nil:
		return answer, operationFailed(a.Kind, err)
	}
	answer.Result, answer.Results, answer.Aborted, answer.Downloads = did.value, did.results, did.aborted, did.downloads
	if did.closed {
		return answer, nil
	}
	if c.server.permitted(ctx, h) == nil {
		answer.URL = h.url()
	}
	if did.dialog {
		answer.BlockedByDialog, answer.BrowserState = true, h.state()
	}
	return answer, nil
}

// operationFailed says that it was the action which failed, unless the cause lies elsewhere.
func operationFailed(kind page.Kind, err error) error {
	if _, told := errors.AsType[*failure](err); told {
		return err
	}
	f := classify(err)
	switch f.status {
	case http.StatusBadRequest:
		f.code = codeInvalid
	case http.StatusInternalServerError:
		f.code = codeOperation
	}
	if kind == kindBatch {
		f.err = fmt.Errorf("batch: %w", err)
	}
	return &f
}
