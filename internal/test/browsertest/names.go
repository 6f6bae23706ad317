package browsertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// Names counts elements, those whose role, name and states are the same in a snapshot and in Chromium's accessibility
// tree, and those that differ for a known reason.
type Names struct{ Elements, Equal, Known int }

func (n Names) String() string {
	return fmt.Sprintf("names: elements=%d equal=%d percent=%.1f", n.Elements, n.Equal,
		100*float64(n.Equal)/float64(max(n.Elements, 1)))
}

// knownDifferences are the accepted differences, as "ours → Chromium's", with the reason.
var knownDifferences = []struct {
	is  *regexp.Regexp
	why string
}{
	{regexp.MustCompile(`^(option|treeitem) .* → (generic|button|link|checkbox) `), "outside of a listbox it stays what " +
		"the page calls it"},
	{regexp.MustCompile(`^option .*\[disabled\] \[selected\] →`), "Chromium does not say which option is chosen if it " +
		"is disabled"},
	{regexp.MustCompile(`→ .* \[invalid\] \[required\]$`), "a field that is merely empty is invalid once somebody has " +
		"left it so"},
	{regexp.MustCompile(`^\w+ ".+" → (textbox|button) ""$`), "after an empty label or value accname 1.2 goes on to " +
		"the title"},
	{regexp.MustCompile(`→ .*•`), "not even the length of a secret is told"},
	{regexp.MustCompile(`^Iframe ".*" → generic `), "an object that shows a document is a frame"},
	{regexp.MustCompile(`→ .*"Unable to play media\."`), "these are Chromium's own controls"},
	{regexp.MustCompile(`^button ".*" → generic ""$`), "a hidden file field can be given files"},
	{regexp.MustCompile(`^treeitem .* → treeitem "caret-down caret-down`), "Chromium goes through a label twice that " +
		"holds what it labels"},
	{regexp.MustCompile(`^treeitem [^\]]* → treeitem .* \[selected\]$`), "Chromium takes what has the focus for selected"},
	{regexp.MustCompile(`^link "start end" → link "startend"$`), "what is owned from elsewhere is a word of its own"},
	{regexp.MustCompile(`^(generic|listitem) .*\[(checked|expanded|pressed|selected)`), "where the role says nothing, " +
		"markup is told"},
}

// Compare compares each element with a ref, in the documents of the main frame's process, and logs those that differ.
// Names are also equal if they differ only in characters of icon fonts (private use), or in letters changed by
// text-transform (which does not change the content, see CSS Text 3); snapshots ignore both on purpose.
func (n *Names) Compare(tb testing.TB, tab *page.Tab, where string) {
	tb.Helper()
	ctx := Within(tb, Patience)
	var text string
	var tree map[string]treeElement
	for range 5 { // repeat for pages that change meanwhile
		before, err := tab.Snapshot(ctx, page.SnapshotOptions{})
		check.Must(tb, err)
		tree = treeElements(tb, tab)
		after, err := tab.Snapshot(ctx, page.SnapshotOptions{})
		check.Must(tb, err)
		text = after.Text
		if before.Text == text {
			break
		}
	}
	for rest := text; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		ours, ref := lineElement(line)
		theirs, ok := tree[ref]
		switch {
		case ref == "" || !ok && strings.HasPrefix(ref, "f"):
			continue
		case !ok:
			theirs.role = "generic" // not relevant
		}
		n.Elements++
		want := theirs.inOurWords(ours, line, rest)
		if ours == want {
			n.Equal++
			continue
		}
		differ := fmt.Sprintf("%s → %s", ours, want)
		for _, d := range knownDifferences {
			if d.is.MatchString(differ) {
				n.Known++
				differ += " (" + d.why + ")"
				break
			}
		}
		tb.Logf("%s: %s: %s", where, ref, differ)
	}
}

// toldBelow reports whether all words of a name are in the lines below a line.
func toldBelow(name, line, rest string) bool {
	depth := len(line) - len(strings.TrimLeft(line, " "))
	end := 0
	for in := range strings.Lines(rest) {
		if len(in)-len(strings.TrimLeft(in, " ")) <= depth {
			break
		}
		end += len(in)
	}
	below := line[depth:] + rest[:end]
	for word := range strings.FieldsSeq(name) {
		at := strings.Index(below, word)
		if at < 0 {
			return false
		}
		below = below[at+len(word):]
	}
	return true
}

// element is an element in the words of a snapshot.
type element struct{ role, name, states string }

func (e element) String() string { return fmt.Sprintf("%s %q%s", e.role, e.name, e.states) }

var (
	refLine    = regexp.MustCompile(`^ *- (\w+)( "(?:[^"\\]|\\.)*")?((?: \[[^\]]*\])*)`)
	lineStates = regexp.MustCompile(
		` \[(checked|disabled|expanded|level|pressed|selected|required|readonly|invalid)(=\w+)?\]`)
	lineRef = regexp.MustCompile(`\[ref=(\w+)\]`)
)

// lineElement parses a line of a snapshot.
func lineElement(line string) (e element, ref string) {
	m := refLine.FindStringSubmatch(line)
	if m == nil {
		return e, ""
	}
	r := lineRef.FindStringSubmatch(m[3])
	if r == nil {
		return e, ""
	}
	if m[2] != "" {
		_ = json.Unmarshal([]byte(m[2]), &e.name)
	}
	states := lineStates.FindAllString(m[3], -1)
	slices.Sort(states)
	return element{m[1], e.name, strings.Join(states, "")}, r[1]
}

// chromiumRoles maps ARIA roles to Chromium's own role names.
var chromiumRoles = map[string]string{
	"image": "img", "LayoutTableCell": "cell", "DescriptionList": "associationlist", "DisclosureTriangle": "button",
	"Date": "textbox", "DateTime": "textbox", "InputTime": "textbox", "ColorWell": "button",
	"MathMLMath": "math", "SvgRoot": "img", "LabelText": "generic", "Video": "generic", "Canvas": "generic",
	"sectionheader": "generic", "sectionfooter": "generic", "Figcaption": "generic", "Abbr": "generic", "Ruby": "generic",
	"PluginObject": "generic", "EmbeddedObject": "generic", "LayoutTable": "table", "LayoutTableRow": "row",
	"doc-noteref": "link", "doc-backlink": "link", "doc-chapter": "region", "doc-appendix": "region", "doc-tip": "note",
	"graphics-symbol": "img", "graphics-document": "document", "graphics-object": "group",
}

// namedByUs are the roles without a name from content to which snapshots give one if the element can be acted on.
var namedByUs = strings.Fields("banner blockquote code contentinfo definition deletion emphasis figure generic " +
	"insertion listitem mark math paragraph row strong subscript superscript time")

// toldByLines are the roles with a name from content that snapshots omit if the lines below contain it.
var toldByLines = []string{"cell", "columnheader", "generic", "gridcell", "listitem", "row", "rowheader"}

// inOurWords converts an element of the tree to the words of a snapshot.
func (t treeElement) inOurWords(ours element, line, rest string) element {
	e := element{
		role: cmp.Or(chromiumRoles[t.role], t.role),
		name: strings.Join(strings.Fields(invisible.ReplaceAllString(t.name, "")), " "),
	}
	switch {
	case strings.EqualFold(e.name, ours.name):
		e.name = ours.name
	case e.name == "" && slices.Contains(namedByUs, ours.role):
		e.name = ours.name
	case ours.name == "" && slices.Contains(toldByLines, ours.role) && toldBelow(e.name, line, rest):
		e.name = ""
	}
	// Chromium's role for elements with a draggable attribute
	if e.role == "group" && e.name == ours.name && ours.role == "generic" {
		e.role = ours.role
	}
	var states []string
	for _, name := range []string{
		"checked", "disabled", "expanded", "level", "pressed", "selected", "required",
		"readonly", "invalid",
	} {
		switch value, told := t.properties[name]; {
		case !told && (name == "required" || name == "readonly"): // the protocol reports these only for some roles
			if strings.Contains(ours.states, name) {
				states = append(states, " ["+name+"]")
			}
		case value == "true":
			states = append(states, " ["+name+"]")
		case value == "mixed", name == "level" && e.role == "heading" && value != "",
			name == "expanded" && value == "false" && strings.Contains(ours.states, "expanded"):
			states = append(states, " ["+name+"="+value+"]")
		}
	}
	slices.Sort(states)
	e.states = strings.Join(states, "")
	return e
}

// invisible matches what snapshots omit: zero-width characters and those of icon fonts.
var invisible = regexp.MustCompile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ue000-\uf8ff]")

// treeElement is an element of Chromium's accessibility tree.
type treeElement struct {
	role, name string
	properties map[string]string
}

// treeElements returns Chromium's elements of the main frame's process, by ref.
func treeElements(tb testing.TB, tab *page.Tab) map[string]treeElement {
	tb.Helper()
	ctx, f := Within(tb, Patience), tab.MainFrame()
	frames, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, f.Session, proto.PageGetFrameTree{})
	check.Must(tb, err)
	out := map[string]treeElement{}
	var add func(of *proto.PageFrameTree)
	add = func(of *proto.PageFrameTree) {
		ask := proto.AccessibilityGetFullAXTree{FrameID: of.Frame.ID}
		tree, err := cdp.Ask[proto.AccessibilityGetFullAXTreeResult](ctx, f.Session, ask)
		check.Must(tb, err)
		var ids []proto.DOMBackendNodeID
		var nodes []*proto.AccessibilityAXNode
		for _, n := range tree.Nodes {
			if n.Role == nil || strings.HasSuffix(n.Role.Value.Str(), "TextBox") || n.Role.Value.Str() == "StaticText" {
				continue
			}
			ids, nodes = append(ids, n.BackendDOMNodeID), append(nodes, n)
		}
		bound, err := f.Bind(ctx, of.Frame.ID, ids)
		if err != nil && of.Frame.ParentID != "" {
			return // in another process
		}
		check.Must(tb, err)
		for i, n := range nodes {
			e := treeElement{role: n.Role.Value.Str(), properties: map[string]string{}}
			if n.Ignored {
				e.role = "generic"
				for _, why := range n.IgnoredReasons {
					if why.Name != "uninteresting" && why.Name != "presentationalRole" {
						e.role = "ignored " + string(why.Name)
					}
				}
			}
			if n.Name != nil {
				e.name = n.Name.Value.Str()
			}
			for _, p := range n.Properties {
				e.properties[string(p.Name)] = p.Value.Value.String()
			}
			if _, inner := out[bound[i].LocalRef]; !inner { // a form control comes before its inner elements
				out[bound[i].LocalRef] = e
			}
		}
		for _, child := range of.ChildFrames {
			add(child)
		}
	}
	add(frames.FrameTree)
	return out
}
