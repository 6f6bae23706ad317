package browseagent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/page/action/actiontable"
	"clank/internal/untrusted"
	"clank/llm"
	"clank/sessions/agent"
)

// passwordMask replaces a password in everything that people can read.
const passwordMask = "••••"

// element is an element as described by a line of a page state.
type element struct {
	role, name string
	secret     bool // a password field
}

// elementNames maps refs to elements of a page state.
type elementNames map[string]element

var attribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ \[([^\]]*)\]`) })

// parseElements parses the elements of a page state. It accepts attributes only at the position of attributes: a page
// may put "[ref=e1]" into names and texts.
func parseElements(lines []string) elementNames {
	ns := make(elementNames)
	for _, l := range lines {
		e, attributes := parseElement(l)
		ref := ""
		for m := attribute().FindStringSubmatch(attributes); m != nil; m = attribute().FindStringSubmatch(attributes) {
			attributes = attributes[len(m[0]):]
			if r, ok := strings.CutPrefix(m[1], "ref="); ok {
				ref = r
			}
			e.secret = e.secret || m[1] == "password" || m[1] == "type=password"
		}
		if ref == "" {
			continue
		}
		e.secret = e.secret || (e.role == "textbox" && agent.IsPasswordFieldName(e.name))
		ns[ref] = e
	}
	return ns
}

// parseElement parses the role and name of a line such as `  - button "Buy" [ref=e1]`, and returns the rest of the
// line. The whole key may be in single quotes, as in YAML.
func parseElement(line string) (e element, rest string) {
	line, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "- ")
	if !ok {
		return e, ""
	}
	if quoted, ok := strings.CutPrefix(line, "'"); ok {
		line = strings.ReplaceAll(quoted, "''", "'")
	}
	end := strings.IndexAny(line, " :")
	if end < 0 {
		return element{role: line}, ""
	}
	e.role, rest = line[:end], line[end:]
	if dec, name := json.NewDecoder(strings.NewReader(rest)), ""; strings.HasPrefix(rest, ` "`) &&
		dec.Decode(&name) == nil {
		e.name, rest = agent.OneLine(name), rest[dec.InputOffset():]
	}
	return e, rest
}

// describe describes the element with that ref for people: `"Sign in"`, or its role if it has no name, or the ref if
// it is unknown.
func (ns elementNames) describe(ref string) string {
	e, ok := ns[agent.NormalizeRef(ref)]
	switch {
	case !ok:
		return ref
	case e.name == "":
		return "the " + e.role
	default:
		return agent.Quote(e.name)
	}
}

// show formats an argument of a tool for people.
func (ns elementNames) show(p actiontable.Param, text string) string {
	switch p.Type {
	case actiontable.Ref:
		return ns.describe(text)
	case actiontable.Texts, actiontable.VerbatimTexts:
		return agent.Quote(text)
	default:
		return agent.Shorten(text, 60)
	}
}

// isPassword reports whether ref is a password field.
func (ns elementNames) isPassword(ref string) bool { return ns[agent.NormalizeRef(ref)].secret }

func labelType(a toolArgs, ns elementNames) string {
	ref := a.str("ref")
	text := agent.Quote(a.str("text"))
	if ns.isPassword(ref) {
		text = passwordMask
	}
	label := fmt.Sprintf("type %s into %s", text, ns.describe(ref))
	if a.flag("submit") {
		label += " and press Enter"
	}
	return label
}

func labelClick(a toolArgs, ns elementNames) string {
	verb := "click"
	if a.flag("doubleClick") {
		verb = "double-click"
	}
	if b := a.str("button"); b != "" && b != "left" {
		verb = b + "-" + verb
	}
	return verb + " " + ns.describe(a.str("ref"))
}

func labelWait(a toolArgs, _ elementNames) string {
	for _, w := range []struct{ field, words string }{
		{"text", "wait for "},
		{"textGone", "wait until it is gone: "},
		{"url", "wait for the address "},
		{"loadState", "wait for the page: "},
	} {
		if s := a.str(w.field); s != "" {
			return w.words + agent.Quote(s)
		}
	}
	return fmt.Sprintf("wait %g s", float64(a.num("timeMs"))/1000)
}

func labelTabs(a toolArgs, _ elementNames) string {
	switch a.str("action") {
	case "new":
		return strings.TrimSpace("open a new tab " + agent.ShortURL(a.str("url")))
	case "select":
		return "go to tab " + a.str("tab")
	case "close":
		return strings.TrimSpace("close tab " + a.str("tab"))
	default:
		return "list the tabs"
	}
}

func labelDialog(a toolArgs, _ elementNames) string {
	if a.flag("accept") {
		return "accept the dialog"
	}
	return "dismiss the dialog"
}

// The headings of the long part of a result. Everything between such a heading and the end marker belongs to it.
const (
	sectionPage    = "page"         // the whole page state
	sectionChanges = "page changes" // a unified diff of the last page state
	sectionText    = "text"         // readable text
	sectionLinks   = "links"        // lines of `text -> URL`
	sectionTabs    = "tabs"         // one line for each tab
)

const (
	maxNoteText = 2000 // characters of an address, a note or an error
	maxTitle    = 300  // characters of a title
)

// callOutcome is the outcome of one call.
//
// The model reads it as a first line "ok" or "failed", our own remarks, and then, marked as untrusted, lines that
// begin with "error: ", "note: ", "url: " and "title: ", followed by at most one section.
type callOutcome struct {
	err      error  // the tool failed; the text may come from the page
	decision string // what people decided, if they were asked
	remarks  []string
	notes    []string
	url      string // "" if unknown
	title    string // "" if unchanged
	section  string
	body     string
	images   []llm.Image
	view     *llm.Image
	invalid  bool // the call was malformed; nothing was done
}

func failedOutcome(err error) callOutcome { return callOutcome{err: err} }

// invalidCall returns the outcome of a malformed call.
func invalidCall(format string, args ...any) *callOutcome {
	return &callOutcome{invalid: true, remarks: []string{fmt.Sprintf(format, args...)}}
}

// failed reports whether the tool failed to do what was asked.
func (o *callOutcome) failed() bool { return o.err != nil || o.invalid }

// text returns the text for the model. short replaces it when it is old; "" if there is nothing to shorten. n is the
// number of the step.
func (o *callOutcome) text(n int) (full, short string) {
	head := "ok"
	if o.failed() {
		head = "failed"
	}
	if o.decision != "" {
		head += "\n" + o.decision
	}
	head = strings.Join(append([]string{head}, o.remarks...), "\n")
	var lines []string
	if o.err != nil {
		lines = append(lines, "error: "+untrusted.CleanLine(o.err.Error(), maxNoteText))
	}
	for _, note := range o.notes {
		lines = append(lines, "note: "+untrusted.CleanLine(note, maxNoteText))
	}
	if o.url != "" {
		lines = append(lines, "url: "+untrusted.CleanLine(o.url, maxNoteText))
	}
	if o.title != "" {
		lines = append(lines, "title: "+untrusted.CleanLine(o.title, maxTitle))
	}
	switch {
	case o.section != "" && o.body != "":
		gone := fmt.Sprintf("(%s of step %d left out)", strings.Replace(o.section, sectionPage, "page state", 1), n)
		short = head + "\n" + untrusted.Wrap(strings.Join(append(slices.Clip(lines), gone), "\n"))
		lines = append(lines, o.section+":", indentHeadings(o.body))
	case o.section != "":
		lines = append(lines, o.section+": none")
	}
	if len(lines) == 0 {
		return head, ""
	}
	return head + "\n" + untrusted.Wrap(strings.Join(lines, "\n")), short
}

// ownHeading matches lines that look like our own headings.
var ownHeading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:error|note|url|title|page|page changes|text|links|tabs)[ \t]*:`)
})

// indentHeadings indents lines of a page that look like our headings by a space, so that unindented headings are
// always ours.
func indentHeadings(body string) string {
	return ownHeading().ReplaceAllString(untrusted.Clean(body), " $0")
}

// redact removes a secret from what the page and the browser returned.
func (o *callOutcome) redact(secret string) {
	if secret == "" {
		return
	}
	for i, n := range o.notes {
		o.notes[i] = strings.ReplaceAll(n, secret, "")
	}
	if o.err != nil && strings.Contains(o.err.Error(), secret) {
		o.err = errors.New(strings.ReplaceAll(o.err.Error(), secret, ""))
	}
}

// summary returns the part of the outcome that people see besides the step's label.
func (o *callOutcome) summary() string {
	if o.decision != "" {
		rest := *o
		rest.decision = ""
		return strings.TrimSuffix(o.decision+" "+rest.summary(), " ")
	}
	switch {
	case o.err != nil:
		return o.err.Error()
	case o.invalid:
		return agent.ForPeople(strings.Join(o.remarks, " "))
	case o.section == sectionText || o.section == sectionLinks:
		return agent.Truncate(o.body, 500)
	default:
		return strings.Join(o.notes, "; ")
	}
}

// fingerprint returns a hash that is equal for outcomes with the same content for the model.
func (o *callOutcome) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%v\x00%q\x00%q\x00%q\x00%q", o.err, o.remarks, o.notes, o.url, o.section)
	h.Write([]byte(o.body))
	for _, img := range o.images {
		sum := sha256.Sum256(img.Data)
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}
