package frame

import (
	"context"
	"encoding/json"
	"fmt"
)

// Locator names an element of a frame: by the local name of its ref, or by a selector.
type Locator struct {
	Ref      string `json:"ref,omitempty"`
	Selector string `json:"selector,omitempty"`
}

// CallFunction calls a function of the caller's in the frame's world and decodes what it returns, or resolves to, into R. The
// function gets the elements that are named, in the same order, null for each that is not there, and arg. If the document
// goes away meanwhile the error is cdp.ErrDocumentGone.
func CallFunction[R any](ctx context.Context, f *Frame, fn string, elements []Locator, arg any) (R, error) {
	return RunScript[R](ctx, f, Script{Fn: "apply", Arg: arg, source: fn, elements: elements})
}

// callSource returns the source text of an Apply, run where our scripts are installed.
func (sc Script) callSource(w *isolatedWorld, arg []byte) string {
	elements := []byte("[]")
	if len(sc.elements) > 0 {
		if text, err := json.Marshal(sc.elements); err == nil {
			elements = text
		}
	}
	return fmt.Sprintf("globalThis.__clank?.token === %[1]q ? (async () => "+
		"({value: await (%[2]s)(%[3]s.map((e) => __clank(%[1]q, 'element', e)), %[4]s)}))() : {lost: true}", w.token, sc.source, elements, arg)
}
