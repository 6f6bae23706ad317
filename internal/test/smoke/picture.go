package main

import (
	"context"
	"fmt"
	"os"

	"clank/browsermgr/page"
)

// takePicture shows the chat page after the first try, with other things done
// before. file is written as PNG.
func (s *smokeRun) takePicture(ctx context.Context, file string) error {
	if _, err := s.serve(ctx); err != nil {
		return err
	}
	if err := s.openBrowser(ctx, s.login); err != nil {
		return err
	}
	for _, task := range []string{
		`open the demo shop, click "Chairs", select "Price, lowest first" in Sort by, click "Show", read`,
		`open the demo shop, click "Accept", click "Aurora Desk Lamp", click "Add to basket", screenshot`,
		firstTry,
	} {
		if err := s.runTaskInNewSession(ctx, task); err != nil {
			return err
		}
	}
	// Machines without a desktop have a font of their own; ours is like most people's.
	const arrange = `document.body.style.fontFamily = '"Liberation Sans", system-ui', document.getElementById("scroll").scrollTop = 0`
	var top int
	if err := s.browser.evaluate(ctx, arrange, &top); err != nil {
		return err
	}
	data, err := s.browser.tab.Screenshot(ctx, page.ScreenshotOptions{})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	_, err = s.interrupt(ctx)
	return err
}

// runTaskInNewSession begins a session with a task and waits for its end.
func (s *smokeRun) runTaskInNewSession(ctx context.Context, task string) error {
	if err := s.browser.waitFor(ctx, "the page", `document.getElementById("new")`); err != nil {
		return err
	}
	if err := s.browser.click(ctx, "#new"); err != nil {
		return err
	}
	if err := s.browser.waitFor(ctx, "the message box", composing); err != nil {
		return err
	}
	if err := s.browser.typeAndSubmit(ctx, "#prompt", task); err != nil {
		return err
	}
	if err := s.browser.waitFor(ctx, "the end", headline+` === "Done"`); err != nil {
		return err
	}
	return s.browser.waitFor(ctx, "the pictures", drawn+` >= 1 && `+drawn+` === `+steps)
}
