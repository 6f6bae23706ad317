package plain

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxWait is the longest that one step may wait.
const maxWait = 30 * time.Second

var durationPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{1,6}(?:\.\d{1,3})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)$`)
})

func readWait(p phrase, _ places) (step, error) {
	rest := p.after(1, "for", "until", "till", "a", "an", "the")
	if m := durationPattern().FindStringSubmatch(rest.lower()); m != nil {
		return waitTime(m[1], m[2])
	}
	until := "text"
	for _, ending := range []struct{ words, until string }{
		{"is gone", "textGone"},
		{"disappears", "textGone"},
		{"to disappear", "textGone"},
		{"has gone", "textGone"},
		{"appears", "text"},
		{"to appear", "text"},
		{"is there", "text"},
		{"shows", "text"},
	} {
		if n := len(rest) - len(strings.Fields(ending.words)); n > 0 && rest[n:].lower() == ending.words {
			rest, until = rest[:n], ending.until
			break
		}
	}
	text := strings.TrimSpace(rest.text())
	switch {
	case rest.quoted() && len(rest) > 1:
		return step{}, errUnknown
	case text == "":
		return step{}, problem("say what text to wait for")
	}
	return waitStep(until, text), nil
}

func waitTime(number, unit string) (step, error) {
	short := unit[:1]
	if unit == "ms" || strings.HasPrefix(unit, "milli") {
		short = "ms"
	}
	d, err := time.ParseDuration(number + short)
	if err != nil || d > maxWait {
		return step{}, problem("I can wait 30 seconds at most")
	}
	return waitStep("timeMs", max(1, int(d.Milliseconds()))), nil
}

// readRead reads a part of the page that is named.
func readRead(p phrase, _ places) (step, error) {
	rest := p.after(1, "me")
	careful := p.is(0, "get", "tell", "summarize", "summarise") && !rest.quoted() || p.is(0, "show")
	if careful && !rest.is(0, "the") {
		return step{}, errUnknown
	}
	return pointAt("browser_extract", nil, rest, "")
}

// readList reads "list the buttons on the page".
func readList(p phrase, _ places) (step, error) {
	rest := p.after(1, "all", "the", "every")
	if at := rest.last("on"); at > 0 && slices.Contains([]string{"on the page", "on this page"}, rest[at:].lower()) {
		rest = rest[:at]
	}
	kind, ok := roleOf(rest)
	if !ok {
		return step{}, errUnknown
	}
	return step{tool: "browser_snapshot", want: wantLook, kind: kind}, nil
}

var tabID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^t\d+$`) })

// readTab reads "new tab at example.com", "switch to tab t2" and "switch to the Billing tab".
func readTab(p phrase, known places) (step, error) {
	if p.is(0, "new") {
		if !p.is(1, "tab") {
			return step{}, errUnknown
		}
		u, err := readPlace(p.after(2, "with", "at", "for"), known)
		return tabStep(inputs{"action": "new", "url": u}), err
	}
	rest := p.after(1, "to", "the")
	if rest.is(0, "tab") && len(rest) == 2 && tabID().MatchString(rest[1].text) {
		return tabStep(inputs{"action": "select", "tab": rest[1].text}), nil
	}
	if rest.is(0, "tab") && len(rest) > 1 { // "tab Billing"
		rest = append(slices.Clone(rest[1:]), rest[0])
	}
	if s, ok := openOnPage(rest, known); ok && (s.on.role == "tab" || known.page) {
		return s, nil
	}
	if p.is(1, "on", "off") {
		return readTurn(p, known)
	}
	return step{}, problem("say which tab by its id, such as switch to tab t2; list the tabs to see them")
}

// readDialog reads "answer the prompt with Ada"; "accept cookies" is a button.
func readDialog(p phrase, _ places) (step, error) {
	rest := p.after(1, "the", "it", "dialog", "alert", "prompt", "question")
	if rest.is(0, "with") && len(rest) > 1 {
		return dialogStep(inputs{"accept": !p.is(0, "dismiss"), "promptText": rest[1:].text()}), nil
	}
	return pointAt("browser_click", nil, p, "")
}

// readClose reads "close tab t2", and what is called "Close …" on the page.
func readClose(p phrase, _ places) (step, error) {
	if rest := p.after(1, "the", "this"); rest.is(0, "tab") && len(rest) == 2 {
		return tabStep(inputs{"action": "close", "tab": rest[1].text}), nil
	}
	if t, ok := readThing(p.after(1), true); ok && t.role == "dialog" {
		return step{tool: "browser_click", on: target{name: "close", where: "in", near: &t}}, nil
	}
	return pointAt("browser_click", nil, p, "say what to click by its name")
}

// readLogin reads "log in with shop": the name of a kept login.
func readLogin(p phrase, _ places) (step, error) {
	rest := p.after(1)
	if !p.is(0, "login") {
		if !rest.is(0, "in", "on") {
			return step{}, errUnknown
		}
		rest = rest.after(1)
	}
	const why = `say with which kept login, such as log in with "shop"`
	if !rest.is(0, "with", "using") {
		return step{}, problem(why + `; to press what is called so, say click "Log in"`)
	}
	if rest = rest.after(0, "with", "using", "the", "login", "my"); len(rest) == 0 {
		return step{}, problem(why)
	}
	return step{tool: "fill_login", input: inputs{"entry": rest.text(), "submit": true}}, nil
}
