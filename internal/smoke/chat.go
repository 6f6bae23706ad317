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

func (s *scene) openChat(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	if err := s.see(ctx, s.login); err != nil {
		return "", err
	}
	return "", s.seen.sees(ctx, "the message box", composing)
}

func (s *scene) chatFirstTry(ctx context.Context) (string, error) {
	if err := s.seen.writes(ctx, "#prompt", firstTry); err != nil {
		return "", err
	}
	if err := s.seen.sees(ctx, "the first step", steps+" > 0"); err != nil {
		return "", err
	}
	if err := s.seen.sees(ctx, "the end", headline+` === "Done"`); err != nil {
		return "", err
	}
	if err := s.seen.sees(ctx, "the pictures", drawn+` === `+steps); err != nil {
		return "", err
	}
	var text string
	var n int
	if err := errors.Join(s.seen.reads(ctx, answer, &text), s.seen.reads(ctx, steps, &n)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d steps, each with a picture", n), contains(text, found)
}

func (s *scene) stopButton(ctx context.Context) (string, error) {
	if err := s.begins(ctx); err != nil {
		return "", err
	}
	if err := s.seen.clicks(ctx, ".turn:last-of-type .work-head .ghost"); err != nil {
		return "", err
	}
	return "", s.seen.sees(ctx, "that it was stopped", stopped)
}

func (s *scene) stopOnPage(ctx context.Context) (string, error) {
	if err := s.begins(ctx); err != nil {
		return "", err
	}
	if err := s.seen.writes(ctx, "#prompt", "stop"); err != nil {
		return "", err
	}
	if err := s.seen.sees(ctx, "that it was stopped", stopped); err != nil {
		return "", err
	}
	return "", s.seen.sees(ctx, "that nothing runs", `!document.querySelector(".sign.spin")`)
}

// begins begins a task on the page that waits until somebody stops it.
func (s *scene) begins(ctx context.Context) error {
	if err := s.seen.writes(ctx, "#prompt", endless); err != nil {
		return err
	}
	return s.seen.sees(ctx, "that it waits", waiting)
}

// conversationKept looks at what was said before the server was started again:
// the page that stayed open finds it by itself, and so does one that is loaded.
func (s *scene) conversationKept(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	list, err := s.runs(ctx, "sessions")
	if err := errors.Join(err, contains(list, s.session)); err != nil {
		return "", err
	}
	again, err := s.browse(ctx, "--session", s.session, "read")
	if err := errors.Join(err, contains(again.Answer, found)); err != nil {
		return "", err
	}
	if err := s.seen.goes(ctx, "http://"+s.addr+"/"); err != nil {
		return "", err
	}
	entry := `[...document.querySelectorAll("a.session")].find((a) => !a.innerText.includes("terminal"))`
	if err := s.seen.sees(ctx, "the session at the side", entry); err != nil {
		return "", err
	}
	var id string
	if err := s.seen.reads(ctx, entry+".dataset.id", &id); err != nil {
		return "", err
	}
	if err := s.seen.clicks(ctx, `a.session[data-id="`+id+`"]`); err != nil {
		return "", err
	}
	if err := s.seen.sees(ctx, "the three tasks", `document.querySelectorAll(".turn").length === 3`); err != nil {
		return "", err
	}
	var said string
	if err := s.seen.reads(ctx, `document.getElementById("thread").innerText`, &said); err != nil {
		return "", err
	}
	return "", contains(said, found, "Stopped by you")
}
