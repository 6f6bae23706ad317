package page

import (
	"context"
	_ "embed"
	"fmt"
	"sync"

	"clank/browsermgr/page/action"

	"github.com/go-rod/rod/lib/proto"
)

// clipboards holds the clipboards of a browser's contexts and how pages are kept from the browser's own; see [Options].
type clipboards struct {
	started, onScreen, joined bool

	clipboardLock sync.Mutex
	byContext     map[string]*action.Clipboard
}

// clipboardOf returns the clipboard of a context, creating it if needed.
func (c *clipboards) clipboardOf(contextID string) *action.Clipboard {
	c.clipboardLock.Lock()
	defer c.clipboardLock.Unlock()
	if c.byContext == nil {
		c.byContext = map[string]*action.Clipboard{}
	}
	if c.byContext[contextID] == nil {
		c.byContext[contextID] = action.NewClipboard()
	}
	return c.byContext[contextID]
}

func (c *clipboards) forgetClipboard(contextID string) {
	c.clipboardLock.Lock()
	defer c.clipboardLock.Unlock()
	delete(c.byContext, contextID)
}

//go:embed clipboard.js
var shieldScript string

// shieldWorld is the isolated world of the shield script, which runs before any script of the page.
const shieldWorld = "clank-clipboard"

// prepareClipboard returns the requests that keep what scripts of a new session's pages copy, for keys that paste
// there, and keep the pages from the desktop's clipboard.
func (c *clipboards) prepareClipboard(contextID string) []proto.Request {
	if c.joined {
		return nil
	}
	reqs := []proto.Request{proto.PageAddScriptToEvaluateOnNewDocument{
		Source: c.clipboardOf(contextID).PageScript(c.onScreen), RunImmediately: true,
	}}
	if c.onScreen {
		reqs = append(reqs, proto.PageAddScriptToEvaluateOnNewDocument{
			Source: shieldScript, WorldName: shieldWorld, RunImmediately: true,
		})
	}
	return reqs
}

// DenyClipboard denies the pages of the tab's context access to the browser's clipboard. It must be called again after
// resetting the context's permissions.
func (t *Tab) DenyClipboard(ctx context.Context) error {
	return t.browser.denyClipboard(ctx, t.contextID)
}

// denyClipboard denies the pages of a context, "" for the default one, reading the browser's clipboard, which other
// contexts write to, and in a browser with windows also writing.
func (b *Browser) denyClipboard(ctx context.Context, contextID string) error {
	if !b.started {
		return nil
	}
	denied := []proto.BrowserPermissionDescriptor{{Name: "clipboard-read"}}
	if b.onScreen {
		denied = append(denied, proto.BrowserPermissionDescriptor{Name: "clipboard-write"})
	}
	for _, permission := range denied {
		err := b.rootSession.Do(ctx, proto.BrowserSetPermission{
			Permission: &permission, Setting: proto.BrowserPermissionSettingDenied,
			BrowserContextID: proto.BrowserBrowserContextID(contextID),
		})
		if err != nil {
			return fmt.Errorf("keep pages from the clipboard: %w", err)
		}
	}
	return nil
}

// checkClipboard refuses keys that copy or paste in a person's own browser, and keys that copy while the page holds a
// secret.
func (t *Tab) checkClipboard(ctx context.Context, a Action) error {
	edit := action.ClipboardEdit(a, t.inputState.ModifierBits())
	switch {
	case edit == "":
		return nil
	case t.browser.joined:
		return ErrForeignClipboard
	case edit == "paste" || t.browser.holds == nil:
		return nil
	}
	held, err := t.browser.holds(ctx, t)
	if err != nil {
		return fmt.Errorf("find out whether the page holds a secret: %w", err)
	}
	if held {
		return ErrSecret
	}
	return nil
}
