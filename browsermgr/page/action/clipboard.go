package action

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Clipboard is the clipboard for keys in the tabs of one browser context. It replaces the browser's own, which is
// shared with the desktop or among contexts. What scripts of a page copy is not here, but in the page. It is safe for
// concurrent use.
type Clipboard struct {
	ask    string // name of the event by which our scripts ask a page for what its scripts copied
	mu     sync.Mutex
	copied Copied
}

// Copied is a copied text. The zero value is none.
type Copied struct {
	Text string `json:"text"`
	At   int64  `json:"at"` // when it was copied by the browser's clock, in milliseconds
}

// NewClipboard returns an empty clipboard.
func NewClipboard() *Clipboard { return &Clipboard{ask: rand.Text()} }

func (c *Clipboard) load() Copied {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.copied
}

// Swap stores what was copied and returns what was there.
func (c *Clipboard) Swap(copied Copied) (before Copied) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.copied = c.copied, copied
	return before
}

//go:embed copied.js
var copiedScript string

// PageScript returns the script that keeps what scripts of a page copy, for keys that paste there. It runs in new
// documents of the clipboard's context. With onScreen the browser's clipboard is the desktop's.
func (c *Clipboard) PageScript(onScreen bool) string {
	return fmt.Sprintf("%s(%q, %d, %t)", copiedScript, c.ask, maxCopied, onScreen)
}

// maxCopied bounds copied text, in characters.
const maxCopied = 1 << 20

// ClipboardEdit returns the clipboard operation of an action's keys with these modifiers held; "" for none.
func ClipboardEdit(a Action, held int) string {
	if a.Kind != actiontable.KindPress && a.Kind != actiontable.KindKeyDown {
		return ""
	}
	c, err := frame.ParseChord(a.Key)
	if err != nil {
		return ""
	}
	return c.WithModifiers(held).ClipboardEdit()
}

//go:embed clipboard.js
var clipboardScript string

// clipboardArg describes a step of a clipboard operation. Nothing is done before the keys were sent.
type clipboardArg struct {
	Edit string `json:"edit"`
	Sent bool   `json:"sent"`
	Text string `json:"text"`
	Ask  string `json:"ask"`
	Most int    `json:"most"`
}

// useClipboard presses the keys of a clipboard operation, which the page sees like any others, and then performs the
// operation. All texts pass through here, so that secrets are masked in them.
func (d *performer) useClipboard(ctx context.Context, f *frame.Frame, edit string, press func() error) error {
	arg := clipboardArg{Edit: edit, Ask: d.clipboard.ask, Most: maxCopied}
	type step struct {
		Copied *Copied `json:"copied"` // before the keys: by scripts of the page
		Insert bool    `json:"insert"`
		Long   bool    `json:"long"`
	}
	own, err := frame.CallFunction[step](ctx, f, clipboardScript, nil, arg)
	if err != nil {
		return err
	}
	if edit == frame.EditPaste {
		copied := d.clipboard.load()
		if own.Copied != nil && own.Copied.At >= copied.At {
			copied = *own.Copied
			if own.Long {
				return fault.Invalidf("%s: what the page copied has more than %d characters", edit, maxCopied)
			}
		}
		arg.Text = copied.Text
	}
	if err := press(); err != nil {
		return err
	}
	if arg.Sent = true; edit == frame.EditPaste && arg.Text == "" {
		return nil
	}
	done, err := frame.CallFunction[step](ctx, f, clipboardScript, nil, arg)
	switch {
	case cdp.IsDocumentGone(err):
		return nil
	case err != nil:
		return err
	case done.Long:
		return fault.Invalidf("%s: what is selected has more than %d characters; select less", edit, maxCopied)
	case done.Copied != nil:
		d.clipboard.Swap(*done.Copied)
	case done.Insert:
		return d.sendInput(ctx, proto.InputInsertText{Text: strings.ReplaceAll(arg.Text, "\r\n", "\n")})
	}
	return nil
}
