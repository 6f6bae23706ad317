package recording_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/browseagent"
	"clank/computeruse"
	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/llm"
	"clank/llm/plain"
	"clank/sessions"
)

// play plays a bundle and returns what differed, by step.
func play(tb testing.TB, b *recording.Recording, session string,
	mappings ...recording.AddressMapping,
) (recording.ReplaySummary, []recording.StepComparison) {
	tb.Helper()
	p := player(tb, b, mappings...)
	var found []recording.StepComparison
	sum, err := p.Replay(tb.Context(), playedBy(tb, p, session), session, func(f recording.StepComparison) {
		found = append(found, f)
	})
	check.Must(tb, err)
	return sum, found
}

func player(tb testing.TB, b *recording.Recording, mappings ...recording.AddressMapping) *recording.Player {
	tb.Helper()
	p, err := recording.NewPlayer(b, mappings)
	check.Must(tb, err)
	return p
}

// playedBy returns the backend in which p works, whose session ends with the test.
func playedBy(tb testing.TB, p *recording.Player, session string) *browseagent.Agent {
	tb.Helper()
	agent := browsing(p.Browser(windows{}), p.Model())
	tb.Cleanup(func() { check.Must(tb, agent.Close(context.Background(), session)) })
	return agent
}

// differences returns the findings as lines.
func differences(found []recording.StepComparison) string {
	var b strings.Builder
	for _, f := range found {
		for _, d := range f.Differences {
			b.WriteString(f.Label + " | " + string(d.Kind) + " | " + d.Was + " | " + d.Is + "\n")
		}
	}
	return b.String()
}

func TestReplayOfTheSamePagesMatches(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	b := record(t, plain.New(plain.Options{}), "rsame", "open "+s.url+
		`, type "lamp" into Search, press Enter, click "Add to basket", read`)
	sum, found := play(t, b, "psame")
	if !sum.Matches() || sum.Steps != 5 {
		t.Errorf("%s\n%s", sum, differences(found))
	}
}

func TestReplayFollowsThePagesToAnotherAddress(t *testing.T) {
	t.Parallel()
	s, moved := openShop(t), openShop(t)
	b := record(t, plain.New(plain.Options{}), "rmoved", "open "+s.url+`, type "lamp" into Search, press Enter`)
	sum, found := play(t, b, "pmoved", recording.AddressMapping{From: s.url, To: moved.url})
	if !sum.Matches() {
		t.Errorf("%s\n%s", sum, differences(found))
	}
}

func TestReplayMapsNamedPagesToTheirCurrentAddresses(t *testing.T) {
	t.Parallel()
	s, moved := openShop(t), openShop(t)
	rec := &recording.Recorder{
		Dir:    t.TempDir(),
		Places: map[string]string{"the shop": s.url + "/", "elsewhere": "http://else.test"},
	}
	agent := browsing(rec.Browser(windows{}), rec.Model(plain.New(plain.Options{Places: rec.Places})))
	p := player(t, recordWith(t, rec, agent, "rplace", `open the shop, type "lamp" into Search`))
	p.Places(map[string]string{"the shop": moved.url + "/"})
	var found []recording.StepComparison
	sum, err := p.Replay(t.Context(), playedBy(t, p, "pplace"), "pplace", func(f recording.StepComparison) {
		found = append(found, f)
	})
	if err != nil || !sum.Matches() {
		t.Errorf("%s, %v\n%s", sum, err, differences(found))
	}
}

func TestReplaySaysWhereAPageHasChanged(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	b := record(t, plain.New(plain.Options{}), "rchanged", "open "+s.url+
		`, type "lamp" into Search, press Enter, click "Add to basket", read`)
	s.changed.Store(true)
	sum, found := play(t, b, "pchanged")
	got := differences(found)
	check.Contains(t, got,
		`| page | nothing more | - paragraph: Now open on Sundays`,
		`click "Add to basket" | missing | button "Add to basket" | there is none on the page`,
		`click "Add to basket" | title | Added | Found`,
		"read the page | text | ",
	)
	// The field has another number now, and is found by its name.
	check.Lacks(t, got, `type "lamp" into "Search" | missing`, "| label |")
	if sum.Matches() || sum.Steps != 5 || sum.Different < 2 || !strings.Contains(sum.String(), "5 steps played") {
		t.Errorf("summary: %s", sum)
	}
}

func TestReplayEndsBeforeAPasswordThatNoRecordHolds(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	b := record(t, plain.New(plain.Options{}), "rpass", "open "+s.url+
		`, type "hunter2" into Password, type "lamp" into Search`)
	sum, _ := play(t, b, "ppass")
	if sum.Matches() || !strings.Contains(sum.Ended, "password") || sum.Steps != 1 || sum.NotReached != 2 {
		t.Errorf("summary: %+v", sum)
	}
}

func TestReplayEndsWhenItIsStopped(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	b := record(t, plain.New(plain.Options{}), "rstop", "open "+s.url+`, type "lamp" into Search, press Enter`)
	p := player(t, b)
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	played := 0
	_, err := p.Replay(ctx, playedBy(t, p, "pstop"), "pstop", func(recording.StepComparison) {
		played++
		stop(enough)
	})
	if !errors.Is(err, enough) || played != 1 {
		t.Errorf("%v after %d steps", err, played)
	}
}

func TestRunSavedAsAScriptWorksWithoutItsModel(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	b := record(t, plain.New(plain.Options{}), "rscript", "open "+s.url+
		`, type "lamp" into Search, press Enter, click "Add to basket"`)
	made, _, err := recording.MakeScript(b, "lamps")
	check.Must(t, err)
	shelf := recording.ScriptStore{Dir: t.TempDir()}
	check.Must(t, shelf.Save(made, false))
	m := plain.New(plain.Options{Scripts: shelf.Steps})
	s.changed.Store(false)
	answer := playTask(t, browsing(windows{}, m), "pscript", "run lamps with search = desk")
	if answer.Kind != sessions.StepAnswer || answer.Failed || !strings.Contains(answer.Text, "Found desk") ||
		!strings.Contains(answer.Text, "In the basket") {
		t.Errorf("answer: %+v", answer.Text)
	}
}

func TestMappingsAreRead(t *testing.T) {
	t.Parallel()
	got, err := recording.ParseMappings(" http://a.test/=http://b.test:80/ , https://c.test=http://d.test/x ")
	if err != nil || len(got) != 2 ||
		got[0] != (recording.AddressMapping{From: "http://a.test", To: "http://b.test:80"}) ||
		got[1].To != "http://d.test/x" {
		t.Errorf("%v, %v", got, err)
	}
	for _, wrong := range []string{"a.test=b.test", "http://a.test", "http://a.test=ftp://b"} {
		check.Fails(t, check.Err(recording.ParseMappings(wrong)),
			nil, "is not understood; write http://old.example=http://localhost:8080")
	}
}

// no is asked and declines.
type no struct{ asked *[]string }

func (n no) Ask(_ context.Context, _ sessions.Session, _ sessions.Task, q sessions.Question) (string, error) {
	*n.asked = append(*n.asked, q.Text)
	return "", errors.New("declined")
}

func TestPeopleAreAskedInARecordedAndInAReplayedRun(t *testing.T) {
	t.Parallel()
	bought := make(chan string, 10)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			bought <- r.URL.Path
		}
		fmt.Fprint(w, `<!doctype html><title>Shop</title><link rel=icon href=data:,><form method=post action=/bought><button>Buy now</button></form>`)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	var asked []string
	rec := &recording.Recorder{Dir: t.TempDir()}
	recorded := browsing(rec.Browser(windows{}), rec.Model(plain.New(plain.Options{})))
	recorded.Approver = no{&asked}
	b := recordWith(t, rec, recorded, "rask", "open "+srv.URL+`, click "Buy now"`)
	if len(asked) != 1 {
		t.Fatalf("asked %q in the recorded run", asked)
	}
	p := player(t, b)
	replayed := playedBy(t, p, "pask")
	replayed.Approver = no{&asked}
	check.Must(t, check.Err(p.Replay(t.Context(), replayed, "pask", func(recording.StepComparison) {})))
	if len(asked) != 2 || len(bought) != 0 {
		t.Errorf("asked %q, bought %d times", asked, len(bought))
	}
}

// screenRun returns a run of a model that sees the screen, which gave these answers.
func screenRun(tb testing.TB, answers ...computeruse.Turn) *recording.Recording {
	tb.Helper()
	all := []recording.Entry{{Kind: recording.KindBegin, Begin: &recording.RunStart{Format: recording.FormatVersion}}}
	in, err := json.Marshal(computeruse.Input{Shot: &computeruse.Screenshot{Size: image.Pt(800, 600)}})
	check.Must(tb, err)
	for _, a := range answers {
		out, err := json.Marshal(a)
		check.Must(tb, err)
		all = append(all, recording.Entry{
			Kind: recording.KindTurn,
			Turn: &recording.ScreenTurn{Model: "test:screen", Input: in, Answer: out},
		})
	}
	return parsed(tb, all...)
}

func TestMindActsAtTheRecordedPoints(t *testing.T) {
	t.Parallel()
	click := computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: 10, Y: 20}}
	b := screenRun(t,
		computeruse.Turn{
			Calls: []computeruse.Call{
				{ID: "c1", Actions: []computeruse.Action{click, {Kind: computeruse.ActNavigate, URL: "http://a.test/x"}}},
			},
			Tools: []llm.ToolCall{{ID: "t1", Name: "navigate", Input: json.RawMessage(`{"url":"http://a.test/y"}`)}},
		},
		computeruse.Turn{Calls: []computeruse.Call{
			{ID: "c2", Actions: []computeruse.Action{{Kind: computeruse.ActType, Text: recording.RedactedText}}},
		}},
	)
	p := player(t, b, recording.AddressMapping{From: "http://a.test", To: "http://b.test"})
	if !p.UsesScreen() || p.ComputerUseModel().Name() != "test:screen" {
		t.Errorf("screen %t, name %q", p.UsesScreen(), p.ComputerUseModel().Name())
	}
	for screen, want := range map[image.Point]image.Point{
		image.Pt(1600, 1200): image.Pt(800, 600),
		image.Pt(640, 480):   image.Pt(640, 480),
	} {
		if got := p.ComputerUseModel().Fit(screen); got != want {
			t.Errorf("%v is seen as %v, want %v", screen, got, want)
		}
	}
	talk, err := p.ComputerUseModel().Begin(computeruse.ConversationOptions{})
	check.Must(t, err)
	turn, err := talk.Next(t.Context(), computeruse.Input{})
	check.Must(t, err)
	want := []computeruse.Action{click, {Kind: computeruse.ActNavigate, URL: "http://b.test/x"}}
	equal(t, "actions", want, turn.Calls[0].Actions)
	check.Equal(t, "the tool is told", string(turn.Tools[0].Input), `{"url":"http://b.test/y"}`)
	check.Fails(t, check.Err(talk.Next(t.Context(), computeruse.Input{})), nil, "password")
	if turn, err = talk.Next(t.Context(), computeruse.Input{}); err != nil || len(turn.Calls) != 0 || turn.Text == "" {
		t.Errorf("after the last answer: %+v, %v", turn, err)
	}
}

func TestRecordWithoutAnswersIsNotReplayed(t *testing.T) {
	t.Parallel()
	check.Fails(t, check.Err(recording.NewPlayer(screenRun(t), nil)), recording.ErrNothingToReplay)
}
