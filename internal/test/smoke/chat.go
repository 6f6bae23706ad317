package main

import (
	"context"
	"errors"
	"fmt"
)

// What the chat page shows, as expressions.
const (
	last      = `[...document.querySelectorAll(".turn")].at(-1)`
	headline  = last + `?.querySelector(".work-toggle b")?.textContent`
	steps     = last + `?.querySelectorAll(".step:not(.talk)").length`
	drawn     = `[...` + last + `.querySelectorAll(".thumb img")].filter((i) => i.complete && i.naturalWidth > 0).length`
	answer    = last + `?.querySelector(".answer")?.innerText ?? ""`
	waiting   = headline + ` === "Working" && ` + last + `.innerText.includes("a text that never comes") && ` + last + `.querySelector(".step .sign.spin")`
	stopped   = headline + ` === "Stopped by you"`
	composing = `location.pathname === "/" && document.getElementById("prompt") && !document.getElementById("welcome").hidden`
)

func (s *smokeRun) openChat(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	if err := s.openBrowser(ctx, s.login); err != nil {
		return "", err
	}
	return "", s.browser.waitFor(ctx, "the message box", composing)
}

func (s *smokeRun) chatFirstTry(ctx context.Context) (string, error) {
	if err := s.browser.typeAndSubmit(ctx, "#prompt", firstTry); err != nil {
		return "", err
	}
	if err := s.browser.waitFor(ctx, "the first step", steps+" > 0"); err != nil {
		return "", err
	}
	if err := s.browser.waitFor(ctx, "the end", headline+` === "Done"`); err != nil {
		return "", err
	}
	if err := s.browser.waitFor(ctx, "the pictures", drawn+` === `+steps); err != nil {
		return "", err
	}
	var text string
	var n int
	if err := errors.Join(s.browser.evaluate(ctx, answer, &text), s.browser.evaluate(ctx, steps, &n)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d steps, each with a picture", n), wantAll(text, found)
}

func (s *smokeRun) stopButton(ctx context.Context) (string, error) {
	if err := s.beginEndlessTask(ctx); err != nil {
		return "", err
	}
	if err := s.browser.click(ctx, ".turn:last-of-type .work-head .ghost"); err != nil {
		return "", err
	}
	return "", s.browser.waitFor(ctx, "that it was stopped", stopped)
}

func (s *smokeRun) stopOnPage(ctx context.Context) (string, error) {
	if err := s.beginEndlessTask(ctx); err != nil {
		return "", err
	}
	if err := s.browser.typeAndSubmit(ctx, "#prompt", "stop"); err != nil {
		return "", err
	}
	if err := s.browser.waitFor(ctx, "that it was stopped", stopped); err != nil {
		return "", err
	}
	return "", s.browser.waitFor(ctx, "that nothing runs", `!document.querySelector(".sign.spin")`)
}

// beginEndlessTask begins a task on the page that waits until somebody stops it.
func (s *smokeRun) beginEndlessTask(ctx context.Context) error {
	if err := s.browser.typeAndSubmit(ctx, "#prompt", endless); err != nil {
		return err
	}
	return s.browser.waitFor(ctx, "that it waits", waiting)
}

// conversationKept looks at what was said before the server was started again:
// the page that stayed open finds it by itself, and so does one that is loaded.
func (s *smokeRun) conversationKept(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	list, err := s.runToEnd(ctx, "sessions")
	if err := errors.Join(err, wantAll(list, s.session)); err != nil {
		return "", err
	}
	again, err := s.browse(ctx, "--session", s.session, "read")
	if err := errors.Join(err, wantAll(again.Answer, found)); err != nil {
		return "", err
	}
	if err := s.browser.navigate(ctx, "http://"+s.addr+"/"); err != nil {
		return "", err
	}
	entry := `[...document.querySelectorAll("a.session")].find((a) => !a.innerText.includes("terminal"))`
	if err := s.browser.waitFor(ctx, "the session at the side", entry); err != nil {
		return "", err
	}
	var id string
	if err := s.browser.evaluate(ctx, entry+".dataset.id", &id); err != nil {
		return "", err
	}
	if err := s.browser.click(ctx, `a.session[data-id="`+id+`"]`); err != nil {
		return "", err
	}
	if err := s.browser.waitFor(ctx, "the three tasks", `document.querySelectorAll(".turn").length === 3`); err != nil {
		return "", err
	}
	var said string
	if err := s.browser.evaluate(ctx, `document.getElementById("thread").innerText`, &said); err != nil {
		return "", err
	}
	return "", wantAll(said, found, "Stopped by you")
}
