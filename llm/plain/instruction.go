package plain

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// step is one thing to do: a tool and its input. Which elements it needs is known when the page is.
type step struct {
	source string // as it was written
	tool   string
	input  map[string]any
	on     target // the element whose ref the tool takes; the zero value if it needs none
	option target // what is chosen in it, or removed with it
	onto   target // where a drag ends
	want   want
	kind   string // a word for what is listed, see roleWords, empty for all; or the direction that is scrolled
}

// want is what a step wants besides using its tool.
type want int

const (
	wantUse      want = iota
	wantOn            // a checked box
	wantOff           // an unchecked box
	wantOption        // an option, whatever it is an option of
	wantChoose        // an option of what is named, which may have to be opened
	wantSet           // a value: an option, or a text
	wantOpen          // what is in it to be shown
	wantSorted        // the column sorted upwards
	wantReversed      // the column sorted downwards
	wantRemove        // what is named removed
	wantSeen          // what is named in view
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
	s := `I did not understand "` + shorten(words, 200) + `", so I did nothing.`
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
	var before phrase
	for _, p := range splitSteps(ts) {
		source := instruction[p[0].start:p[len(p)-1].end]
		if len(before) == 0 && p.lower() == "ok" {
			continue
		}
		times, once := p.times()
		some, err := parseSteps(once, before, known)
		if err != nil && p.repeats(before) {
			p = append(phrase{before[0]}, p...)
			times, once = p.times()
			some, err = parseSteps(once, before, known)
		}
		before = p
		for i := range some {
			if err == nil && some[i].on.same {
				some[i].on, err = lastTarget(append(steps, some[:i]...))
			}
			some[i].source = strings.Join(strings.Fields(source), " ")
		}
		if err != nil {
			return nil, misunderstood(source, err)
		}
		for range times {
			steps = append(steps, some...)
		}
		known.page = true
	}
	return steps, nil
}

// lastTarget returns what "it" means after these steps.
func lastTarget(steps []step) (target, error) {
	for _, s := range slices.Backward(steps) {
		if s.on != (target{}) {
			return s.on, nil
		}
	}
	return target{}, problem(`I do not know what "it" means here: say its name`)
}

// repeats reports whether a phrase without a verb takes that of the phrase before: "click Edit, then Save", and "set A
// to 1, B to 2". A name must be recognizable as one.
func (p phrase) repeats(before phrase) bool {
	if len(before) == 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(p[0].text)
	name := p[0].quoted || unicode.IsUpper(first) || unicode.IsDigit(first)
	into := slices.ContainsFunc(joints[before.word(0)], func(w string) bool {
		at := p.last(w)
		return before.last(w) > 0 && at > 0 && at < len(p)-1
	})
	if before.is(0, "set", "fill") && stepReaders[p.word(0)] == nil && into {
		return true
	}
	return name && (into || slices.Contains(repeated, before.word(0)))
}

// repeated are the verbs that a list of names may follow.
var repeated = []string{
	"click", "tap", "press", "open", "tick", "check", "untick", "uncheck", "select", "choose", "pick", "hover", "expand",
	"remove", "delete",
}

// maxTimes bounds how often a step is done.
const maxTimes = 20

// times returns how often a phrase says that a step is to be done, and the phrase without that.
func (p phrase) times() (int, phrase) {
	last := len(p) - 1
	if !slices.Contains([]string{"click", "tap", "press", "hit", "push", "scroll"}, p.word(0)) || last < 2 {
		return 1, p
	}
	if p.is(last, "twice") {
		return 2, p[:last]
	}
	n, err := strconv.Atoi(p.word(last - 1))
	if p.is(last, "times") && err == nil && n > 0 && n <= maxTimes {
		return n, p[:last-1]
	}
	return 1, p
}

// parseSteps reads a phrase, which is one step or stands for several.
func parseSteps(p, before phrase, known places) ([]step, error) {
	if p.is(0, "make") {
		return readMake(p)
	}
	if joints[before.word(0)] != nil && slices.Contains([]string{"log in", "sign in"}, p.lower()) { // what was typed
		return []step{{tool: "browser_click", on: nameOr("log in", "login", "sign in")}}, nil
	}
	s, err := parseStep(p, known)
	return []step{s}, err
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
	if isButton(p) {
		return buttonStep(p), nil
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
	"click|tap|double-click|doubleclick|double|right-click|rightclick|right|check|uncheck|tick|untick|submit|" +
		"enable|disable": readClick, "turn": readTurn,
	"type|write|put|enter|input": readType, "fill|set": readFill, "clear|empty": readClear, "search": readSearch,
	"select|choose|pick": readSelect, "upload|attach": readUpload, "download": readDownload, "drag|move": readDrag,
	"scroll": readScroll, "hover|point|mouse": readHover, "wait": readWait,
	"read|extract|get|tell|summarize|summarise|show": readRead, "new|switch": readTab, "log|login|sign": readLogin,
	"accept|dismiss|confirm|answer": readDialog, "close|quit": readClose,
	"expand|unfold|collapse": readExpand, "sort|order": readSort, "remove|delete": readRemove, "give|rate": readRate,
	"replace|change": readFill, "make": readWhole,
	"list": readList, "back|forward|reload|refresh|look|what|screenshot|take": readWhole,
})

// readWhole refuses what begins like one of the steps that are said in fixed words.
func readWhole(phrase, places) (step, error) { return step{}, errUnknown }

func openStep(url string) step { return step{tool: "browser_open", input: inputs{"url": url}} }

func pressStep(key string) step { return step{tool: "browser_press", input: inputs{"key": key}} }

// inputs are the input of a tool.
type inputs = map[string]any

// fillers are left out of a step before it is looked up among the whole ones.
var fillers = []string{"the", "a", "an", "this", "it", "me", "of"}

// wholeSteps are the steps that are said in fixed words, by these words without fillers.
var wholeSteps = byWord(map[string]step{
	"back|go back|go back to previous page|go back to last page|back to previous page": {tool: "browser_back"},
	"forward|go forward":                      {tool: "browser_forward"},
	"reload|refresh|reload page|refresh page": {tool: "browser_reload"},
	"enter|submit|submit form":                pressStep("Enter"),
	"wait|wait second|wait moment|wait bit|wait for second|wait for moment|wait for bit": waitStep("timeMs", 1000),
	"wait for page|wait for page to load|wait for to load|wait until page loads|wait until loads|" +
		"wait until page is loaded|wait until is loaded|wait until page has loaded": waitStep("loadState", "load"),
	"read|read page|read text|read whole page|read everything|read all|read page text|read text page|read content|" +
		"read contents|read out|read aloud|read out to|read to|read article|read answer|read what says|read what page says|" +
		"extract|extract text|extract page|extract content|get text|get page|get text page|tell what says|tell answer|" +
		"tell what page says|summarize|summarise|summarize page|summarise page|what does say|" +
		"what does page say": {tool: "browser_extract"},
	"list links|list all links|list links page|list every link|extract links|extract all links|get links|get all links|" +
		"show links|show all links|read links": {tool: "browser_links"},
	"list|list what can be clicked|look|look at page|look at|look around|what is on page|what can i click|" +
		"what can be clicked|what is there": {tool: "browser_snapshot", want: wantLook},
	"screenshot|screenshot page|take screenshot|take screenshot page|take picture|take picture page|take photo|" +
		"take photo page|take another screenshot|take snapshot|show|show page|show how looks|show screenshot|" +
		"show screenshot page|show picture|show picture page": {tool: "browser_screenshot", input: inputs{"show": true}},
	"list tabs|list all tabs|list open tabs|show tabs|show all tabs|show open tabs": tabStep(inputs{"action": "list"}),
	"new tab|open new tab|open tab": tabStep(inputs{"action": "new"}),
	"close tab":                     tabStep(inputs{"action": "close"}),
	"close|quit|close browser|quit browser|close session|close everything": {tool: "browser_close"},
	"accept|accept dialog|accept alert|accept prompt|accept question|confirm|confirm dialog|confirm alert|" +
		"confirm prompt|confirm question": dialogStep(inputs{"accept": true}),
	"dismiss|dismiss dialog|dismiss alert|dismiss prompt|dismiss question": dialogStep(inputs{"accept": false}),
})

func waitStep(until string, value any) step {
	return step{tool: "browser_wait", input: inputs{until: value}}
}

func tabStep(in inputs) step { return step{tool: "browser_tabs", input: in} }

func dialogStep(in inputs) step { return step{tool: "browser_dialog", input: in} }

// continuePhrases are the words that ask to go on with the instruction before.
var continuePhrases = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:please |bitte )?(?:continue|go on|carry on|keep going|resume|` +
		`(?:mach(?:e)? )?weiter|fahr(?:e)? fort|continuez|continua|contin[uú]a|sigue|prosegui)[\s.!]*$`)
})

// asksToContinue reports whether an instruction asks to go on with the one before.
func asksToContinue(instruction string) bool {
	return continuePhrases().MatchString(strings.TrimSpace(instruction))
}

// resume returns c as it is to be continued. If the newest instruction only asks to continue, that is the last one
// with steps, from the first step that was not done; what was seen before is not relied on.
func (c conversation) resume(places places) conversation {
	if !asksToContinue(c.instruction) {
		return c
	}
	var before []result
	answered := false
	for i, r := range slices.Backward(c.rounds[:len(c.rounds)-1]) {
		before = slices.Concat(r.results, before)
		if answered = answered || r.answered; !answered {
			c.unreported = before
		}
		for _, res := range r.results {
			if !res.look && !res.failed {
				c.done = max(c.done, res.step+1)
			}
		}
		if asksToContinue(r.instruction) {
			continue
		}
		if steps, err := parseInstruction(r.instruction, places); err == nil && len(steps) > 0 {
			if c.done >= len(steps) { // its answer may have reached nobody
				c.unreported = before
			}
			c.instruction, c.rounds = r.instruction, c.rounds[:i+1]
			return c
		}
	}
	c.done = 0
	return c
}
