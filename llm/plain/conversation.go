package plain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"clank/llm"
)

// conversation is what the model reads out of a request.
type conversation struct {
	instruction string
	results     []result // of the calls made for the instruction, oldest first
	rounds      []round  // all instructions, the newest last
	done        int      // steps of the instruction that were done in earlier rounds
	unreported  []result // of earlier rounds of the instruction, which were interrupted before they were answered
	lastCall    bool     // no tools are offered: the answer is due
	newest      int      // highest number in the ids of this model's calls
	failed      *result  // the call that went wrong, if one did
}

// round is an instruction and the results of the calls that were made for it.
type round struct {
	instruction string
	results     []result
	answered    bool
}

// result is one answered call of this model.
type result struct {
	tool string
	step int  // counted from 0
	look bool // the step was not done with it: it looked at the page, or led up to the step
	part bool // it did the step with one of several things
	outcome
	input  string // of the call, JSON
	failed bool
}

// callID matches the ids that this model gives to its calls: a number of its own, the purpose, and the step that the
// call belongs to. So what has been done is known even where the conversation has been shortened.
var callID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^plain_(\d{1,9})_(step|look|way|part)(\d{1,4})$`)
})

// readConversation finds the newest instruction and what has been done about it.
func readConversation(req llm.Request) conversation {
	c := conversation{lastCall: len(req.Tools) == 0}
	calls := map[string]result{}
	for i, m := range req.Messages {
		answered := false
		if n := len(c.rounds); n > 0 && m.Role == llm.RoleAssistant {
			c.rounds[n-1].answered = !slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Call != nil })
		}
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				if r, n, ok := ownCall(*p.Call); ok {
					calls[p.Call.ID] = r
					c.newest = max(c.newest, n)
				}
			case p.Result != nil:
				answered = true
				if r, ok := calls[p.Result.ID]; ok {
					r.outcome, r.failed = readOutcome(p.Result.Text), p.Result.IsError
					c.results = append(c.results, r)
					if n := len(c.rounds); n > 0 {
						c.rounds[n-1].results = c.results
					}
				}
			case p.Text != "" && m.Role == llm.RoleUser:
				// With the last results and without tools comes the request to answer, which is no instruction.
				if c.lastCall && answered && i == len(req.Messages)-1 {
					continue
				}
				c.rounds = append(c.rounds, round{instruction: p.Text})
				c.results = nil
			}
		}
	}
	if n := len(c.rounds); n > 0 {
		c.instruction = c.rounds[n-1].instruction
	}
	// A list of options that takes no text is as good as one that has none with that text.
	failed := func(r result) bool { return r.failed && (!r.look || r.tool != "browser_type") }
	if i := slices.IndexFunc(c.results, failed); i >= 0 {
		c.failed = &c.results[i]
	}
	return c
}

// hasPage reports whether a page is known to be open.
func (c conversation) hasPage() bool {
	return slices.ContainsFunc(c.rounds, func(r round) bool {
		return slices.ContainsFunc(r.results, func(r result) bool { return isPage(r.url) })
	})
}

// checkResults counts steps as failed that led to nothing: to no download, or to reading what is not there.
func (c *conversation) checkResults(steps []step) {
	for i := range c.results {
		r := &c.results[i]
		if r.look || r.failed || r.step >= len(steps) {
			continue
		}
		why := ""
		unsent := slices.IndexFunc(r.notes, func(n string) bool { return strings.HasPrefix(n, unsentForm) })
		switch {
		case unsent >= 0:
			why = r.notes[unsent]
		case steps[r.step].want == wantDownload:
			why = r.downloadProblem()
		case strings.TrimSpace(r.body) == "" && !isPage(r.url) && slices.Contains(pageSections, r.section):
			why = noPage
		case r.looksFor(steps[r.step]) && textMentioning(r.body, steps[r.step].on) == "":
			why = fmt.Sprintf("I did not find %q on the page.", steps[r.step].on.name)
		}
		if why != "" {
			r.failed, r.problem = true, why
			c.failed = cmp.Or(c.failed, r)
		}
	}
}

// unsentForm begins the note on a form that the browser did not send.
const unsentForm = "the form was not sent: "

// pageSections are the sections of results with what is on a page.
var pageSections = []string{"text", "links", "page"}

// downloadProblem says why a step downloaded nothing; "" if it did.
func (r result) downloadProblem() string {
	why := "no download began"
	for _, n := range r.notes {
		switch ours := strings.HasPrefix(n, "the download of "); {
		case ours && strings.Contains(n, " failed: "):
			why = n
		case ours, strings.HasPrefix(n, "downloaded "):
			why = ""
		}
	}
	return why
}

func ownCall(c llm.ToolCall) (r result, number int, ok bool) {
	m := callID().FindStringSubmatch(c.ID)
	if m == nil {
		return result{}, 0, false
	}
	number, _ = strconv.Atoi(m[1])
	step, _ := strconv.Atoi(m[3])
	r = result{tool: c.Name, step: step, look: m[2] != "step", part: m[2] == "part", input: string(c.Input)}
	return r, number, true
}

// replay returns how many steps have been done, and the page as the results leave it.
func (c conversation) replay() (done int, p page) {
	done = c.done
	for _, r := range c.results {
		p.note(r)
		p.take(r)
		if !r.look && !r.failed {
			done = max(done, r.step+1)
		}
	}
	return done, p
}

// outcome is what a tool result says, without its markers.
type outcome struct {
	remarks []string // of the program itself
	problem string
	notes   []string
	url     string
	title   string
	section string // heading of body: page, page changes, text, links, tabs
	body    string
}

var startMarker = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<<<EXTERNAL_UNTRUSTED_CONTENT id="([0-9a-f]+)">>>$`)
})

// readOutcome reads a tool result. What a page has written stands between two markers with the same id.
func readOutcome(text string) outcome {
	var r outcome
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if m := startMarker().FindStringSubmatch(l); m != nil {
			said := lines[i+1:]
			if end := slices.Index(said, fmt.Sprintf(`<<<END_EXTERNAL_UNTRUSTED_CONTENT id="%s">>>`, m[1])); end >= 0 {
				said = said[:end]
			}
			r.read(said[slices.Index(said, "---")+1:])
			return r
		}
		if i > 0 && l != "" {
			r.remarks = append(r.remarks, l)
		}
	}
	return r
}

// read reads the lines below the heading.
func (r *outcome) read(lines []string) {
	for i, l := range lines {
		key, value, _ := strings.Cut(l, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "error":
			r.problem = value
		case "note":
			r.notes = append(r.notes, value)
		case "url":
			r.url = value
		case "title":
			r.title = value
		case "page", "page changes", "text", "links", "tabs":
			r.section = key
			if value == "" {
				r.body = strings.Join(lines[i+1:], "\n")
			}
			return
		}
	}
}
