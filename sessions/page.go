package sessions

import (
	"context"
	"encoding/json"

	"clank/llm"
)

// PageRequest says which page a [Backend] needs.
type PageRequest struct {
	Key     string // session id
	Profile string // browser profile; empty = a temporary one
	URL     string // where to reopen the page; empty = an empty page
	Headed  bool   // with a visible window, if it must be opened
}

// Browser provides the pages of sessions to a [Backend].
type Browser interface {
	// Open returns the page of a session, reopening it if necessary; reopened then says, in a sentence for people and
	// models, what was restored and what was lost. Open is called before each action and must be cheap if the page is
	// open.
	Open(ctx context.Context, o PageRequest) (p Page, reopened string, err error)
	// Rest says that a task in session key has ended: its page may be closed to make room and reopened later.
	Rest(key string)
	// Close closes the page of session key. An unknown key is no error.
	Close(ctx context.Context, key string) error
	// Park does for session key what [Backend].Park does.
	Park(ctx context.Context, key string, must bool) (parked bool, err error)
}

// Page is one browser tab (and those it opened) as a [Backend] uses it. The texts it returns come from web pages and
// must be marked as untrusted before a model sees them.
type Page interface { //nolint:interfacebloat // all that both loops do with one tab
	// Act performs one action. Kinds and arguments are those of the control API's POST /act, plus navigate{url},
	// tabNew{url}, tabSelect{tab}, tabClose{tab}, upload{ref,paths} and dialog{accept,promptText}. Arguments are
	// strings, ints, floats, bools and []string; modifiers are "Alt", "Control", "Meta", "Shift". Notes are sentences
	// about what else happened: downloads with their path and size, new tabs, dialogs. The kind links does nothing;
	// its notes are the page's links, each as `text -> URL`. For models that work from screenshots there are also, in
	// CSS pixels of the viewport:
	//
	//	clickCoords{x,y,button,clickCount,modifiers}
	//	pointerMove{x,y,modifiers}, pointerDown{x,y,button}, pointerUp{x,y,button}
	//	dragCoords{path ["x,y", …],button,modifiers}
	//	wheel{x,y,deltaX,deltaY,modifiers}
	//	press{key "Control+A",count,delayMs}, keyDown{key}, keyUp{key}
	//	insertText{text,clear}: at the focus, as key events where there are keys for it
	Act(ctx context.Context, kind string, args map[string]any) (notes []string, err error)
	// Assess returns what an action would cause, without doing it.
	Assess(ctx context.Context, kind string, args map[string]any) (Assessment, error)
	// ActIfUnchanged is like Act, but does nothing and returns same == false if the action no longer has the meaning
	// for which mark stands, an [Assessment.Mark]. With an empty mark it does nothing if the action needs approval.
	ActIfUnchanged(ctx context.Context, kind string, args map[string]any,
		mark string) (notes []string, same bool, err error)
	// Snapshot describes the page in lines such as `- button "Buy" [disabled] [ref=e12]: text`.
	Snapshot(ctx context.Context, o SnapshotOptions) (text string, err error)
	// Text returns the readable text of the element with this ref, or of the whole page if ref is "".
	Text(ctx context.Context, ref string) (string, error)
	// Screenshot takes a screenshot of the element with this ref, or of the viewport if ref is "".
	Screenshot(ctx context.Context, ref string) (Screenshot, error)
	// State returns the current URL and title. Each element of tabs begins with the id for tabSelect and tabClose.
	State(ctx context.Context) (url, title string, tabs []string, err error)
}

// SnapshotOptions select what a snapshot shows.
type SnapshotOptions struct {
	Interactive bool   // only interactive elements
	After       string // begin after the line with this ref, where an earlier snapshot was cut
	MaxChars    int    // limit of the text's length; 0 = none
}

// Screenshot is a picture of a viewport or an element, with its size in CSS pixels, the unit of action coordinates.
// The picture may have more pixels.
type Screenshot struct {
	llm.Image

	Width, Height float64
}

// Assessment is what an action would cause. If it has classes, it is a question for people. Mark identifies
// everything that was taken into account.
type Assessment struct {
	Question

	Mark string
}

// Tool is a tool that a model may use on behalf of a person.
type Tool struct {
	llm.Tool

	// Call executes the model's call on behalf of the person at o and returns the result for the model. Images must
	// be described in text. An error is passed to the model as a failed call; the conversation continues. Call
	// returns soon after ctx ends.
	Call func(ctx context.Context, o Origin, input json.RawMessage) (text string, images []llm.Image, err error)
}
