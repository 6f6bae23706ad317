package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"clank/sessions"
)

// progress tells on stderr how a task goes: one line that changes in a
// terminal, a line for each step elsewhere.
type progress struct {
	w     io.Writer
	live  bool // rewrite one line
	width int
	shown bool // the live line holds text
	acts  int  // begun so far
	last  string
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, width: 80}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.live = true
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
			p.width = width
		}
	}
	return p
}

// watch shows one event.
func (p *progress) watch(ev sessions.Event) {
	if ev.Step == nil {
		if ev.Record.State == sessions.TaskQueued && ev.Record.Position > 0 {
			p.line(fmt.Sprintf("waiting, number %d in line", ev.Record.Position))
		}
		return
	}
	s := ev.Step
	switch {
	case s.Kind == sessions.StepAnswer:
	case s.Kind == sessions.StepNotice:
		p.keep(s.Label)
	case s.Kind == sessions.StepThink:
		if p.live && s.Phase == sessions.Begun {
			p.line("thinking …")
		}
	case s.Phase == sessions.Begun:
		p.acts++
		if p.live {
			p.line(fmt.Sprintf("%d  %s …", p.acts, s.Label))
		}
	case s.Failed:
		p.keep(fmt.Sprintf("%d  %s: %s", p.acts, s.Label, firstLine(s.Text)))
	default:
		p.line(fmt.Sprintf("%d  %s", p.acts, s.Label))
	}
}

// line shows s as what is happening now.
func (p *progress) line(s string) {
	if s == p.last {
		return
	}
	p.last = s
	if !p.live {
		fmt.Fprintln(p.w, s)
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", clip(s, p.width-1))
	p.shown = true
}

// keep shows s as a line of its own that stays.
func (p *progress) keep(s string) {
	p.clear()
	p.last = ""
	fmt.Fprintln(p.w, s)
}

// clear takes the live line away.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// clip shortens s to n characters, so that it stays on one line.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
