package computeruse

import (
	"context"

	"clank/sessions"
)

// Browser hands out the screen of a session. It is implemented by the program
// that wires this package.
type Browser interface {
	// Open returns the screen of a session. If it is not open any more it is
	// opened anew; restored says that happened. Open is called before each
	// batch and must be cheap for an open page.
	Open(ctx context.Context, o sessions.PageRequest) (s Screen, restored bool, err error)
	// Close closes the page of session key. An unknown key is no error.
	Close(ctx context.Context, key string) error
}

// Screen is what a browser shows of one tab (and those it opened), with a mouse
// and a keyboard. What it returns is written by strangers.
type Screen interface {
	// Act performs one action. Kinds and arguments are those of
	// [clank/browseagent.Page], and beside them, in CSS pixels of the viewport:
	//
	//	clickCoords{x,y,button,clickCount,modifiers}
	//	pointerMove{x,y,modifiers}, pointerDown{x,y,button}, pointerUp{x,y,button}
	//	dragCoords{path ["x,y", …],button,modifiers}
	//	wheel{x,y,deltaX,deltaY,modifiers}
	//	press{key "Control+A",count,delayMs}, keyDown{key}, keyUp{key}
	//	insertText{text,clear}: at the focus, as keys where there are keys for it
	//
	// Modifiers are "Alt", "Control", "Meta", "Shift". Coordinates are floats.
	// Notes are sentences about what else happened.
	Act(ctx context.Context, kind string, args map[string]any) (notes []string, err error)
	// ScreenshotWithSize returns a picture of the viewport and its size in CSS pixels, in
	// which coordinates are counted. The picture may have more pixels.
	ScreenshotWithSize(ctx context.Context) (data []byte, mediaType string, width, height float64, err error)
	// State says where the page is. Each tab is one line that begins with the
	// id that tabSelect and tabClose take.
	State(ctx context.Context) (url, title string, tabs []string, err error)
	// Text returns the readable text of the element with this ref, or of the
	// whole page if ref is "".
	Text(ctx context.Context, ref string) (string, error)
	// Snapshot describes the page in lines with refs, as [clank/browseagent.Page]
	// does.
	Snapshot(ctx context.Context, interactive bool, maxChars int) (text string, err error)
}
