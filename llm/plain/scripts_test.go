package plain_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"clank/llm"
	"clank/llm/plain"
)

const shelf = `- heading "Lamps" [level=1] [ref=e1]
- searchbox "Search" [ref=e2]
- list [ref=e3]:
  - listitem [ref=e4]:
    - link "Anna" [ref=e5]
    - button "Add" [ref=e6]
  - listitem [ref=e7]:
    - link "Bruno" [ref=e8]
    - button "Add" [ref=e9]
- combobox "Colour" [ref=e10]:
  - option "Red" [ref=e11]
- button "Say \"hello\", then go" [ref=e12]
- button [ref=e13]
- checkbox "Gift" [ref=e14]
- textbox [ref=e15]:
  - /placeholder: Your mail
- button "Search" [ref=e16]
- generic [ref=e17]`

func TestWordsFindTheElementAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ref, step, want string }{
		{"e6", "click %s", `the 1st "Add" button`},
		{"e9", "click %s", `the 2nd "Add" button`},
		{"e8", "click %s", `the "Bruno" link`},
		{"e2", `type "x" into %s`, `the "Search" field`},
		{"e16", "click %s", `the "Search" button`},
		{"e10", `select "Red" in %s`, `the "Colour" list`},
		{"e12", "click %s", `the "Say \"hello\", then go" button`},
		{"e13", "click %s", `the 1st button`},
		{"e14", "click %s", `the "Gift" checkbox`},
		{"e15", `type "x" into %s`, `the "Your mail" field`},
		{"e1", "read %s", `the "Lamps" heading`},
	} {
		got, err := plain.DescribeTarget(shelf, c.ref, c.step)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.ref, got, err, c.want)
		}
	}
	if _, err := plain.DescribeTarget(shelf, "e17", "click %s"); !errors.Is(err, plain.ErrNoName) {
		t.Errorf("an element without a name: %v", err)
	}
	if _, err := plain.DescribeTarget(shelf, "e99", "click %s"); err == nil {
		t.Error("an element that is not there was found")
	}
}

func TestRunStandsForTheStepsOfAScript(t *testing.T) {
	t.Parallel()
	var asked []string
	m := plain.New(plain.Options{Scripts: func(name, values string) (string, error) {
		asked = append(asked, name+"|"+values)
		if name != "lamps" {
			return "", fmt.Errorf("there is no script %q", name)
		}
		return "open shop.test\nread", nil
	}})
	for prompt, want := range map[string]string{
		"run lamps": "shop.test",
		`Run the script "lamps" with search = Ö.`: "shop.test",
		"run tables":                          `there is no script "tables"`,
		"run away with me and the money, now": "there is no script", // asked by its first word
		"open other.test":                     "other.test",
	} {
		reply, err := m.Generate(t.Context(), llm.Request{Messages: []llm.Message{llm.UserText(prompt)}, Tools: []llm.Tool{{Name: "browser_open"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := reply.Text()
		if calls := reply.Calls(); len(calls) > 0 {
			got += string(calls[0].Input)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", prompt, got, want)
		}
	}
	if !strings.Contains(strings.Join(asked, " "), "lamps|search = Ö") {
		t.Errorf("asked for %q", asked)
	}
}

func TestCheckCountsStepsOrSaysWhatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	if n, err := plain.CheckInstruction("open shop.test\ntype \"a\\\"b\" into the \"Search\" field\npress Enter"); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := plain.CheckInstruction("frobnicate the shop"); err == nil || !strings.Contains(err.Error(), "frobnicate") {
		t.Errorf("%v", err)
	}
}

func TestKeysHaveWords(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"Enter": "press Enter", "ArrowDown": "press ArrowDown", "Control+a": "press Control+a", "F5": "press F5", "x": "press the x key", "Fn": "", "Control+Sleep": "",
	} {
		if got, ok := plain.DescribeKey(key); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}
