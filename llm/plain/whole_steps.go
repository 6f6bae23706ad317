package plain

import (
	"strings"
	"sync"
)

// inputs are the input of a tool.
type inputs = map[string]any

// fillers are left out of a step before it is looked up among the whole ones.
var fillers = []string{"the", "a", "an", "this", "it", "me", "of"}

// wholeSteps returns the steps that are said in fixed words, by these words without fillers.
var wholeSteps = sync.OnceValue(func() map[string]step {
	steps := map[string]step{}
	for _, w := range []struct {
		words string // separated by "|"
		does  step
	}{
		{"back|go back|go back to previous page|go back to last page|go back one page|back to previous page", step{tool: "browser_back"}},
		{"forward|go forward|go forward one page", step{tool: "browser_forward"}},
		{"reload|refresh|reload page|refresh page", step{tool: "browser_reload"}},
		{"enter|submit|submit form", pressStep("Enter")},
		{"wait|wait second|wait moment|wait bit|wait for second|wait for moment|wait for bit", waitStep("timeMs", 1000)},
		{"read|extract|read page|read text|read whole page|read everything|read all|read page text|read text page|read content|" +
			"read contents|read out|read aloud|read out to|read to|read article|read answer|read what says|read what page says|" +
			"extract text|extract page|extract content|get text|get page|get text page|tell what says|tell what page says|tell answer|" +
			"summarize|summarise|summarize page|summarise page|what does say|what does page say", step{tool: "browser_extract"}},
		{"list links|list all links|list links page|extract links|extract all links|get links|get all links|show links|show all links|" +
			"read links|list every link", step{tool: "browser_links"}},
		{"list|look|look at page|look at|look around|list buttons|list what can be clicked|what is on page|what can i click|" +
			"what can be clicked|what is there", step{tool: "browser_snapshot", want: wantLook}},
		{"screenshot|screenshot page|take screenshot|take screenshot page|take picture|take picture page|take photo|take photo page|" +
			"take another screenshot|take snapshot|show|show page|show how looks|show screenshot|show screenshot page|show picture|" +
			"show picture page", step{tool: "browser_screenshot", input: inputs{"show": true}}},
		{"list tabs|list all tabs|list open tabs|show tabs|show all tabs|show open tabs", tabStep("list", "", "")},
		{"new tab|open new tab|open tab", tabStep("new", "", "")},
		{"close tab", tabStep("close", "", "")},
		{"close|quit|close browser|quit browser|close session|close everything", step{tool: "browser_close"}},
		{"accept|accept dialog|accept alert|accept prompt|accept question|confirm|confirm dialog|confirm alert|confirm prompt|" +
			"confirm question", dialogStep(true, "")},
		{"dismiss|dismiss dialog|dismiss alert|dismiss prompt|dismiss question", dialogStep(false, "")},
	} {
		for words := range strings.SplitSeq(w.words, "|") {
			steps[words] = w.does
		}
	}
	return steps
})

func waitStep(until string, value any) step {
	return step{tool: "browser_wait", input: inputs{until: value}}
}

// tabStep returns a step that does something with tabs; key may be empty.
func tabStep(action, key, value string) step {
	in := inputs{"action": action}
	if key != "" {
		in[key] = value
	}
	return step{tool: "browser_tabs", input: in}
}

func dialogStep(accept bool, text string) step {
	in := inputs{"accept": accept}
	if text != "" {
		in["promptText"] = text
	}
	return step{tool: "browser_dialog", input: in}
}
