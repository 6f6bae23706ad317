package sessions

import (
	"context"
	"encoding/json"

	"clank/llm"
)

// PageRequest says which page a [Backend] wants.
type PageRequest struct {
	Key     string // id of the session
	Profile string // browser profile; empty = one that is forgotten with its browser
	URL     string // where to open the page anew; empty = an empty page
	Headed  bool   // with a window, if it must be opened
}

// Browser hands out the page of a session to a [Backend].
type Browser interface {
	// Open returns the page of a session. If it is not open any more it is opened anew; restored says that happened.
	// Open is called before each action and must be cheap for an open page.
	Open(ctx context.Context, o PageRequest) (p Page, restored bool, err error)
	// Rest says that a task in session key has ended: its page may be put away, to be opened anew, where room is needed.
	Rest(key string)
	// Close closes the page of session key. An unknown key is no error.
	Close(ctx context.Context, key string) error
}

// Page is one browser tab (and those it opened) as a [Backend] uses it. What it
// returns is written by strangers and is marked as such before a model sees it.
type Page interface { //nolint:interfacebloat // all that both loops do with one tab
	// Act performs one action. Kinds and arguments are those of the control API's POST /act, plus navigate{url},
	// tabNew{url}, tabSelect{tab}, tabClose{tab}, upload{ref,paths} and dialog{accept,promptText}. Arguments are
	// strings, ints, floats, bools and []string; modifiers are "Alt", "Control", "Meta", "Shift". Notes are sentences
	// about what else happened: downloads with their path and size, new tabs, dialogs. The kind links does nothing;
	// its notes are the page's links, each as `text -> URL`. For those who see the page there are also, in CSS pixels
	// of the viewport:
	//
	//	clickCoords{x,y,button,clickCount,modifiers}
	//	pointerMove{x,y,modifiers}, pointerDown{x,y,button}, pointerUp{x,y,button}
	//	dragCoords{path ["x,y", …],button,modifiers}
	//	wheel{x,y,deltaX,deltaY,modifiers}
	//	press{key "Control+A",count,delayMs}, keyDown{key}, keyUp{key}
	//	insertText{text,clear}: at the focus, as keys where there are keys for it
	Act(ctx context.Context, kind string, args map[string]any) (notes []string, err error)
	// Assess says what an action would set off.
	Assess(ctx context.Context, kind string, args map[string]any) (Assessment, error)
	// ActIfUnchanged is Act, unless the action has come to mean something else than mark, an [Assessment.Mark] (with
	// "": anything that people are asked about): same is false then, and nothing was done.
	ActIfUnchanged(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error)
	// Snapshot describes the page in lines such as `- button "Buy" [disabled] [ref=e12]: text`.
	Snapshot(ctx context.Context, o SnapshotOptions) (text string, err error)
	// Text returns the readable text of the element with this ref, or of the whole page if ref is "".
	Text(ctx context.Context, ref string) (string, error)
	// Screenshot takes a picture of the element with this ref, or of the viewport if ref is "".
	Screenshot(ctx context.Context, ref string) (Screenshot, error)
	// State says where the page is. Each tab is one line that begins with the id that tabSelect and tabClose take.
	State(ctx context.Context) (url, title string, tabs []string, err error)
}

// SnapshotOptions says what a snapshot shows.
type SnapshotOptions struct {
	Interactive bool   // leave out what cannot be operated
	After       string // begin after the line with this ref, where an earlier one was cut
	MaxChars    int    // upper bound of the text; 0 = none
}

// Screenshot is a picture of a viewport, or of an element, and its size in CSS pixels, in which the coordinates of
// actions are counted. The picture may have more pixels.
type Screenshot struct {
	llm.Image

	Width, Height float64
}

// Assessment tells what an action would set off: a question for people if it has
// classes. Mark stands for all that was looked at.
type Assessment struct {
	Question

	Mark string
}

// Tool is something that a model may use on behalf of a person.
type Tool struct {
	llm.Tool

	// Call does what the model asks, on behalf of the person at o, and returns what the model gets to know. Images
	// must be described in text. An error is told to the model as a failure of the call; the reply goes on. When ctx
	// ends, Call returns soon.
	Call func(ctx context.Context, o Origin, input json.RawMessage) (text string, images []llm.Image, err error)
}
