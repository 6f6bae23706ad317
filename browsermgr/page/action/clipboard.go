package action

import (
	"context"
	_ "embed"
	"strings"
	"sync"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Clipboard is the clipboard for keys in the tabs of one browser context. It replaces the browser's own, which is
// shared with the desktop or among contexts. The zero value is empty. It is safe for concurrent use.
type Clipboard struct {
	mu   sync.Mutex
	text string
}

func (c *Clipboard) load() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text
}

// Swap stores a text and returns the previous one.
func (c *Clipboard) Swap(text string) (before string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.text = c.text, text
	return before
}

func (c *Clipboard) store(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = text
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
	Most int    `json:"most"`
}

// useClipboard presses the keys of a clipboard operation, which the page sees like any others, and then performs the
// operation.
func (d *performer) useClipboard(ctx context.Context, f *frame.Frame, edit string, press func() error) error {
	arg := clipboardArg{Edit: edit, Most: maxCopied}
	type step struct {
		Copied *string `json:"copied"`
		Insert bool    `json:"insert"`
		Long   bool    `json:"long"`
	}
	if _, err := frame.CallFunction[step](ctx, f, clipboardScript, nil, arg); err != nil {
		return err
	}
	if err := press(); err != nil {
		return err
	}
	arg.Sent = true
	if edit == frame.EditPaste {
		if arg.Text = d.clipboard.load(); arg.Text == "" {
			return nil
		}
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
		d.clipboard.store(*done.Copied)
	case done.Insert:
		return d.sendInput(ctx, proto.InputInsertText{Text: strings.ReplaceAll(arg.Text, "\r\n", "\n")})
	}
	return nil
}
