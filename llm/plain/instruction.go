package plain

import (
	"errors"
	"fmt"
	"strings"
)

// stepKind is what a step does.
type stepKind int

const (
	actOpen stepKind = iota
	actClick
	actType
	actSearch // type into the search field and press Enter
	actSelect // an option of a list
	actChoose // an option, whatever it is an option of
	actPress
	actScroll
	actHover
	actBack
	actReload
	actWait
	actRead
	actLinks
	actLook
	actShot
	actTabs
	actTabNew
	actTabSelect
	actTabClose
	actDialog
	actLogin
	actClose
)

// step is one thing to do.
type step struct {
	act    stepKind
	source string // as it was written
	target target
	text   string // what to type, select, press, open or wait for
	double bool   // of a click
	right  bool
	gone   bool // wait until the text is gone
	yes    bool // accept the dialog
	n      int  // pixels or milliseconds
}

// target is how a person points at something on the page.
type target struct {
	name string
	role string // a word for what it is, see roleWords; may be empty
	nth  int    // counted from 1; -1 is the last; 0 if not said
	// again points at "one": the same as in an earlier instruction, only with
	// another nth.
	again bool
}

// misunderstood is an instruction that is not carried out.
type misunderstood struct {
	words string // the ones not understood
	why   string // may be empty
}

func (m *misunderstood) Error() string {
	s := fmt.Sprintf("I did not understand %q, so I did nothing.", m.words)
	if m.why != "" {
		s += " " + strings.ToUpper(m.why[:1]) + m.why[1:] + "."
	}
	return s
}

// problem explains to a person why words that begin like a step are none.
type problem string

func (p problem) Error() string { return string(p) }

// parseInstruction reads all steps of an instruction. Its error is a *misunderstood.
func parseInstruction(instruction string, known places) ([]step, error) {
	ts, err := tokenize(instruction)
	if err != nil {
		return nil, &misunderstood{words: strings.TrimSpace(instruction), why: err.Error()}
	}
	var steps []step
	for _, p := range splitSteps(ts) {
		source := instruction[p[0].start:p[len(p)-1].end]
		s, err := parseStep(p, known)
		if err != nil {
			m := &misunderstood{words: source}
			if why := problem(""); errors.As(err, &why) {
				m.why = string(why)
			}
			return nil, m
		}
		s.source = strings.Join(strings.Fields(source), " ")
		steps = append(steps, s)
	}
	return steps, nil
}

var errUnknown = errors.New("unknown words")

// parseStep reads one step.
func parseStep(p phrase, known places) (step, error) {
	if len(p) == 1 && !p[0].quoted {
		if u, ok := known.find(p[0].text); ok && strings.ContainsAny(p[0].text, ".:/") {
			return step{act: actOpen, text: u}, nil
		}
	}
	read := stepReader(p.word(0))
	if read == nil {
		return step{}, errUnknown
	}
	return read(p, known)
}

// stepReader returns what reads a step that begins with this word, or nil. These
// words also decide whether "and" and a full stop divide two steps.
func stepReader(word string) func(p phrase, known places) (step, error) {
	switch word {
	case "open", "visit", "load", "navigate", "browse":
		return readOpen
	case "go", "goto":
		return readGo
	case "click", "tap", "double-click", "doubleclick", "right-click", "rightclick", "check", "uncheck", "tick", "untick":
		return readClick
	case "press", "hit", "push":
		return readPress
	case "double", "right":
		return readDouble
	case "type", "write", "put", "enter", "input":
		return readType
	case "fill", "set":
		return readFill
	case "clear", "empty":
		return readClear
	case "search":
		return readSearch
	case "submit":
		return readSubmit
	case "select", "choose", "pick":
		return readSelect
	case "scroll":
		return readScroll
	case "hover", "point", "mouse":
		return readHover
	case "back", "reload", "refresh":
		return readBack
	case "wait":
		return readWait
	case "read", "extract", "get", "tell", "summarize", "summarise":
		return readRead
	case "list", "show", "look", "what":
		return readShow
	case "screenshot", "take":
		return readShot
	case "new", "switch":
		return readTab
	case "accept", "dismiss", "confirm", "answer":
		return readDialog
	case "log", "login", "sign":
		return readLogin
	case "close", "quit":
		return readClose
	default:
		return nil
	}
}
