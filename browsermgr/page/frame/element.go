package frame

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/outline"

	"github.com/go-rod/rod/lib/proto"
)

// documentID identifies a document: its frame, the world's token, and the local number assigned by the script.
type documentID struct {
	frame *Frame
	world string // token of the world
	local int
}

// DocumentNumbers assigns the numbers of documents in refs: 1, 2, … in order of appearance; the main document is 0.
// Documents that are gone are dropped eventually, and their numbers are not reused. The zero value is ready for use. It
// is not safe for concurrent use.
type DocumentNumbers struct {
	last     int
	byKey    map[documentID]int
	byNumber map[int]documentID
	sweepAt  int // number of documents at which to drop those that are gone
}

// minSweepSize is the minimum number of documents before those that are gone are dropped.
const minSweepSize = 16

// Number returns the number of a document, given by its frame, the token of the world, and the script's local number.
func (n *DocumentNumbers) Number(f *Frame, token string, local int) int {
	key := documentID{frame: f, world: token, local: local}
	if k, ok := n.byKey[key]; ok {
		return k
	}
	if n.byKey == nil {
		n.byKey, n.byNumber, n.sweepAt = map[documentID]int{}, map[int]documentID{}, minSweepSize
	}
	if len(n.byKey) >= n.sweepAt {
		n.forgetGone()
	}
	n.last++
	n.byKey[key], n.byNumber[n.last] = n.last, key
	return n.last
}

// forgetGone drops documents that are gone, and sets sweepAt so that this is not done for each new one.
func (n *DocumentNumbers) forgetGone() {
	for number, key := range n.byNumber {
		if key.frame.DocumentToken() != key.world {
			delete(n.byNumber, number)
			delete(n.byKey, key)
		}
	}
	n.sweepAt = max(minSweepSize, 2*len(n.byKey))
}

// Element is a resolved ref: its frame and its local name there.
type Element struct {
	Frame    *Frame
	LocalRef string // ref in the frame; "" for an element given by selector
	GivenRef string // as given by the caller
}

// Find resolves a ref. Whether the element still exists is only known to the page.
func (n *DocumentNumbers) Find(main *Frame, ref string) (Element, error) {
	key, err := outline.ParseRef(ref)
	if err != nil {
		return Element{}, err
	}
	if key.Document == 0 {
		return Element{Frame: main, LocalRef: key.String(), GivenRef: key.String()}, nil
	}
	if key.Document > n.last {
		return Element{}, fault.UnknownRef(key.String())
	}
	doc, known := n.byNumber[key.Document]
	if !known || doc.frame.DocumentToken() != doc.world {
		return Element{}, wrongDocumentError(key)
	}
	local := outline.RefKey{Document: doc.local, Number: key.Number}
	return Element{Frame: doc.frame, LocalRef: local.String(), GivenRef: key.String()}, nil
}

// Object returns the element, or the first match of a selector if it has no ref, as an object in the world of our
// scripts, which the caller releases.
func (e Element) Object(ctx context.Context, selector string) (proto.RuntimeRemoteObjectID, error) {
	arg := Locator{Ref: e.LocalRef, Selector: selector}
	id, err := scriptObject(ctx, e.Frame, Script{Fn: "element", Arg: arg})
	if !errors.Is(err, cdp.ErrDocumentGone) {
		return id, err
	}
	if _, err = RunScript[json.RawMessage](ctx, e.Frame, Script{Fn: "describe", Arg: arg}); err != nil {
		return "", e.Explain(err) // it says why there is no element
	}
	return "", fault.VanishedRef(e.GivenRef)
}

// Explain describes an error of a script for the caller who named the element.
func (e Element) Explain(err error) error {
	if errors.Is(err, cdp.ErrDocumentGone) {
		return fmt.Errorf("%w %s: the page has navigated since; take a new snapshot", fault.ErrUnknownRef, e.GivenRef)
	}
	if f, ok := errors.AsType[*ScriptError](err); ok {
		if f.By != nil {
			f.By.Ref = e.shownRef(f.By.Ref)
		}
		return f.Explain(e.GivenRef)
	}
	return err
}

// shownRef returns the public ref of an element in the same document; "" for another document.
func (e Element) shownRef(local string) string {
	key, err := outline.ParseRef(local)
	if err != nil {
		return ""
	}
	given := outline.RefKey{}
	if e.LocalRef != "" {
		if given, err = outline.ParseRef(e.GivenRef); err != nil || given.InTree {
			return ""
		}
		if own, err := outline.ParseRef(e.LocalRef); err != nil || own.Document != key.Document {
			return ""
		}
	} else if key.Document != 0 || e.Frame == nil || e.Frame.Parent() != nil {
		return ""
	}
	return outline.RefKey{Document: given.Document, Number: key.Number}.String()
}
