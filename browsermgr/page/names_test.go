package page_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clank/browsermgr/page"
)

// TestNamesRolesAndStatesAreChromiums compares each element with a ref with what Chromium's own tree says of it, on
// pages that have a case for each rule of accname 1.2, HTML-AAM, SVG-AAM and ARIA 1.3.
func TestNamesRolesAndStatesAreChromiums(t *testing.T) {
	files, err := filepath.Glob("testdata/names/*.html")
	if err != nil || len(files) < 5 {
		t.Fatalf("got %v, %v", files, err)
	}
	elements, equal := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, differ := compareNames(t, openTab(t, site(t, map[string]string{"/": string(text)}).URL))
		elements, equal = elements+n, equal+n-len(differ)
		for _, line := range differ {
			t.Logf("%s: %s", filepath.Base(file), line)
		}
	}
	t.Logf("names: elements=%d equal=%d percent=%.1f", elements, equal, 100*float64(equal)/float64(max(elements, 1)))
	if elements < 400 || equal*100 < elements*99 {
		t.Errorf("%d of %d elements have Chromium's role, name and states, want 99 %% of 400 or more", equal, elements)
	}
}

// compareNames counts the elements with a ref, and tells in which Chromium's tree differs.
func compareNames(t *testing.T, tab *page.Tab) (elements int, differ []string) {
	t.Helper()
	snap := snapshot(t, tab, page.SnapshotOptions{})
	tree, err := page.TreeElements(t.Context(), tab)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(snap.Text) {
		ours, ref := elementOf(line)
		if ref == "" {
			continue
		}
		elements++
		theirs, known := tree[ref]
		if !known {
			differ = append(differ, strings.TrimSpace(line)+"\n\tnot in the tree")
			continue
		}
		if theirs.Name == "" {
			ours = namedByUs.ReplaceAllString(ours, "$1")
		}
		if want := inOurWords(theirs, ours); ours != want {
			differ = append(differ, "got "+ours+"\n\twant "+want)
		}
	}
	return elements, differ
}

var (
	refLine    = regexp.MustCompile(`^ *- (\w+)( "(?:[^"\\]|\\.)*")?((?: \[[^\]]*\])*)`)
	lineStates = regexp.MustCompile(` \[(checked|disabled|expanded|level|pressed|selected|required|readonly|invalid)(=\w+)?\]`)
	// Where a person would say what is in it, we do, though the role has no name from its content.
	namedByUs = regexp.MustCompile(`^(figure|generic|listitem|row) "(?:[^"\\]|\\.)*"`)
	lineRef   = regexp.MustCompile(`\[ref=(\w+)\]`)
)

// elementOf reads role, name and states of a line.
func elementOf(line string) (element, ref string) {
	m := refLine.FindStringSubmatch(line)
	if m == nil {
		return "", ""
	}
	r := lineRef.FindStringSubmatch(m[3])
	if r == nil {
		return "", ""
	}
	states := lineStates.FindAllString(m[3], -1)
	slices.Sort(states)
	return m[1] + m[2] + strings.Join(states, ""), r[1]
}

// chromiumRoles are the roles for which Chromium has a word of its own.
var chromiumRoles = map[string]string{
	"image": "img", "LayoutTableCell": "cell", "DescriptionList": "associationlist", "DisclosureTriangle": "button",
	"Date": "textbox", "DateTime": "textbox", "InputTime": "textbox", "ColorWell": "button",
	"MathMLMath": "math", "SvgRoot": "img", "graphics-symbol": "img", "LabelText": "generic",
}

// inOurWords says what Chromium's tree says of an element as a line of ours would.
func inOurWords(e page.TreeElement, ours string) string {
	role := cmp.Or(chromiumRoles[e.Role], e.Role)
	line := role
	if name := strings.Join(strings.Fields(invisible.Replace(e.Name)), " "); name != "" {
		quoted, _ := json.Marshal(name)
		line += " " + string(quoted)
	}
	var states []string
	for _, name := range []string{"checked", "disabled", "expanded", "level", "pressed", "selected", "required", "readonly", "invalid"} {
		switch value := e.Properties[name]; {
		case value == "true":
			states = append(states, " ["+name+"]")
		case value == "mixed", name == "expanded" && value == "false" && strings.Contains(ours, "expanded"), name == "level" && role == "heading" && value != "":
			states = append(states, " ["+name+"="+value+"]")
		}
	}
	slices.Sort(states)
	return line + strings.Join(states, "")
}

// invisible drops what no line of ours shows.
var invisible = strings.NewReplacer("\u200b", "", "\u00ad", "")
