package plain

import (
	"errors"
	"fmt"
	"strings"
)

// step is one thing to do: a tool and its input. Which elements it needs is known when the page is.
type step struct {
	source string // as it was written
	tool   string
	input  map[string]any
	on     target // the element whose ref the tool takes; the zero value if it needs none
	onto   target // where a drag ends
	want   want
}

// want is what a step wants besides using its tool.
type want int

const (
	wantUse      want = iota
	wantOn            // a checked box
	wantOff           // an unchecked box
	wantOption        // an option, whatever it is an option of
	wantSearch        // the field to search in, whatever it is called
	wantDownload      // that a download begins
	wantLook          // the person wants to know what there is
)

// problem explains to a person why words that begin like a step are none; it may be empty.
type problem string

func (p problem) Error() string { return string(p) }

const errUnknown = problem("")

// misunderstood says that an instruction is not carried out, and why, if there is more to say than that.
func misunderstood(words string, err error) error {
	s := fmt.Sprintf("I did not understand %q, so I did nothing.", words)
	if why := err.Error(); why != "" {
		s += " " + strings.ToUpper(why[:1]) + why[1:] + "."
	}
	return errors.New(s)
}

// parseInstruction reads all steps of an instruction. Its error is for the person.
func parseInstruction(instruction string, known places) ([]step, error) {
	ts, err := tokenize(instruction)
	if err != nil {
		return nil, misunderstood(strings.TrimSpace(instruction), err)
	}
	var steps []step
	for _, p := range splitSteps(ts) {
		source := instruction[p[0].start:p[len(p)-1].end]
		s, err := parseStep(p, known)
		if err != nil {
			return nil, misunderstood(source, err)
		}
		s.source = strings.Join(strings.Fields(source), " ")
		steps = append(steps, s)
	}
	return steps, nil
}

// parseStep reads one step.
func parseStep(p phrase, known places) (step, error) {
	if len(p) == 1 && !p[0].quoted {
		if u, ok := known.find(p[0].text); ok && strings.ContainsAny(p[0].text, ".:/") {
			return openStep(u), nil
		}
	}
	if s, ok := wholeSteps[p.without(fillers...).lower()]; ok {
		return s, nil
	}
	read := stepReaders[p.word(0)]
	if read == nil {
		return step{}, errUnknown
	}
	return read(p, known)
}

// stepReaders read the steps that begin with a word. These words also decide whether "and" and a full stop divide two
// steps.
var stepReaders = byWord(map[string]func(p phrase, known places) (step, error){
	"open|visit|load|navigate|browse|goto": readOpen, "go": readGo, "press|hit|push": readPress,
	"click|tap|double-click|doubleclick|double|right-click|rightclick|right|check|uncheck|tick|untick|submit": readClick,
	"type|write|put|enter|input": readType, "fill|set": readFill, "clear|empty": readClear, "search": readSearch,
	"select|choose|pick": readSelect, "upload|attach": readUpload, "download": readDownload, "drag|move": readDrag,
	"scroll": readScroll, "hover|point|mouse": readHover, "wait": readWait,
	"read|extract|get|tell|summarize|summarise|show": readRead, "new|switch": readTab, "log|login|sign": readLogin,
	"accept|dismiss|confirm|answer": readDialog, "close|quit": readClose,
	"back|forward|reload|refresh|list|look|what|screenshot|take": readWhole,
})

// readWhole refuses what begins like one of the steps that are said in fixed words.
func readWhole(phrase, places) (step, error) { return step{}, errUnknown }

func openStep(url string) step { return step{tool: "browser_open", input: inputs{"url": url}} }

func pressStep(key string) step { return step{tool: "browser_press", input: inputs{"key": key}} }
