package frame

import (
	"errors"
	"fmt"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/outline"
)

// documentID is a document: of a frame's world, and in it the local number that the script gave it.
type documentID struct {
	frame *Frame
	world string // its token
	local int
}

// DocumentNumbers gives the documents of a page the numbers that refs show: 1, 2, … in the order they were first met; the main
// document is 0. Documents that went away are forgotten in time, their numbers are not given again. The zero value is ready for use; it
// is for one goroutine at a time.
type DocumentNumbers struct {
	last     int
	byKey    map[documentID]int
	byNumber map[int]documentID
	sweepAt  int // how many documents may be known before the gone ones are looked for
}

// minSweepSize is how many documents are known at least before the gone ones are looked for.
const minSweepSize = 16

// Number returns the number of a document: of a frame, the world that token names, and the script's own number in there.
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

// forgetGone forgets documents that went away, and sees to it that this is not done for each new one.
func (n *DocumentNumbers) forgetGone() {
	for number, key := range n.byNumber {
		if key.frame.DocumentToken() != key.world {
			delete(n.byNumber, number)
			delete(n.byKey, key)
		}
	}
	n.sweepAt = max(minSweepSize, 2*len(n.byKey))
}

// Element is a ref resolved to the frame it lives in and the name it has there.
type Element struct {
	Frame    *Frame
	LocalRef string // ref in the frame; "" for an element named by selector, or none
	GivenRef string // as shown to people
}

// Find resolves a ref. Whether the element still exists only the page can tell.
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

// Explain turns what a script reported into words for the person who named the element.
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

// shownRef returns the ref that people know an element of the same document by; "" for one of another document.
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
