package plain_test

import (
	"strings"
	"testing"
)

// recorded are snapshots of pages of component libraries, shortened, as they were one after the other.
var recorded = map[string][]string{
	"a list that opens beside the page": {
		`- combobox "Age" [expanded=false] [ref=e1]`,
		"- listbox \"Age\" [ref=e6]:\n  - option \"Twenty\" [active] [ref=e7]\n  - option \"Thirty\" [ref=e8]",
	},
	"a list that closes": {
		"- link \"Red\" [ref=e20]\n- combobox \"Tags\" [expanded=false] [ref=e1]",
		"- link \"Red\" [ref=e20]\n- combobox \"Tags\" [expanded] [ref=e1]\n- option \"Red\" [ref=e7]\n" +
			"- option \"Blue\" [ref=e9]",
		"- button \"Red\" [ref=e10]\n- combobox \"Tags\" [expanded=false] [ref=e1]",
		"- combobox \"Tags\" [expanded] [ref=e1]\n- option \"Red\" [selected] [ref=e14]\n- option \"Blue\" [ref=e16]",
	},
	"a list that stays open": {
		`- button "Pick" [expanded=false] [ref=e1]`,
		"- button \"Pick\" [expanded] [ref=e1]\n- listbox \"Pick\" [ref=e2]:\n  - option \"Ada\" [ref=e3]\n" +
			"  - option \"Bob\" [selected] [ref=e4]\n  - option \"Cleo\" [ref=e5]",
	},
	"a list that is drawn": {
		`- combobox "Fruit" [expanded=false] [readonly] [ref=e2]`,
		"- combobox \"Fruit\" [expanded] [readonly] [ref=e2]\n- listbox [ref=e4]:\n  - option \"Banana\" [ref=e6]\n" +
			"- generic \"Banana\" [ref=e8] [cursor:pointer]:\n  - text: Banana",
	},
	"a list that filters": {
		`- combobox "Colour" [expanded=false] [ref=e1]`,
		"- combobox \"Colour\" [expanded] [ref=e1]\n- text: No options",
		"- combobox \"Colour\" [expanded] [ref=e1]: Ocean\n- option \"Ocean\" [ref=e3]\n- option \"Create Ocean\" [ref=e4]",
	},
	"levels": {
		`- combobox "Area" [expanded=false] [readonly] [ref=e2]`,
		`- menuitemcheckbox "Fruit right" [ref=e4]`,
		"- menuitemcheckbox \"Fruit right\" [ref=e4]\n- menuitemcheckbox \"Pear\" [ref=e5]",
	},
	"a calendar": {
		`- combobox "Day" [expanded=false] [ref=e1]`,
		"- combobox \"Day\" [expanded] [ref=e1]\n" + month("2026", "May", "30 1 5 14 31 1 5"),
		"- combobox \"Day\" [expanded] [ref=e1]\n" + month("2026", "June", "31 1 5 14 30 1 5"),
	},
	"two calendars": {
		month("2026", "May", "1 14") +
			strings.NewReplacer("ref=e3", "ref=e4", "ref=e9", "ref=e8").Replace(month("2026", "June", "1 14")),
	},
	"a list of the page": {
		"- listbox \"Animals\" [ref=e1]:\n  - option \"Cat\" [ref=e2]\n  - option \"Emu\" [ref=e3]\n" +
			"- spinbutton \"month\" [ref=e4]\n- spinbutton \"day\" [ref=e5]",
	},
	"a label and a button": {
		"- generic \"Animal\" [ref=e1] [listener]\n- button \"Select an item Animal\" [expanded=false] [ref=e2]",
		"- listbox \"Animal\" [ref=e4]:\n  - option \"Dog\" [ref=e3]",
	},
	"a tree": {
		"- treeitem \"About\" [expanded=false] [ref=e1]:\n  - generic \"About\" [ref=e5] [listener]\n" +
			"- checkbox \"Apple\" [ref=e4]",
		"- treeitem \"About\" [expanded] [ref=e1]\n- treeitem \"History\" [ref=e2]",
	},
	"rows": {
		"- row [ref=e1] [item]:\n  - columnheader \"Make\" [sort=ascending] [ref=e8]:\n    - button \"Make\" [ref=e2]\n" +
			"- row [ref=e3] [tabindex]:\n  - gridcell [ref=e32] [listener]:\n    - checkbox \"Select row\" [ref=e4]\n" +
			"  - gridcell \"Ford\" [ref=e5] [listener]\n- listitem [ref=e6] [item]:\n" +
			"  - text: Task A\n- list \"Doing\" [ref=e7] [listener]",
	},
	"a page that goes on": {
		"- region \"Rows\" [ref=e1]:\n  - button \"Row 1\" [ref=e2]\n  - button \"Row 12\" [ref=e3]",
		"- region \"Rows\" [ref=e1]:\n  - button \"Row 119\" [ref=e4]\n  - button \"Row 120\" [ref=e5]",
	},
	"entries": {
		"- heading \"Ada\" [ref=e6]\n- button \"Delete account\" [ref=e7]\n- table:\n  - row \"News\" [ref=e1]:\n" +
			"    - button \"Remove\" [ref=e2]\n  - row \"Travel\" [ref=e3]:\n    - button \"Remove\" [ref=e4]",
	},
	"choices": {
		"- radiogroup \"Plan\":\n  - radio \"Business\" [ref=e2]\n  - generic \"Business\" [ref=e5] [listener]\n" +
			"- radio \"star\" [ref=e6]\n" +
			"- radio \"star\" [ref=e7]\n- button \"Pay now\" [ref=e8]\n- button \"Pay\" [ref=e9]\n" +
			"- button \"Take action\" [ref=e10]",
	},
}

// month returns what a calendar shows.
func month(year, name, days string) string {
	lines := []string{`- button "Previous Month" [ref=e90]`, `- button "` + year + `" [ref=e91]`, `- button "` + name +
		`" [ref=e92]`, `- button "Next Month" [ref=e93]`}
	for i, day := range strings.Fields(days) {
		lines = append(lines, `- gridcell "`+day+`" [ref=e3`+string(rune('0'+i))+`] [cursor:pointer]`)
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestSentencesAreFollowedOnRecordedPages(t *testing.T) {
	for _, tt := range []struct{ page, say, want string }{
		{"a list that opens beside the page", "choose Thirty in Age", "click ref=e1; click ref=e8"},
		{"a list that opens beside the page", "set Age to thirty", "click ref=e1; click ref=e8"},
		{"a list that opens beside the page", "choose Forty in Age", `"Forty" on the page. There is: option "Thirty", option "Twenty"`},
		{"a list that closes", "choose Red and Blue in Tags", "click ref=e1; click ref=e7; click ref=e1; click ref=e16"},
		{"a list that stays open", "choose Ada and Cleo in Pick", "click ref=e1; select ref=e2 values=[Ada Cleo]"},
		{"a list that stays open", "select the second option in Pick", "click ref=e1; click ref=e4"},
		{"a list that is drawn", "choose Banana in Fruit", "click ref=e2; click ref=e8"},
		{"a list that filters", "choose Ocean in Colour", "click ref=e1; type ref=e1 text=Ocean; click ref=e3"},
		{"a list that filters", "choose Oce in Colour", `I did not find the option "Oce"`},
		{"a list that filters", "choose Create in Colour", `I did not find the option "Create"`},
		{"a list that is drawn", "click Fruit and choose Banana", "click ref=e2; click ref=e8"},
		{"levels", "choose Fruit > Pear in Area", "click ref=e2; click ref=e4; click ref=e5"},
		{"a calendar", "pick 14 May 2026 in Day", "click ref=e1; click ref=e33"},
		{"a calendar", "pick 14 June in Day", "click ref=e1; click ref=e93; click ref=e33"},
		{"a calendar", "pick May 31 in Day", "click ref=e1; click ref=e34"},
		{"a calendar", "pick the 5th in Day", "click ref=e1; click ref=e32"},
		{"two calendars", "pick the 14th", "2 things on the page fit"},
		{"two calendars", "pick 14 June", "I did not find"},
		{"a list of the page", "select Cat and Emu", "select ref=e1 values=[Cat Emu]"},
		{"a list of the page", "set month to 3, day to 14", "type ref=e4 text=3; type ref=e5 text=14"},
		{"a label and a button", "choose Dog in Animal", "click ref=e2; click ref=e3"},
		{"a tree", "expand About and click History", "press key=ArrowRight ref=e1; hover ref=e1; click ref=e2"},
		{"rows", "tick Ford", "click ref=e4"},
		{"rows", "select the Ford row", "click ref=e4"},
		{"rows", "sort by make", "hover ref=e2"},
		{"rows", "sort by Make descending", "click ref=e2"},
		{"rows", "type Fiat into Ford", "type ref=e5 text=Fiat"},
		{"rows", "move Task A to the Doing list", "drag endRef=e7 startRef=e6"},
		{"a page that goes on", "scroll to Row 120 and click it", "scroll direction=down ref=e3; hover ref=e5; click ref=e5"},
		{"a page that goes on", "scroll right to Row 120", "scroll direction=right ref=e3; hover ref=e5"},
		{"entries", "remove News", "click ref=e2"},
		{"entries", "delete the second row", "click ref=e4"},
		{"entries", "remove Ada", `I did not find`}, // by what removes something else
		{"choices", "choose Business in Plan", "click ref=e2"},
		{"choices", "give it 2 stars", "click ref=e7"},
		{"choices", "click Pay now", "click ref=e8"},
		{"choices", "click Pay and then Take action", "click ref=e9; click ref=e10"},
		{"choices", "click Business and Sell", `I did not find "Sell"`},
		{"choices", "type rock and play into Pay", "Step 1 of 1, type rock and play into Pay, did not work"},
	} {
		w := &world{state: recorded[tt.page][0], then: recorded[tt.page][1:]}
		answer := w.ask(t, newModel(), tt.say)
		if calls := strings.Join(w.calls, "; "); calls != tt.want && !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %s: does %q, want %q\nanswer: %s", tt.page, tt.say, calls, tt.want, answer)
		}
	}
}
