package plain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// downloadNote matches a note on a file, up to where it lies.
var downloadNote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^downloaded .* \([\d.]+ \w+\)`) })

// maxOutput bounds what one step adds to the answer, in bytes.
const maxOutput = 12_000

// finalAnswer returns what a person reads at the end: what went wrong, if anything did, what the steps found,
// and where the page is now.
func finalAnswer(c conversation, steps []step, done int, why string) string {
	var parts []string
	add := func(s string) {
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	switch {
	case c.failed != nil:
		add(problemText(steps, min(c.failed.step, len(steps)-1), c.failed.reason()))
	case why != "":
		add(problemText(steps, done, why))
	case done < len(steps):
		add(unfinishedText(c, steps, done))
	}
	results := slices.Concat(c.unreported, c.results)
	for _, r := range results {
		if !r.failed && !r.look {
			add(r.output(steps))
		}
	}
	for _, r := range results {
		for _, n := range r.notes {
			// People get the file itself, and may be elsewhere: where it lies on this machine is not for all to read.
			if saved := downloadNote().FindString(n); saved != "" {
				n = saved
			}
			n, forModel := strings.CutSuffix(n, "; answer it with the action dialog")
			switch {
			case strings.HasPrefix(n, "the page is now "): // that a step led somewhere is no news
			case strings.HasPrefix(n, unsentForm): // it is why the step failed
			case strings.HasSuffix(n, "; accept or dismiss it first"): // the note before tells of the dialog
			case forModel && done < len(steps), forModel && results[len(results)-1].step == r.step:
				add("Note: " + n + `; to answer it, say "accept the dialog" or "dismiss the dialog"`)
			case !forModel:
				add("Note: " + n)
			}
		}
	}
	_, p := c.replay()
	if here := p.here(c.failed); len(parts) == 0 || c.failed != nil || why != "" {
		if len(parts) == 0 {
			add("Done: " + listSteps(steps) + ".")
		}
		add(here)
	}
	return strings.Join(parts, "\n\n")
}

// forModels matches the refs and tags of elements in what a tool reports.
var forModels = regexp.MustCompile(`(^|: )(?:f\d+)?e\d+ | \[ref=\w+\]| \(\w+[.#][^ )]*\)`)

// problemText says which step did not work, and why.
func problemText(steps []step, i int, why string) string {
	why, _, _ = strings.Cut(why, " Do not try it in another way;") // which is for other models
	why = forModels.ReplaceAllString(why, "$1")
	s := fmt.Sprintf("Step %d of %d, %s, did not work: %s", i+1, len(steps), steps[i].source, why)
	if steps[i].tool == "fill_login" {
		s += ` To press what is called so, say click "Log in".`
	}
	if i+1 < len(steps) {
		s += "\nNot done: " + listSteps(steps[i+1:]) + "."
	}
	return s
}

// unfinishedText says what is left after the work had to end.
func unfinishedText(c conversation, steps []step, done int) string {
	if n := len(c.results); n > 0 && c.results[n-1].tool == "browser_close" {
		return "The browser is closed, so this was left out: " + listSteps(steps[done:]) + "."
	}
	const said = "I did %d of %d steps before a limit ended the work. Left to do: %s."
	return fmt.Sprintf(said, done, len(steps), listSteps(steps[done:]))
}

func listSteps(steps []step) string {
	var ss []string
	for _, s := range steps {
		ss = append(ss, s.source)
	}
	return strings.Join(ss, ", ")
}

// reason says why a call failed.
func (r result) reason() string {
	switch {
	case r.problem != "":
		return r.problem
	case len(r.remarks) > 0:
		return strings.Join(r.remarks, " ")
	default:
		return "the browser did not say why"
	}
}

// output returns what a step adds to the answer.
func (r result) output(steps []step) string {
	body := strings.TrimSpace(r.body)
	if len(body) > maxOutput {
		body = strings.ToValidUTF8(body[:maxOutput], "") + "…"
	}
	switch {
	case r.step < len(steps) && r.looksFor(steps[r.step]):
		return textMentioning(body, steps[r.step].on)
	case r.section == "text" && body != "":
		if r.url == "" {
			return body
		}
		return body + "\n\n(" + r.url + ")"
	case r.section == "text":
		return "There is no text to read."
	case r.section == "links" && body != "":
		return "Links on " + r.url + ":\n" + linkList(body)
	case r.section == "links":
		return "There are no links."
	case r.section == "tabs" && body != "":
		return "Tabs:\n- " + strings.ReplaceAll(body, "\n", "\n- ")
	case r.tool == "browser_screenshot":
		return "Here is the screenshot."
	case r.tool == "browser_close":
		return "The browser is closed."
	case r.tool == "browser_snapshot" && r.step < len(steps) && steps[r.step].want == wantLook:
		return r.overview(steps[r.step].kind)
	default:
		return ""
	}
}

// looksFor reports whether a result is the text of the whole page, in which the step's words are looked for.
func (r result) looksFor(s step) bool {
	return r.section == "text" && s.on.name != "" && !strings.Contains(r.input, `"ref"`)
}

// textMentioning returns the lines of a page's text that mention what is to be read; all of it for what has many lines,
// as it cannot be told where that ends; "" if there are none.
func textMentioning(text string, t target) string {
	var found []string
	for l := range strings.SplitSeq(text, "\n") {
		if strings.Contains(normalizeName(l), normalizeName(t.name)) {
			found = append(found, strings.TrimSpace(l))
		}
	}
	if len(found) > 0 && slices.Contains(blocks, t.role) {
		return text
	}
	return strings.Join(found, "\n")
}

// linkList writes lines of `text -> URL` as a list.
func linkList(body string) string {
	var out []string
	for l := range strings.SplitSeq(body, "\n") {
		text, to, ok := cutLast(l, " -> ")
		switch {
		case !ok:
			out = append(out, l)
		case text == "":
			out = append(out, "- "+to)
		default:
			out = append(out, "- "+text+": "+to)
		}
	}
	return strings.Join(out, "\n")
}

// overview lists what can be operated on the page, or what is of a kind.
func (r result) overview(kind string) string {
	p := page{lines: strings.Split(r.body, "\n")}
	var names []string
	listed := func(e element) bool { return e.acts && e.role != "option" }
	if kind != "" {
		listed = func(e element) bool { return slices.Contains(roleWords[kind], e.role) }
	}
	for _, e := range withTextBeside(p.elements()) {
		if e.ref != "" && listed(e) {
			names = append(names, "- "+e.describe())
		}
	}
	switch {
	case len(names) == 0 && kind != "":
		return fmt.Sprintf("There is no %s on the page.", kind)
	case len(names) == 0:
		return "There is nothing to operate on the page."
	}
	if n := len(names) - 40; n > 0 {
		names = append(names[:40], fmt.Sprintf("- and %d more", n))
	}
	return "On the page there is:\n" + strings.Join(names, "\n")
}

const noPage = "No page is open. Open one first, such as: open example.com"

// isPage reports whether an address is that of a page, not of an empty tab or of the browser's error page.
func isPage(url string) bool {
	return url != "" && url != "about:blank" && !strings.HasPrefix(url, "chrome-error:")
}

// here says where the page is. What a tab shows whose page did not open may be a notice of ours: it is no page.
func (p page) here(failed *result) string {
	switch {
	case !isPage(p.url):
		return ""
	case failed != nil && failed.tool == "browser_open" && p.title != "":
		return fmt.Sprintf("Instead of the page, the tab shows %q, at %s", p.title, p.url)
	case p.title == "":
		return "The page is now " + p.url + "."
	default:
		return fmt.Sprintf("The page is now %q, %s", p.title, p.url)
	}
}
