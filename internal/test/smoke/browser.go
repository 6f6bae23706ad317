package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
)

// personsBrowser is a browser as a person has it, with one tab. It has nothing to do with
// the browser that clank works.
type personsBrowser struct {
	process *chrome.Process
	conn    *page.Browser
	tab     *page.Tab
}

// openBrowser opens an address in a browser of our own.
func (s *smokeRun) openBrowser(ctx context.Context, url string) (err error) {
	found, err := chrome.Find(ctx, "")
	if err != nil {
		return err
	}
	b := &personsBrowser{}
	opts := chrome.LaunchOptions{Executable: found.Path, TempDir: s.root, Headless: true, Args: []string{"--hide-scrollbars"}}
	if b.process, err = chrome.Launch(ctx, opts); err != nil {
		return err
	}
	s.browser = b
	if b.conn, err = page.Connect(ctx, b.process.WebSocketURL, page.Options{}); err != nil {
		return err
	}
	if b.tab, err = b.conn.NewTab(ctx, page.TabOptions{}); err != nil {
		return err
	}
	if _, err := b.tab.Act(ctx, page.Action{Kind: actiontable.KindResize, Width: 1280, Height: 800}); err != nil {
		return err
	}
	_, err = b.tab.Navigate(ctx, url)
	return err
}

func (b *personsBrowser) close(ctx context.Context) error {
	var errs []error
	if b.conn != nil {
		errs = append(errs, b.conn.Close())
	}
	return errors.Join(append(errs, b.process.Stop(ctx))...)
}

// waitFor waits until an expression is true on the page.
func (b *personsBrowser) waitFor(ctx context.Context, what, js string) error {
	if b == nil || b.tab == nil {
		return errors.New("the page is not open")
	}
	_, err := b.tab.Act(ctx, page.Action{Kind: actiontable.KindWait, Fn: "() => Boolean(" + js + ")", TimeoutMs: int(checkLimit.Milliseconds())})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}

// evaluate returns the value of an expression on the page.
func (b *personsBrowser) evaluate(ctx context.Context, js string, value any) error {
	res, err := b.tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "() => (" + js + ")"})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(res.Value, value); err != nil {
		return fmt.Errorf("read %s: %w", js, err)
	}
	return nil
}

// act acts on the page as a person would.
func (b *personsBrowser) act(ctx context.Context, a page.Action) error {
	if b == nil || b.tab == nil {
		return errors.New("the page is not open")
	}
	_, err := b.tab.Act(ctx, a)
	return err
}

func (b *personsBrowser) click(ctx context.Context, selector string) error {
	return b.act(ctx, page.Action{Kind: actiontable.KindClick, Selector: selector})
}

// typeAndSubmit puts text into a field and presses Enter.
func (b *personsBrowser) typeAndSubmit(ctx context.Context, selector, text string) error {
	return b.act(ctx, page.Action{Kind: actiontable.KindType, Selector: selector, Text: text, Submit: true})
}

// navigate opens another address.
func (b *personsBrowser) navigate(ctx context.Context, url string) error {
	if b == nil || b.tab == nil {
		return errors.New("the page is not open")
	}
	_, err := b.tab.Navigate(ctx, url)
	return err
}
