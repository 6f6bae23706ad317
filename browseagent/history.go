package browseagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"clank/llm"
)

// history is the conversation of a session. [history.trim] limits its size.
type history struct {
	entries   []entry
	condensed bool // earlier tasks are reduced to their prompts and answers
	dropped   bool // the oldest entries were dropped
	untyped   bool // a person did not type all of the prompts
}

// wholeTasks is how many tasks are kept with their steps: the current one and the one before, which it may refer to.
// A session may last for weeks, and each model call pays for everything that is kept.
const wholeTasks = 2

// entry is one message and what may be omitted from it when it is old. Adjacent entries may have the same role;
// [history.messages] joins them.
type entry struct {
	llm.Message
	Prompt bool         `json:"prompt,omitempty"` // written by a person: a task begins here
	Bulk   []longResult `json:"bulk,omitempty"`   // its long tool results

	masked map[int]json.RawMessage // by part: inputs of calls as they are to be stored
}

// longResult says how to shorten a long tool result when it is old.
type longResult struct {
	Part    int    `json:"part"`
	Section string `json:"section"` // its contents: sectionPage, sectionChanges, …
	Short   string `json:"short"`
}

// showsPage reports whether it contains the page state, whole or as changes.
func (b longResult) showsPage() bool { return b.Section == sectionPage || b.Section == sectionChanges }

// omittedImage replaces a picture that is no longer in the conversation.
const omittedImage = "(the picture is left out)"

// addPrompt adds a task's prompt, or a later addition to it. typed says that a person typed it.
func (h *history) addPrompt(text string, typed bool) {
	h.untyped = h.untyped || !typed
	h.entries = append(h.entries, entry{Message: llm.UserText(text), Prompt: true})
	h.condense(wholeTasks)
}

func (h *history) addUserText(text string) {
	h.entries = append(h.entries, entry{Message: llm.UserText(text)})
}

// addReply records a reply of the model. An empty message is dropped, because vendors reject them.
func (h *history) addReply(m llm.Message) {
	if len(m.Parts) > 0 {
		h.entries = append(h.entries, entry{Message: m})
	}
}

// normalizeReply returns a reply's message in a form that can be stored: with the assistant role and with every input
// a JSON object. An input that is not an object is marked malformed; an absent input becomes an empty object.
func normalizeReply(m llm.Message) llm.Message {
	m = llm.Message{Role: llm.RoleAssistant, Parts: slices.Clone(m.Parts)}
	for i, p := range m.Parts {
		if p.Call == nil || json.Valid(p.Call.Input) {
			continue
		}
		c := *p.Call
		if c.Malformed == "" {
			c.Malformed = strings.TrimSpace(string(c.Input))
		}
		c.Input = json.RawMessage("{}")
		m.Parts[i].Call = &c
	}
	return m
}

// addResult records the result of a call. short replaces it when the section that it shows is old; "" if there is
// nothing to shorten.
func (h *history) addResult(res llm.ToolResult, short, section string) {
	last := len(h.entries) - 1
	if last < 0 || h.entries[last].Role != llm.RoleUser {
		h.entries = append(h.entries, entry{Message: llm.Message{Role: llm.RoleUser}})
		last++
	}
	e := &h.entries[last]
	if short != "" {
		e.Bulk = append(e.Bulk, longResult{Part: len(e.Parts), Section: section, Short: short})
	}
	e.Parts = append(e.Parts, llm.Part{Result: &res})
}

// maskInput replaces, for storage, the input of the newest call with this id.
func (h *history) maskInput(id string, input json.RawMessage) {
	for i := len(h.entries) - 1; i >= 0; i-- {
		e := &h.entries[i]
		for n, p := range e.Parts {
			if p.Call == nil || p.Call.ID != id {
				continue
			}
			if e.masked == nil {
				e.masked = map[int]json.RawMessage{}
			}
			e.masked[n] = input
			return
		}
	}
}

// answerOpenCalls adds results for calls that have none, so that the conversation can continue.
func (h *history) answerOpenCalls(why string) {
	open := map[string]bool{}
	var order []string
	for _, e := range slices.Backward(h.entries) {
		for _, p := range e.Parts {
			switch {
			case p.Result != nil:
				open[p.Result.ID] = false
			case p.Call != nil:
				if _, answered := open[p.Call.ID]; !answered {
					order = append(order, p.Call.ID)
				}
			}
		}
		if e.Role == llm.RoleAssistant {
			break
		}
	}
	for _, id := range order {
		h.addResult(llm.ToolResult{ID: id, Text: why, IsError: true}, "", "")
	}
}

// messages returns the conversation for a model with these capabilities. The caller must not modify it.
func (h *history) messages(caps llm.Caps) []llm.Message {
	var ms []llm.Message
	for _, e := range h.entries {
		m := messageForCaps(e.Message, caps)
		if last := len(ms) - 1; last >= 0 && ms[last].Role == m.Role {
			ms[last].Parts = append(ms[last].Parts, m.Parts...)
			continue
		}
		ms = append(ms, m)
	}
	if note := h.omissions(); note != "" && len(ms) > 0 {
		ms[0].Parts = slices.Insert(ms[0].Parts, 0, llm.Part{Text: note})
	}
	return ms
}

// omissions tells the model which parts of the conversation were omitted.
func (h *history) omissions() string {
	switch {
	case h.dropped:
		return "(The earlier part of this conversation is left out.)"
	case h.condensed:
		return "(Of earlier tasks only what was asked and answered is left, not what was done for it.)"
	default:
		return ""
	}
}

// messageForCaps returns a copy of m without pictures that the model cannot see. Pictures that the model accepts in
// messages but not in tool results are moved after the results.
func messageForCaps(m llm.Message, caps llm.Caps) llm.Message {
	var parts, pictures []llm.Part
	for _, p := range m.Parts {
		if p.Result != nil && len(p.Result.Images) > 0 && !caps.ToolImages {
			res := *p.Result
			if caps.Vision {
				for _, img := range res.Images {
					pictures = append(pictures, llm.Part{Image: &img})
				}
			}
			res.Images = nil
			p.Result = &res
		}
		if p.Image == nil || caps.Vision {
			parts = append(parts, p)
		}
	}
	return llm.Message{Role: m.Role, Parts: append(parts, pictures...)}
}

// trim keeps the newest keep page states and pictures in full, and shortens the conversation to limit characters as
// far as the newest exchange allows: first earlier tasks, then the oldest results of the current one. It reports
// whether a whole page state remains, to which later changes can refer.
func (h *history) trim(keep, limit int) bool {
	states, pictures := 0, 0
	for i := len(h.entries) - 1; i >= 0; i-- {
		e := &h.entries[i]
		for b := range slices.Backward(e.Bulk) {
			if e.Bulk[b].showsPage() {
				if states++; states > keep {
					h.shorten(i, b)
				}
			}
		}
		for p := len(e.Parts) - 1; p >= 0; p-- {
			if res := e.Parts[p].Result; res != nil && len(res.Images) > 0 {
				if pictures++; pictures > keep {
					e.Parts[p].Result = withoutImages(*res)
				}
			}
		}
	}
	for h.size() > limit && (h.condense(1) || h.dropTask() || h.shortenOldest() || h.dropExchange()) {
	}
	return h.shortenOrphans()
}

// shortenOrphans omits changes to a page state that is itself omitted, and reports whether a whole state remains.
func (h *history) shortenOrphans() bool {
	for i := range h.entries {
		for b := 0; b < len(h.entries[i].Bulk); b++ {
			switch h.entries[i].Bulk[b].Section {
			case sectionPage:
				return true
			case sectionChanges:
				h.shorten(i, b)
				b--
			}
		}
	}
	return false
}

// shorten shortens long result b of entry i.
func (h *history) shorten(i, b int) {
	e := &h.entries[i]
	part := &e.Parts[e.Bulk[b].Part]
	res := *part.Result
	res.Text = e.Bulk[b].Short
	part.Result = &res
	e.Bulk = slices.Delete(e.Bulk, b, b+1)
}

// shortenOldest shortens the oldest long result before the last entry and before the newest whole page state.
func (h *history) shortenOldest() bool {
	end := len(h.entries) - 1
	for i, e := range slices.Backward(h.entries) {
		if slices.ContainsFunc(e.Bulk, func(b longResult) bool { return b.Section == sectionPage }) {
			end = min(i, end)
			break
		}
	}
	for i := range end {
		if len(h.entries[i].Bulk) > 0 {
			h.shorten(i, 0)
			return true
		}
	}
	return false
}

// condense reduces all but the newest n tasks to their prompts and answers, and reports whether that changed
// anything. An interrupted task belongs to the one after it, which may continue it.
func (h *history) condense(n int) bool {
	var begins []int
	for i, e := range h.entries {
		if e.Prompt && (i == 0 || h.entries[i-1].answers()) {
			begins = append(begins, i)
		}
	}
	if len(begins) <= n {
		return false
	}
	rest := begins[len(begins)-n]
	kept := make([]entry, 0, len(h.entries))
	for i, e := range h.entries[:rest] {
		if e.Prompt || e.answers() && h.entries[i+1].Prompt {
			kept = append(kept, e)
		}
	}
	changed := len(kept) < rest
	h.condensed = h.condensed || changed
	h.entries = append(kept, h.entries[rest:]...)
	return changed
}

// answers reports whether e is a reply without calls.
func (e entry) answers() bool {
	return e.Role == llm.RoleAssistant && !slices.ContainsFunc(e.Parts, func(p llm.Part) bool { return p.Call != nil })
}

// dropTask drops the oldest task, unless it is the only one.
func (h *history) dropTask() bool {
	next := h.indexAfter(0, func(e entry) bool { return e.Prompt })
	if next < 0 {
		return false
	}
	h.entries = slices.Delete(h.entries, 0, next)
	h.dropped = true
	return true
}

// dropExchange drops the oldest exchange of a task: a reply and the results of its calls. It keeps the last exchange.
func (h *history) dropExchange() bool {
	reply := func(e entry) bool { return e.Role == llm.RoleAssistant }
	from := h.indexAfter(0, reply)
	if from < 0 {
		return false
	}
	to := h.indexAfter(from, reply)
	if to < 0 {
		return false
	}
	h.entries = slices.Delete(h.entries, from, to)
	h.dropped = true
	return true
}

// indexAfter returns the index of the first entry after i that satisfies is, or -1.
func (h *history) indexAfter(i int, is func(entry) bool) int {
	for j := i + 1; j < len(h.entries); j++ {
		if is(h.entries[j]) {
			return j
		}
	}
	return -1
}

// size returns the length of the conversation in bytes, without pictures.
func (h *history) size() int {
	n := 0
	for _, e := range h.entries {
		for _, p := range e.Parts {
			n += len(p.Text)
			if p.Call != nil {
				n += len(p.Call.Name) + len(p.Call.Input) + len(p.Call.Malformed)
			}
			if p.Result != nil {
				n += len(p.Result.Text)
			}
			if p.Opaque != nil {
				n += len(p.Opaque.Data)
			}
		}
	}
	return n
}

func withoutImages(res llm.ToolResult) *llm.ToolResult {
	res.Images = nil
	res.Text = fmt.Sprintf("%s\n%s", res.Text, omittedImage)
	return &res
}

// memoryVersion is the version of the stored format. Raise it for incompatible changes.
const memoryVersion = 1

// storedHistory is the stored format of a conversation: without pictures, but with the vendors' opaque parts.
type storedHistory struct {
	Version   int     `json:"version"`
	Condensed bool    `json:"condensed,omitempty"`
	Dropped   bool    `json:"dropped,omitempty"`
	Typed     bool    `json:"typed,omitempty"` // a person typed all of the prompts
	Entries   []entry `json:"entries"`
}

// marshal encodes the conversation for storage.
func (h *history) marshal() (json.RawMessage, error) {
	m := storedHistory{
		Version: memoryVersion, Condensed: h.condensed, Dropped: h.dropped, Typed: !h.untyped,
		Entries: make([]entry, 0, len(h.entries)),
	}
	for _, e := range h.entries {
		e.Parts = slices.Clone(e.Parts)
		for i, p := range e.Parts {
			switch {
			case e.masked[i] != nil:
				c := *p.Call
				c.Input = e.masked[i]
				e.Parts[i].Call = &c
			case p.Image != nil:
				e.Parts[i] = llm.Part{Text: omittedImage}
			case p.Result != nil && len(p.Result.Images) > 0:
				e.Parts[i].Result = withoutImages(*p.Result)
			}
		}
		m.Entries = append(m.Entries, e)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("store the conversation: %w", err)
	}
	return raw, nil
}

// parseHistory decodes a stored conversation and adds results for calls that were running when it was stored. If it
// is unreadable, the conversation is empty and the error says why.
func parseHistory(raw json.RawMessage) (history, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return history{}, nil
	}
	var m storedHistory
	if err := json.Unmarshal(raw, &m); err != nil {
		return history{}, fmt.Errorf("read the stored conversation: %w", err)
	}
	if m.Version != memoryVersion {
		return history{}, fmt.Errorf("read the stored conversation: version %d, not %d", m.Version, memoryVersion)
	}
	for i, e := range m.Entries {
		if err := e.check(); err != nil {
			return history{}, fmt.Errorf("read the stored conversation: entry %d: %w", i, err)
		}
	}
	h := history{entries: m.Entries, condensed: m.Condensed, dropped: m.Dropped, untyped: !m.Typed}
	h.answerOpenCalls("interrupted: the program ended")
	return h, nil
}

// check returns an error if the entry is unusable.
func (e entry) check() error {
	if e.Role != llm.RoleUser && e.Role != llm.RoleAssistant {
		return fmt.Errorf("unknown role %q", e.Role)
	}
	for _, b := range e.Bulk {
		if b.Part < 0 || b.Part >= len(e.Parts) || e.Parts[b.Part].Result == nil {
			return fmt.Errorf("part %d is not a tool result", b.Part)
		}
	}
	return nil
}
