package plain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func readOpen(p phrase, known places) (step, error) {
	p = p.after(1, "to", "up", "on")
	if i := p.last("in"); i > 0 && slices.Contains([]string{"in a new tab", "in new tab"}, p[i:].lower()) {
		u, err := readPlace(p[:i], known)
		return step{act: actTabNew, text: u}, err
	}
	if slices.Contains([]string{"a new tab", "new tab", "a tab"}, p.lower()) {
		return step{act: actTabNew}, nil
	}
	u, err := readPlace(p, known)
	return step{act: actOpen, text: u}, err
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
		return "", problem("say which page: an address such as example.com" + orPlace(known))
	}
	if u, ok := known.find(bare.text()); ok {
		return u, nil
	}
	return "", problem(fmt.Sprintf("%q is no address such as example.com%s; to open something on the page, say click", bare.text(), orPlace(known)))
}

// orPlace names the places that are known.
func orPlace(known places) string {
	if len(known.names()) == 0 {
		return ""
	}
	return " and no place I know (" + strings.Join(known.names(), ", ") + ")"
}

func readGo(p phrase, known places) (step, error) {
	switch {
	case p.is(1, "back"):
		return readBack(p.after(1), known)
	case p.is(1, "to") && p.after(2, "the").is(0, "tab"):
		return readTab(p, known)
	case p.is(0, "goto"):
		return readOpen(p, known)
	case p.is(1, "to"):
		return readOpen(p.after(1), known)
	default:
		return step{}, errUnknown
	}
}

func readClick(p phrase, _ places) (step, error) {
	s := step{act: actClick, double: strings.HasPrefix(p.word(0), "double"), right: strings.HasPrefix(p.word(0), "right")}
	var ok bool
	if s.target, ok = readTarget(p.after(1, "on", "at")); !ok {
		return s, problem(`say what to click by its name, such as click "Sign in" or click the 2nd "Add"`)
	}
	if p.is(0, "check", "uncheck", "tick", "untick") && s.target.role == "" {
		s.target.role = "checkbox"
	}
	return s, nil
}

func readDouble(p phrase, known places) (step, error) {
	if !p.is(1, "click") {
		return step{}, errUnknown
	}
	s, err := readClick(p.after(1), known)
	s.double, s.right = p.is(0, "double"), p.is(0, "right")
	return s, err
}

// readPress reads "press Enter" and "press the Buy button".
func readPress(p phrase, known places) (step, error) {
	rest := p.after(1, "the")
	if key, ok := keyName(rest.lower()); ok {
		return step{act: actPress, text: key}, nil
	}
	if last := len(rest) - 1; last == 1 && rest.is(last, "key") {
		key, ok := keyName(rest[:last].lower())
		if !ok && len([]rune(rest[0].text)) == 1 {
			key, ok = rest[0].text, true
		}
		if !ok {
			return step{}, problem("there is no such key")
		}
		return step{act: actPress, text: key}, nil
	}
	return readClick(p, known)
}

func readType(p phrase, _ places) (step, error) {
	rest := p.after(1)
	if len(rest) == 0 {
		if p.is(0, "enter") {
			return step{act: actPress, text: "Enter"}, nil
		}
		return step{}, problem(`say what to type and where, such as type "lamp" into Search`)
	}
	at := rest.last("into")
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
		return step{act: actType, text: rest.text()}, nil
	}
	return typeInto(rest[:at], rest[at+1:])
}

// typeInto types text into the field that the other words point at.
func typeInto(text, field phrase) (step, error) {
	s := step{act: actType, text: text.text()}
	var ok bool
	if s.target, ok = readTarget(field); !ok {
		return s, problem("say which field by its name")
	}
	return s, nil
}

// readFill reads "fill Search with lamp", "fill in …" and "set Colour to Red".
func readFill(p phrase, known places) (step, error) {
	rest := p.after(1, "in", "out")
	at := rest.last("with")
	if p.is(0, "set") {
		at = rest.last("to")
	}
	if at > 0 && at < len(rest)-1 {
		return typeInto(rest[at+1:], rest[:at])
	}
	if p.is(0, "fill") && rest.last("into", "in") > 0 {
		return readType(append(phrase{p[0]}, rest...), known)
	}
	return step{}, problem(`say which field and what goes into it, such as fill Search with "lamp"`)
}

func readClear(p phrase, _ places) (step, error) { return typeInto(nil, p.after(1)) }

// readSearch reads "search for lamp"; alone it means what is called search.
func readSearch(p phrase, _ places) (step, error) {
	if rest := p.after(1, "for"); len(rest) > 0 {
		return step{act: actSearch, text: rest.text(), target: target{name: "search", role: "field"}}, nil
	}
	return step{act: actClick, target: target{name: p[0].text}}, nil
}

func readSubmit(p phrase, known places) (step, error) {
	if rest := p.after(1, "the", "it"); len(rest) == 0 || rest.lower() == "form" {
		return step{act: actPress, text: "Enter"}, nil
	}
	return readClick(p, known)
}

func readSelect(p phrase, _ places) (step, error) {
	rest := p.after(1)
	at := rest.last("in", "from")
	if len(rest) > 1 && rest[0].quoted {
		at = 1
	}
	var ok bool
	if at > 0 && at < len(rest)-1 && rest.is(at, "in", "from", "for", "under", "as", "of") {
		s := step{act: actSelect, text: rest[:at].after(0, "the", "option").text()}
		if s.target, ok = readTarget(rest[at+1:]); ok && s.text != "" {
			return s, nil
		}
	} else {
		s := step{act: actChoose}
		if s.target, ok = readTarget(rest); ok {
			return s, nil
		}
	}
	return step{}, problem(`say what to select and where, such as select "Red" in Colour`)
}

func readScroll(p phrase, _ places) (step, error) {
	s := step{act: actScroll, text: "down"}
	for i := 1; i < len(p); i++ {
		switch w := p.word(i); w {
		case "up", "down", "left", "right":
			s.text = w
		case "top":
			s.text, s.n = "up", 20000
		case "bottom", "end":
			s.text, s.n = "down", 20000
		case "to", "the", "by", "a", "bit", "page", "of", "pixels", "px", "little":
		default:
			n, err := strconv.Atoi(strings.TrimSuffix(w, "px"))
			if err != nil || n < 1 || n > 20000 {
				return s, problem("I can scroll up, down, left, right, to the top or bottom, or by a number of pixels")
			}
			s.n = n
		}
	}
	return s, nil
}

func readHover(p phrase, _ places) (step, error) {
	s := step{act: actHover}
	var ok bool
	if s.target, ok = readTarget(p.after(1, "over", "at", "on", "to")); !ok {
		return s, problem("say what to point at by its name")
	}
	return s, nil
}

func readBack(p phrase, _ places) (step, error) {
	rest := p.after(1, "to", "the", "last", "previous", "one", "it", "this", "page")
	switch {
	case len(rest) > 0:
		return step{}, errUnknown
	case p.is(0, "back"):
		return step{act: actBack}, nil
	default:
		return step{act: actReload}, nil
	}
}

func readDialog(p phrase, _ places) (step, error) {
	s := step{act: actDialog, yes: !p.is(0, "dismiss")}
	rest := p.after(1, "the", "it", "dialog", "alert", "prompt", "question")
	if rest.is(0, "with") && len(rest) > 1 {
		s.text, rest = rest[1:].text(), nil
	}
	if len(rest) > 0 { // "accept cookies" is a button
		var ok bool
		s = step{act: actClick}
		if s.target, ok = readTarget(p); !ok {
			return s, errUnknown
		}
	}
	return s, nil
}
