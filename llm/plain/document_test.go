package plain_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/llm/plain"
)

// TestDocumentedStepsDoWhatIsWritten does every step of docs/plain.md on the page that it shows.
func TestDocumentedStepsDoWhatIsWritten(t *testing.T) {
	raw, err := os.ReadFile("../../docs/plain.md")
	check.Must(t, err)
	_, rest, _ := strings.Cut(string(raw), "\n```\n")
	state, rest, _ := strings.Cut(rest, "```\n")
	_, rest, _ = strings.Cut(rest, "```\n")
	opened, tables, ok := strings.Cut(rest, "```\n")
	rows := regexp.MustCompile("(?m)^\\| `(.*?)` \\| `(.*?)` \\|.*$").FindAllStringSubmatch(tables, -1)
	if n := strings.Count(tables, "\n| `"); !ok || n != len(rows) || n == 0 {
		t.Fatalf("%d of %d lines have a step and what it does", len(rows), n)
	}
	m := plain.New(plain.Options{Places: map[string]string{"the demo shop": "http://shop.test/"}})
	for _, row := range rows {
		w := &world{state: state, note: "downloaded invoice.pdf (1.2 MB) to /tmp/invoice.pdf", after: map[string]string{
			"browser_click": state + opened,
		}}
		if answer := w.ask(t, m, row[1]); strings.Join(w.calls, "; ") != row[2] {
			t.Errorf("%s: does %q, want %q\nanswer: %s", row[1], w.calls, row[2], answer)
		} else if strings.Contains(answer, "/tmp/") {
			t.Errorf("%s: tells where a file lies: %s", row[1], answer)
		}
	}
}

const (
	flat = `- button "Delete" [ref=e1] [in "Lamp"]
- button "Delete" [ref=e2] [in "Desk \"oak\""]
- generic "Star" [ref=e3] [cursor:pointer, item]
- text: Star
- checkbox "Accept" [checked] [ref=e4] [label]
- generic [ref=e5] [contenteditable]: "- button \"Pay\" [ref=e6]"
- combobox [ref=e7]
- combobox [ref=e8]
- textbox "Born" [type=date] [ref=e9]
- button [ref=e10]
- button "Send \u{009D}now" [ref=e11]
- button "Don't \"ask\"" [ref=e12]
- table:
  - row:
    - cell "Price" [ref=e13]`
	folded = `- list [ref=e1]:
  - listitem [ref=e2]:
    - link "One" [ref=e3]
  - text: … 2 more listitems like these: take a snapshot with after=e3
- button "End" [ref=e30]`
	cards = `- main:
  - heading "Lamp" [level=2] [ref=e1]
  - button "Add" [ref=e2]
  - heading "Desk" [level=2] [ref=e3]
  - button "Add" [ref=e4]
  - table:
    - row "Lamp" [ref=e5]:
      - cell "Lamp"
    - row "Desk" [ref=e6]:
      - cell "Desk"
      - button "Delete" [ref=e7]
  - link "Log in with care" [ref=e8]
  - button "Before" [ref=e9]
  - link "Tab" [ref=e10]
  - tab "Other" [ref=e11]
  - combobox "Kind" [ref=e12]:
    - group "All":
      - option "A" [ref=e13]
  - textbox [ref=e14]`
	// claim has fields whose labels stand beside them.
	claim = `- table:
  - row:
    - cell "Name" [ref=e1]
    - cell:
      - textbox [ref=e2]
  - row:
    - cell "Currency" [ref=e3]
    - cell:
      - combobox [ref=e4]: EUR
        - option "EUR" [selected] [ref=e5]
- paragraph:
  - checkbox "Hotel" [ref=e6]
  - checkbox [ref=e7]
  - text: Meals
- paragraph:
  - text: Nights:
  - spinbutton [ref=e8]: 1
- paragraph:
  - text: "Comfort:"
  - slider [ref=e9]: 5
- paragraph:
  - text: Details
  - paragraph: Only if you want
  - textbox [ref=e10]`
	// invoices has a row of headings, which nobody counts.
	invoices = `- navigation:
  - link "Notes" [ref=e20]
- table:
  - row:
    - columnheader "No" [ref=e1]
    - columnheader:
      - button "Customer" [ref=e2]
  - row:
    - cell "1001" [ref=e3]
    - cell:
      - link "Ada Lovelace" [ref=e4]
    - cell:
      - button "Edit" [ref=e5]
  - row:
    - cell "1002" [ref=e6]
    - cell:
      - link "Alan Turing" [ref=e7]
    - cell:
      - button "Edit" [ref=e8]
- tab "Paid" [selected] [ref=e9]
- switch "Dark mode" [ref=e10]
- link "2" [ref=e11]
- dialog "Pay":
  - button "Close" [ref=e12]
- heading "Terms" [ref=e13]
- link "edit" [ref=e14]
- heading "Notes" [ref=e15]
- link "edit" [ref=e16]`
)

// rest is what follows in folded.
var rest = map[string]string{
	"e3": `- list [ref=e1]:
  - listitem [ref=e4]:
    - link "Two" [ref=e5]
  - text: … at least 1 more listitems like these: take a snapshot with after=e5
- button "End" [ref=e30]`,
	"e5": "- list [ref=e1]:\n  - listitem [ref=e6]:\n    - link \"Three\" [ref=e7]\n- button \"End\" [ref=e30]",
}

func TestSnapshotsAreReadAsTheyAreWritten(t *testing.T) {
	const went = "open url=example.com; "
	for _, tt := range []struct{ state, say, want string }{
		{flat, "click Delete in Lamp", went + "click ref=e1"},
		{flat, "click the Delete button in the Desk row", went + "click ref=e2"},
		{flat, "click Delete", `"Lamp", button "Delete" in "Desk \"oak\"". Say which one, such as: the 2nd "Delete".`},
		{flat, "click Star", went + "click ref=e3"},
		{flat, "uncheck Accept", went + "click ref=e4"},
		{flat, "check Accept", went + "hover ref=e4"},
		{flat, "type x into the first field", went + "type ref=e5 text=x"},
		{flat, `click "Pay"`, `I did not find "Pay" on the page. There is: `},
		{flat, `select Oak in Wood`, "There is: combobox without a name (e7), combobox without a name (e8)."},
		{flat, `select Oak in the dropdown`, "Say which one, such as: the 2nd dropdown."},
		{flat, `select Oak in the 2nd dropdown`, went + "click ref=e8; type ref=e8 text=Oak"}, // it may open, or filter
		{flat, `upload a.txt`, "nor anything of that kind"},
		{flat, `upload a.txt into Star`, went + "upload paths=[a.txt] ref=e3"},
		{flat, `download Star`, "no download began"},
		{flat, `click Send`, went + "click ref=e11"},
		{flat, `click "Don’t"`, went + "click ref=e12"},
		{flat, `read the table`, went + "extract"},
		{flat, `read the dialog`, "nor anything of that kind"},
		{flat, `open "Star"`, went + "click ref=e3"},
		{flat, `פתח 👩‍👧`, `"פתח 👩‍👧", so I did nothing.`},
		{flat, strings.Repeat("word ", 1000), `…", so I did nothing.`},
		{folded, "click the 3rd link", went + "click ref=e7"},
		{folded, "click the last link", went + "click ref=e7"},
		{folded, "click the first link", went + "click ref=e3"},
		{folded, "click Three", went + "click ref=e7"},
		{folded, "click End", went + "click ref=e30"},
		{folded, `click Two, click "One"`, went + "click ref=e5; click ref=e3"},
		{folded, "click the 4th link", "I found only 3 of the link."},
		{cards, "click the Delete in the Lamp row", `I did not find "Delete" in the row "Lamp"`},
		{cards, "click the Delete in the Desk row", went + "click ref=e7"},
		{cards, "click Add below Desk", went + "click ref=e4"},
		{cards, "click the button after Lamp", `2 things on the page fit the button after "Lamp"`},
		{cards, "click the button above Tab", went + "click ref=e9"},
		{cards, "type x into the field", went + "type ref=e14 text=x"},
		{cards, "fill Kind with A", went + "select ref=e12 values=[A]"},
		{cards, "click the tab", went + "click ref=e10"},
		{cards, "click Log in with care", went + "click ref=e8"},
		{cards, "drag the 2nd Add to the Lamp row", went + "drag endRef=e5 startRef=e4"},
		{cards, "hover over the Desk row and click it", went + "hover ref=e6; click ref=e6"},
		{cards, "click the last textbox and type x into it", went + "click ref=e14; type ref=e14 text=x"},
		{cards, "click it", `I do not know what "it" means`}, // not what has these letters in its name
		{cards, "drag Foo to Bar", `I did not find "Foo"`},
		{claim, "type Ada into Name", went + "type ref=e2 text=Ada"},
		{claim, "set the Currency field to EUR", went + "select ref=e4 values=[EUR]"},
		{claim, "put 3 in nights", went + "type ref=e8 text=3"},
		{claim, "check Meals", went + "click ref=e7"},
		{claim, "check the box next to Hotel", went + "click ref=e7"},
		{claim, "check the box before Meals", went + "click ref=e7"},
		{claim, "check the box", `2 things on the page fit the checkbox: checkbox "Hotel", checkbox "Meals"`},
		{claim, "set the Comfort slider to 8", went + "type ref=e9 text=8"},
		{claim, "fill Details with x", `textbox "Only if you want".`},
		{claim, "type 12 into the field after Name", went + "type ref=e2 text=12"},
		{claim, "list the fields", "On the page there is:\n- textbox \"Name\"\n- spinbutton \"Nights:\"\n- textbox"},
		{claim, "list all rows", "There is no row on the page."},
		{invoices, "click Edit in the second row", went + "click ref=e8"},
		{invoices, "click Edit in row 2", went + "click ref=e8"},
		{invoices, "click Edit in the last row", went + "click ref=e8"},
		{invoices, "click Edit in the row of Ada Lovelace", went + "click ref=e5"},
		{invoices, "click Edit for Alan Turing", went + "click ref=e8"},
		{invoices, "click the Edit button of 1002", went + "click ref=e8"},
		{invoices, "click Edit in the Grace row", `I did not find the row "Grace" on the page.`},
		{invoices, "click the link Alan Turing", went + "click ref=e7"},
		{invoices, "open the Paid tab", went + "click ref=e9"},
		{invoices, "switch to the Paid tab", went + "click ref=e9"},
		{invoices, "go to the Paid tab", went + "click ref=e9"},
		{invoices, "open the third link", went + "click ref=e7"},
		{invoices, "turn on dark mode", went + "click ref=e10"},
		{invoices, "turn off dark mode", went + "hover ref=e10"},
		{invoices, "close the dialog", went + "click ref=e12"},
		{invoices, "click edit next to Notes", `2 things on the page fit "edit" beside "Notes"`},
		{invoices, "click Terms of use", `I did not find "Terms of use" on the page.`},
		{invoices, "select the 2nd row", "I found the row, but that cannot be done with it."},
		{"- link \"Terms\" [ref=e30]\n" + invoices, "click edit after Terms", went + "click ref=e14"},
		{invoices, "read the Terms section", went + "extract"},
		{invoices, "read row 2", "I found the row, but that cannot be done with it."},
		{invoices, "list the tabs on the page", went + "snapshot"},
	} {
		w := &world{state: tt.state, rest: rest}
		answer := w.ask(t, newModel(), "open example.com, "+tt.say)
		if calls := strings.Join(w.calls, "; "); calls != tt.want && !strings.Contains(answer, tt.want) {
			t.Errorf("%s: does %q, want %q\nanswer: %s", tt.say, calls, tt.want, answer)
		}
	}
}
