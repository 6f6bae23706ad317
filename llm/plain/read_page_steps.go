package plain

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

func readOpen(p phrase, known places) (step, error) {
	p = p.after(1, "to", "up", "on")
	i := p.last("in")
	if i > 0 && slices.Contains([]string{"in a new tab", "in new tab"}, p[i:].lower()) {
		u, err := readPlace(p[:i], known)
		return tabStep(inputs{"action": "new", "url": u}), err
	}
	u, err := readPlace(p, known)
	if s, ok := openOnPage(p, known); err != nil && ok {
		return s, nil
	}
	return openStep(u), err
}

// openOnPage reads what a click opens on the page, if its kind is said: "the Billing tab", "the second result". It
// is no tab of the browser.
func openOnPage(p phrase, known places) (step, bool) {
	t, ok := readTarget(p)
	of := p.after(0, articles...)
	if of.is(0, "next", "previous") && len(of) == 2 { // page, month, slide
		t = nameOr(of.lower(), of.word(0))
	} else if n, err := strconv.Atoi(of.word(1)); err == nil && of.is(0, "page") {
		t = nameOr(of.lower(), strconv.Itoa(n))
	}
	s := step{tool: "browser_click", on: t, want: wantOpen}
	return s, ok && (known.page || t.role != "") && (t.role != "tab" || t.name != "" || t.nth != 0)
}

// readPlace reads the name of a place or an address.
func readPlace(p phrase, known places) (string, error) {
	if u, ok := known.find(p.text()); ok {
		return u, nil
	}
	bare := p.after(0, "the", "website", "page", "site", "url", "address")
	for bare.is(len(bare)-1, "website", "page", "site") && len(bare) > 1 {
		bare = bare[:len(bare)-1]
	}
	if len(bare) == 0 {
		return "", problem("say which page: an address such as example.com" + orPlace(known, ", or a place I know"))
	}
	if u, ok := known.find(bare.text()); ok {
		return u, nil
	}
	const why = "%q is no address such as example.com%s; to open something on the page, say click"
	return "", problem(fmt.Sprintf(why, bare.text(), orPlace(known, " and no place I know")))
}

// orPlace names the places that are known, after the words that introduce them.
func orPlace(known places, words string) string {
	if len(known.names()) == 0 {
		return ""
	}
	return words + " (" + strings.Join(known.names(), ", ") + ")"
}

func readGo(p phrase, known places) (step, error) {
	switch {
	case p.is(1, "to") && p.after(2, "the").is(0, "tab"):
		return readTab(p, known)
	case p.is(1, "to") && p.is(len(p)-1, "tab"):
		return readTab(p, known)
	case p.is(1, "to"):
		return readOpen(p.after(1), known)
	default:
		return step{}, errUnknown
	}
}

// pointAt returns a step with a tool on what the words point at.
func pointAt(tool string, input inputs, p phrase, why string) (step, error) {
	s := step{tool: tool, input: input}
	var ok bool
	if s.on, ok = readTarget(p); !ok {
		return s, problem(why)
	}
	return s, nil
}

func readClick(p phrase, _ places) (step, error) {
	first, rest := p.word(0), p.after(1, "on", "at")
	if first == "double" || first == "right" {
		if !p.is(1, "click") {
			return step{}, errUnknown
		}
		rest = p.after(2, "on", "at")
	}
	in := inputs{}
	if strings.HasPrefix(first, "double") {
		in["doubleClick"] = true
	} else if strings.HasPrefix(first, "right") {
		in["button"] = "right"
	}
	const why = `say what to click by its name, such as click "Sign in" or click the 2nd "Add"`
	s, err := pointAt("browser_click", in, rest, why)
	switch first {
	case "check", "tick", "enable":
		return s.wanting(wantOn), err
	case "uncheck", "untick", "disable":
		return s.wanting(wantOff), err
	}
	return s, err
}

// wanting returns the step as one that checks or unchecks a box.
func (s step) wanting(w want) step {
	if s.want = w; s.on.role == "" || s.on.role == "box" {
		s.on = s.on.withRole("checkbox")
	}
	return s
}

// readTurn reads "turn on Dark mode" and "turn Dark mode off".
func readTurn(p phrase, _ places) (step, error) {
	at := p.last("on", "off")
	if at != 1 && at != len(p)-1 {
		return step{}, errUnknown
	}
	rest := append(slices.Clone(p[1:at]), p[at+1:]...)
	s, err := pointAt("browser_click", nil, rest, "say what to turn on or off by its name")
	if p.is(at, "off") {
		return s.wanting(wantOff), err
	}
	return s.wanting(wantOn), err
}

// readPress reads "press Enter" and "press the Buy button".
func readPress(p phrase, known places) (step, error) {
	rest := p.after(1, "the")
	if key, ok := keyName(rest.lower()); ok {
		return pressStep(key), nil
	}
	if len(rest) == 2 && rest.is(1, "key") {
		key, ok := keyName(rest[:1].lower())
		if !ok && len([]rune(rest[0].text)) == 1 {
			key, ok = rest[0].text, true
		}
		if !ok {
			return step{}, problem("there is no such key")
		}
		return pressStep(key), nil
	}
	return readClick(p, known)
}

func readType(p phrase, _ places) (step, error) {
	rest := p.after(1)
	if len(rest) == 0 {
		return step{}, problem(`say what to type and where, such as type "lamp" into Search`)
	}
	at := rest.last("into")
	if as := rest.last("as"); at < 0 && rest.is(as+1, "the", "my") {
		at = as
	}
	if rest[0].quoted && len(rest) > 1 {
		at = 1
		if !rest.is(1, "into", "in", "to", "onto", "for", "as") {
			return step{}, errUnknown
		}
	}
	if at < 0 {
		at = rest.last("in")
	}
	if at <= 0 || at == len(rest)-1 {
		return step{tool: "browser_type", input: inputs{"text": rest.text()}, on: target{role: "field"}}, nil
	}
	return typeInto(rest[:at], rest[at+1:])
}

// typeInto types text into the field that the other words point at.
func typeInto(text, field phrase) (step, error) {
	return pointAt("browser_type", inputs{"text": text.text()}, field, "say which field by its name")
}

// readFill reads "fill Search with lamp", "fill in …" and "set Colour to Red".
func readFill(p phrase, known places) (step, error) {
	rest := p.after(1, "in", "out")
	at := rest.last("with")
	if p.is(0, "set", "change") {
		at = rest.last("to")
	}
	if at > 0 && at < len(rest)-1 {
		field := rest[:at]
		if p.is(0, "replace") && field.after(0, articles...).lower() == "text" {
			field = phrase{{text: "field"}}
		}
		s, err := typeInto(rest[at+1:], field)
		if p.is(0, "set", "change") && err == nil {
			s.want, s.option = wantSet, target{name: rest[at+1:].text()}
		}
		return s, err
	}
	if p.is(0, "fill") && rest.last("into", "in") > 0 {
		return readType(append(phrase{p[0]}, rest...), known)
	}
	return step{}, problem(`say which field and what goes into it, such as fill Search with "lamp"`)
}

func readClear(p phrase, _ places) (step, error) { return typeInto(nil, p.after(1)) }

// readSearch reads "search for lamp"; alone it means what is called search.
func readSearch(p phrase, _ places) (step, error) {
	rest := p.after(1, "for")
	if len(rest) == 0 {
		return step{tool: "browser_click", on: target{name: p[0].text}}, nil
	}
	in := inputs{"text": rest.text(), "submit": true}
	return step{tool: "browser_type", input: in, on: target{name: "search", role: "field"}, want: wantSearch}, nil
}

func readSelect(p phrase, _ places) (step, error) {
	const why = `say what to select and where, such as select "Red" in Colour`
	if s, ok := selectAll(p); ok {
		return s, nil
	}
	rest := p.after(1)
	at := rest.last("in", "from")
	if len(rest) > 1 && rest[0].quoted {
		at = 1
	}
	if at <= 0 || at >= len(rest)-1 || !rest.is(at, "in", "from", "for", "under", "as", "of") {
		s, err := pointAt("browser_click", nil, rest, why)
		s.want = wantOption
		return s, err
	}
	s, err := pointAt("browser_select", nil, rest[at+1:], why)
	words := rest[:at].after(0, "the", "option")
	if s.option = (target{name: words.text(), list: !words.quoted()}); len(words) == 0 {
		return step{}, problem(why)
	}
	if option, ok := readTarget(rest[:at]); ok && (option.nth != 0 || option.date.day > 0) {
		s.option = option
	}
	s.want = wantChoose
	return s, err
}

// readUpload reads "upload a.pdf", and "upload a.pdf and b.pdf into Attachments".
func readUpload(p phrase, _ places) (step, error) {
	const why = `say which file and where, such as upload "report.pdf" into Attachment`
	files, field := p.after(1, "the", "file", "files"), phrase(nil)
	if at := files.last("into", "to", "in"); at > 0 {
		files, field = files[:at], files[at+1:]
	}
	var paths []string
	for i := range files {
		if !files.is(i, "and", "&") {
			paths = append(paths, files[i].text)
		}
	}
	in := inputs{"paths": paths}
	switch {
	case len(paths) == 0:
		return step{}, problem(why)
	case field == nil:
		return step{tool: "browser_upload", input: in, on: target{role: "file field"}}, nil
	default:
		return pointAt("browser_upload", in, field, why)
	}
}

func readDownload(p phrase, _ places) (step, error) {
	const why = `say what to download by the name of its link, such as download "Invoice"`
	s, err := pointAt("browser_click", nil, p.after(1), why)
	s.want = wantDownload
	return s, err
}

// readDrag reads "drag X to Y".
func readDrag(p phrase, _ places) (step, error) {
	const why = `say what to drag and where to, such as drag "Task 1" to "Done"`
	rest := p.after(1)
	at := rest.last("to", "onto", "into", "over")
	if at > 0 && p.is(0, "move") && rest[:at].is(at-1, "slider") {
		return readFill(append(phrase{{text: "set"}}, rest...), places{})
	}
	if at <= 0 || p.is(0, "move") && p.is(1, "to") {
		return step{}, problem(why)
	}
	s, err := pointAt("browser_drag", nil, rest[:at], why)
	var ok bool
	if s.onto, ok = readTarget(rest[at+1:]); !ok && err == nil {
		err = problem(why)
	}
	return s, err
}

// farAway is how many pixels lead to the end of a page.
const farAway = 20000

// readScroll reads "scroll down 300", "scroll the Log list to the bottom" and "scroll up in the Log list".
func readScroll(p phrase, _ places) (step, error) {
	const why = "I can scroll up, down, left, right, to the top or bottom, or by a number of pixels: " +
		`the page, or a part of it, such as scroll down in the "Results" list`
	in := inputs{"direction": "down"}
	var where phrase
	inside := false
	for i := 1; i < len(p); i++ {
		w := p.word(i)
		n, err := strconv.Atoi(strings.TrimSuffix(w, "px"))
		switch {
		case inside:
			where = append(where, p[i])
		case slices.Contains([]string{"up", "down", "left", "right"}, w):
			in["direction"] = w
		case w == "top":
			maps.Copy(in, inputs{"direction": "up", "pixels": farAway})
		case w == "bottom", w == "end":
			maps.Copy(in, inputs{"direction": "down", "pixels": farAway})
		case slices.Contains([]string{"in", "of", "inside", "within"}, w):
			inside = true
		case slices.Contains([]string{"to", "the", "by", "a", "bit", "page", "pixels", "px", "little"}, w):
		case err == nil && n >= 1 && n <= farAway:
			in["pixels"] = n
		default:
			where = append(where, p[i])
		}
	}
	s := step{tool: "browser_scroll", input: in}
	if to := p.last("to"); to > 0 && len(where) > 0 && !inside {
		s, err := pointAt("browser_hover", nil, p[to+1:], why)
		s.want, s.kind = wantSeen, in["direction"].(string)
		return s, err
	}
	if len(where) == 0 || slices.Contains([]string{"page", "the page", "this page"}, where.lower()) {
		return s, nil
	}
	s, err := pointAt(s.tool, in, where, why)
	if err == nil && !inside && s.on.role == "" && !where.quoted() {
		err = problem(why)
	}
	return s, err
}

func readHover(p phrase, _ places) (step, error) {
	return pointAt("browser_hover", nil, p.after(1, "over", "at", "on", "to"), "say what to point at by its name")
}

// keyNames are the keys by what people call them.
var keyNames = map[string]string{
	"enter": "Enter", "return": "Enter", "tab": "Tab", "escape": "Escape", "esc": "Escape",
	"space": "Space", "spacebar": "Space",
	"backspace": "Backspace", "delete": "Delete", "del": "Delete", "home": "Home", "end": "End", "insert": "Insert",
	"page up": "PageUp", "pageup": "PageUp", "page down": "PageDown", "pagedown": "PageDown",
	"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight",
	"arrow up": "ArrowUp", "arrow down": "ArrowDown", "arrow left": "ArrowLeft", "arrow right": "ArrowRight",
	"up arrow": "ArrowUp", "down arrow": "ArrowDown", "left arrow": "ArrowLeft", "right arrow": "ArrowRight",
	"arrowup": "ArrowUp", "arrowdown": "ArrowDown", "arrowleft": "ArrowLeft", "arrowright": "ArrowRight",
}

var functionKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^f(?:[1-9]|1[0-2])$`) })

// modifiers are the keys that are held while another is pressed.
var modifiers = map[string]string{
	"ctrl": "Control", "control": "Control", "strg": "Control", "shift": "Shift", "alt": "Alt", "option": "Alt",
	"cmd": "Meta", "command": "Meta", "meta": "Meta",
}

// keyName returns the name that the browser has for what a person calls a key or a chord such as ctrl+a.
func keyName(words string) (string, bool) {
	if key, ok := keyNames[words]; ok {
		return key, true
	}
	if functionKey().MatchString(words) {
		return strings.ToUpper(words), true
	}
	held, last, found := cutLast(words, "+")
	if !found || last == "" {
		return "", false
	}
	var chord []string
	for m := range strings.SplitSeq(held, "+") {
		name, ok := modifiers[strings.TrimSpace(m)]
		if !ok {
			return "", false
		}
		chord = append(chord, name)
	}
	last = strings.TrimSpace(last)
	key, ok := keyName(last)
	if !ok && len([]rune(last)) == 1 {
		key, ok = last, true
	}
	return strings.Join(append(chord, key), "+"), ok
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+len(sep):], true
}
