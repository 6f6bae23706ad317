package realtime

import "slices"

// Limits of what is replayed after a connection broke.
const (
	keptItems = 80
	keptRunes = 48000
)

// history is the conversation in the order of the server's items: what people and the model said, as text, and what
// tools were called with and gave.
type history struct{ items []item }

func (h *history) find(id string) *item {
	for i := len(h.items) - 1; i >= 0; i-- {
		if id != "" && h.items[i].ID == id {
			return &h.items[i]
		}
	}
	return nil
}

// findSame finds an item under the id that the server gave it, or by the call that it is about.
func (h *history) findSame(i item) *item {
	if old := h.find(i.ID); old != nil || i.CallID == "" {
		return old
	}
	for n := len(h.items) - 1; n >= 0; n-- {
		if h.items[n].CallID == i.CallID && h.items[n].Type == i.Type {
			return &h.items[n]
		}
	}
	return nil
}

// add adds an item at its position. Its text may follow later.
func (h *history) add(i item) {
	if old := h.findSame(i); old != nil {
		if w := i.words(); w != "" {
			old.Content = []content{{Text: w}}
		}
		if i.Arguments != nil && *i.Arguments != "" {
			old.Arguments = i.Arguments
		}
		return
	}
	if w := i.words(); w != "" {
		i.Content = []content{{Text: w}}
	} else {
		i.Content = nil
	}
	h.items = append(h.items, i)
	if n := len(h.items) - 2*keptItems; n > 0 {
		h.items = slices.Delete(h.items, 0, n)
	}
}

// setText sets the text of an item.
func (h *history) setText(id, role, text string) {
	if h.find(id) == nil {
		h.add(item{ID: id, Type: "message", Role: role})
	}
	if i := h.find(id); i != nil {
		i.Content = []content{{Text: text}}
	}
}

// truncate leaves of an item's text the part that was heard, taken to be in proportion to its sound.
func (h *history) truncate(id string, part float64) {
	i := h.find(id)
	if i == nil || len(i.Content) == 0 {
		return
	}
	r := []rune(i.Content[0].Text)
	i.Content[0].Text = string(r[:int(float64(len(r))*max(0, min(1, part)))])
}

// replayItems returns the items that a new conversation begins with, under new ids: the latest ones with text, without
// results whose calls are missing.
func (h *history) replayItems(id func() string) []item {
	var out []item
	runes := 0
	for n := len(h.items) - 1; n >= 0 && len(out) < keptItems && runes < keptRunes; n-- {
		i, ok := h.items[n].replayItem()
		if !ok {
			continue
		}
		runes += len(i.words())
		if i.Output != nil {
			runes += len(*i.Output)
		}
		out = append(out, i)
	}
	slices.Reverse(out)
	called := map[string]bool{}
	h.items = slices.DeleteFunc(out, func(i item) bool {
		if i.Type == "function_call" {
			called[i.CallID] = true
		}
		return i.Type == "function_call_output" && !called[i.CallID]
	})
	for n := range h.items {
		h.items[n].ID = id()
	}
	return slices.Clone(h.items)
}

// replayItem returns an item in the form in which it can be replayed.
func (i item) replayItem() (item, bool) {
	i.ID = ""
	switch i.Type {
	case "function_call":
		return i, i.Arguments != nil && i.Name != ""
	case "function_call_output":
		return i, true
	case "message":
		text := i.words()
		kind := "input_text"
		if i.Role == "assistant" {
			kind = "output_text"
		}
		i.Content = []content{{Type: kind, Text: text}}
		return i, text != "" && (i.Role == "user" || i.Role == "assistant" || i.Role == "system")
	}
	return item{}, false
}

// textOf returns the current text of an item.
func (h *history) textOf(id string) string {
	if i := h.find(id); i != nil {
		return i.words()
	}
	return ""
}
