package main

import (
	"context"
	"fmt"
	"os"

	"clank/browsermgr/page"
)

// takePicture shows the chat page after the first try, with other things done
// before. file is written as PNG.
func (s *scene) takePicture(ctx context.Context, file string) error {
	if _, err := s.serve(ctx); err != nil {
		return err
	}
	if err := s.see(ctx, s.login); err != nil {
		return err
	}
	for _, task := range []string{
		`open the demo shop, click "Chairs", select "Price, lowest first" in Sort by, click "Show", read`,
		`open the demo shop, click "Accept", click "Aurora Desk Lamp", click "Add to basket", screenshot`,
		firstTry,
	} {
		if err := s.asksAnew(ctx, task); err != nil {
			return err
		}
	}
	// Machines without a desktop have a font of their own; ours is like most people's.
	const arrange = `document.body.style.fontFamily = '"Liberation Sans", system-ui', document.getElementById("scroll").scrollTop = 0`
	var top int
	if err := s.seen.reads(ctx, arrange, &top); err != nil {
		return err
	}
	data, err := s.seen.tab.Screenshot(ctx, page.ScreenshotOptions{})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	_, err = s.interrupt(ctx)
	return err
}

// asksAnew begins a session with a task and waits for its end.
func (s *scene) asksAnew(ctx context.Context, task string) error {
	if err := s.seen.sees(ctx, "the page", `document.getElementById("new")`); err != nil {
		return err
	}
	if err := s.seen.clicks(ctx, "#new"); err != nil {
		return err
	}
	if err := s.seen.sees(ctx, "the message box", composing); err != nil {
		return err
	}
	if err := s.seen.writes(ctx, "#prompt", task); err != nil {
		return err
	}
	if err := s.seen.sees(ctx, "the end", headline+` === "Done"`); err != nil {
		return err
	}
	return s.seen.sees(ctx, "the pictures", drawn+` >= 1 && `+drawn+` === `+steps)
}
