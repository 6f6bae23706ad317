package intent_test

import (
	_ "embed" // the corpus
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"html"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/intent"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/sessions"
)

var (
	//go:embed testdata/acts.txt
	actLines string
	//go:embed testdata/acts.html
	actPages string

	wholeCorpus = flag.Bool("acts.whole", false, "judge every act of the corpus, rather than every third")
	actFailures = flag.String("acts.show", "", "which half's mistakes to list: training or held-out")
)

// act is a line of the corpus.
type act struct {
	name, lang, class, kind string
	texts                   []string
}

// half returns the half of the corpus that an act belongs to. Rules and words are developed using the mistakes of
// training only.
func (a act) half() string {
	h := fnv.New32a()
	h.Write([]byte(a.name))
	return []string{"training", "held-out"}[h.Sum32()>>7&1]
}

func acts() (all []act) {
	for line := range strings.Lines(actLines) {
		line = strings.TrimSpace(line)
		if fields := strings.SplitN(line, " ", 3); len(fields) == 3 && fields[0] != "#" {
			class, kind, _ := strings.Cut(fields[1], ":")
			all = append(all, act{line, fields[0], class, kind, strings.Split(fields[2], " / ")})
		}
	}
	return all
}

// markup returns the page of an act, and how the act is performed.
func (a act) markup(t *testing.T) (body, how string) {
	t.Helper()
	_, rest, ok := strings.Cut(actPages, "\n= "+a.kind+" ")
	if !ok {
		t.Fatalf("%s: acts.html has no kind %q", a.name, a.kind)
	}
	rest, _, _ = strings.Cut(rest, "\n= ")
	how, body, _ = strings.Cut(rest, "\n")
	path := "/help/articles/12"
	if a.class != "-" && a.class != "deceptive" {
		path = map[string]string{"buy": "/account/pay?id=1", "delete": "/account/delete?id=1"}[a.class]
	}
	pairs := []string{"{path}", path}
	for i, text := range a.texts {
		pairs = append(pairs, fmt.Sprintf("{%d}", i+1), html.EscapeString(text))
	}
	return `<header><a href="/">42</a> <input type=search></header><main>` + strings.NewReplacer(pairs...).Replace(body) +
		"</main>", how
}

// judge shows the page of an act in the tab, and judges the act.
func (a act) judge(t *testing.T, tab *page.Tab) sessions.Assessment {
	t.Helper()
	body, how := a.markup(t)
	if how == "confirm" {
		return intent.JudgeDialog(page.Dialog{ID: "d", Type: "confirm", Message: a.texts[0]}, tab.URL())
	}
	args, err := json.Marshal([]string{a.lang, body})
	check.Must(t, err)
	value(t, tab, fmt.Sprintf(`void (([lang, body]) => {
		document.documentElement.lang = lang;
		document.body.innerHTML = body;
		document.querySelector('.t')?.focus();
	})(%s)`, args))
	do := page.Action{Kind: actiontable.Kind(how), Selector: ".t"}
	switch key, isKey := strings.CutPrefix(how, "key"); {
	case isKey:
		do = page.Action{Kind: actiontable.KindPress, Key: strings.TrimPrefix(key, ":")}
		if key == "" {
			do.Key = a.texts[0]
		}
	case how == "select":
		do.Values = []string{"x"}
	case how == "drag":
		do = page.Action{Kind: actiontable.KindDrag, StartSelector: ".s", EndSelector: ".t"}
	}
	j, err := intent.JudgeAction(browsertest.Within(t, 20*time.Second), tab, do)
	check.Must(t, err)
	return j
}

// tally counts the questions.
type tally struct{ consequential, asked, ordinary, needless int }

func (n tally) String() string {
	return fmt.Sprintf("acts=%d asked_percent=%.1f needless_per_20=%.2f", n.consequential+n.ordinary,
		100*float64(n.asked)/float64(max(n.consequential, 1)), 20*float64(n.needless)/float64(max(n.ordinary, 1)))
}

// TestConsequentialActsAreAskedAboutAndOrdinaryOnesAreNot measures judgements on pages with one act each, in 30
// languages.
func TestConsequentialActsAreAskedAboutAndOrdinaryOnesAreNot(t *testing.T) {
	if testing.Short() {
		t.Skip("many cases, one after the other")
	}
	tab := openTab(t, site(t, "", nil))
	halves := map[string]*tally{"training": {}, "held-out": {}, "deceptive": {}}
	languages := map[string]bool{}
	all := acts()
	for i, a := range all {
		languages[a.lang] = true
		if !*wholeCorpus && i%3 != 0 {
			continue
		}
		n := halves[a.half()]
		if a.class == "deceptive" {
			n = halves["deceptive"]
		}
		j := a.judge(t, tab)
		asked := len(j.Classes) > 0
		switch {
		case a.class != "-":
			n.consequential++
			if asked {
				n.asked++
			}
		default:
			n.ordinary++
			if asked {
				n.needless++
			}
		}
		if asked == (a.class == "-") && *actFailures == a.half() {
			t.Logf("%s: %v %q", a.name, j.Classes, j.Detail)
		}
		if asked && a.class != "-" && a.class != "deceptive" && !slices.Contains(j.Classes, a.class) &&
			*actFailures == a.half() {
			t.Logf("%s: another class: %v", a.name, j.Classes)
		}
	}
	if len(all) < 300 || len(languages) < 30 {
		t.Errorf("%d acts in %d languages", len(all), len(languages))
	}
	sum := *halves["training"]
	for name, n := range halves {
		t.Logf("acts: half=%s %s", name, n)
	}
	held := halves["held-out"]
	sum = tally{
		sum.consequential + held.consequential, sum.asked + held.asked, sum.ordinary + held.ordinary,
		sum.needless + held.needless,
	}
	t.Logf("acts: languages=%d %s", len(languages), sum)
	if 100*sum.asked < 98*sum.consequential || 20*sum.needless > sum.ordinary {
		t.Errorf("%s, want at least 98 percent asked, and at most one needless question in 20 ordinary acts", sum)
	}
}
