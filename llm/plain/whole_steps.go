package plain

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
	"read|read page|read text|read whole page|read everything|read all|read page text|read text page|read content|" +
		"read contents|read out|read aloud|read out to|read to|read article|read answer|read what says|read what page says|" +
		"extract|extract text|extract page|extract content|get text|get page|get text page|tell what says|tell answer|" +
		"tell what page says|summarize|summarise|summarize page|summarise page|what does say|" +
		"what does page say": {tool: "browser_extract"},
	"list links|list all links|list links page|list every link|extract links|extract all links|get links|get all links|" +
		"show links|show all links|read links": {tool: "browser_links"},
	"list|list buttons|list what can be clicked|look|look at page|look at|look around|what is on page|what can i click|" +
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
