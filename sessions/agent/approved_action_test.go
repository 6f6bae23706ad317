package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"

	"github.com/google/go-cmp/cmp"
)

// page is a page whose action needs approval and changes its meaning after each assessment except the last.
type page struct {
	sessions.Page // no other method is called

	means   []string // meaning of the action at each assessment; "" = harmless
	slow    time.Duration
	broken  error // error of the action
	blind   error // error of the assessment
	log     []string
	altered bool // it modified the arguments
}

func (p *page) now() string {
	if len(p.means) == 0 {
		return ""
	}
	return p.means[0]
}

func (p *page) Assess(_ context.Context, kind string, args map[string]any) (found sessions.Assessment, err error) {
	p.log = append(p.log, "judge "+kind)
	args["judged"] = true
	if p.blind != nil {
		return found, p.blind
	}
	if found.Mark = p.now(); found.Mark != "" {
		found.Classes = []string{"buy"}
	}
	found.Text = "buys " + found.Mark
	if len(p.means) > 1 {
		p.means = p.means[1:]
	}
	return found, nil
}

func (p *page) ActIfUnchanged(ctx context.Context, _ string, args map[string]any,
	mark string,
) (notes []string, same bool, err error) {
	p.log = append(p.log, "act if "+mark)
	p.altered = p.altered || args["judged"] == true
	if p.slow > 0 {
		select {
		case <-time.After(p.slow):
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	if p.broken != nil {
		return nil, false, p.broken
	}
	if p.now() != mark {
		return nil, false, nil
	}
	return []string{"done"}, true, nil
}

// people approve everything, or refuse with the error why.
type people struct {
	asked []string
	why   error
}

func (p *people) ask(_ context.Context, q sessions.Question) (string, error) {
	p.asked = append(p.asked, q.Text)
	if p.why != nil {
		return "", p.why
	}
	return "Somebody agreed.", nil
}

func act(on *page, by *people) agent.Action {
	return agent.Action{Page: on, Kind: "click", Args: map[string]any{"ref": "e1"}, Timeout: time.Second, Ask: by.ask}
}

func TestAnActIsHeldToWhatPeopleAgreedTo(t *testing.T) {
	no, broken, blind := errors.New("nobody agreed"), errors.New("the page is gone"), errors.New("nothing to be seen")
	for name, tt := range map[string]struct {
		page   page
		people people
		agreed string
		want   agent.ActionResult
		log    []string
		asked  []string
	}{
		"what sets nothing off is done at one look": {
			want: agent.ActionResult{Notes: []string{"done"}}, log: []string{"act if "},
		},
		"what is agreed to is done": {
			page: page{means: []string{"tea"}},
			want: agent.ActionResult{Notes: []string{"done"}, Decision: "Somebody agreed.", Mark: "tea"},
			log:  []string{"act if ", "judge click", "act if tea"}, asked: []string{"buys tea"},
		},
		"what changes is asked about again": {
			page:  page{means: []string{"tea", "a car", "a car"}},
			want:  agent.ActionResult{Notes: []string{"done"}, Decision: "Somebody agreed.", Mark: "a car"},
			log:   []string{"act if ", "judge click", "act if tea", "judge click", "act if a car"},
			asked: []string{"buys tea", "buys a car"},
		},
		"what changes again and again is not done": {
			page: page{means: []string{"1", "2", "3"}},
			want: agent.ActionResult{Decision: "Somebody agreed.", Mark: "2", Err: agent.ErrPageChanged},
			log:  []string{"act if ", "judge click", "act if 1", "judge click", "act if 2"}, asked: []string{"buys 1", "buys 2"},
		},
		"what is refused is not done": {
			page: page{means: []string{"tea"}}, people: people{why: no},
			want: agent.ActionResult{Mark: "tea", Refused: no},
			log:  []string{"act if ", "judge click"}, asked: []string{"buys tea"},
		},
		"a yes from before covers the same": {
			page: page{means: []string{"tea"}}, agreed: "tea",
			want: agent.ActionResult{Notes: []string{"done"}}, log: []string{"act if tea"},
		},
		"a yes from before does not cover something else": {
			page: page{means: []string{"a car"}}, agreed: "tea",
			want: agent.ActionResult{Notes: []string{"done"}, Decision: "Somebody agreed.", Mark: "a car"},
			log:  []string{"act if tea", "act if ", "judge click", "act if a car"}, asked: []string{"buys a car"},
		},
		"the page's failure is told": {
			page: page{broken: broken}, want: agent.ActionResult{Err: broken}, log: []string{"act if "},
		},
		"what cannot be judged is not done": {
			page: page{means: []string{"tea"}, blind: blind},
			want: agent.ActionResult{Err: blind}, log: []string{"act if ", "judge click"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := act(&tt.page, &tt.people)
			a.ApprovedMark = tt.agreed
			got := agent.Perform(t.Context(), a)
			check.Diff(t, "done", got, tt.want, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) }))
			check.Diff(t, "the page was asked", tt.page.log, tt.log)
			check.Diff(t, "people were asked", tt.people.asked, tt.asked)
			if tt.page.altered {
				t.Error("what one call wrote into the arguments reached the next")
			}
		})
	}
}

func TestConsultingDoesNothing(t *testing.T) {
	p, by := page{means: []string{"tea"}}, people{}
	got := agent.Approve(t.Context(), act(&p, &by))
	if got.Decision == "" || got.Mark != "tea" || got.Err != nil {
		t.Errorf("got %+v", got)
	}
	check.Diff(t, "the page was asked", p.log, []string{"judge click"})
	harmless, nobody := page{}, people{}
	if got := agent.Approve(t.Context(), act(&harmless, &nobody)); got.Decision != "" || len(nobody.asked) != 0 {
		t.Errorf("of what sets nothing off people are asked: %+v", got)
	}
}

// approver decides for people.
type approver struct {
	decision string
	err      error
}

func (a approver) Ask(context.Context, sessions.Session, sessions.Task, sessions.Question) (string, error) {
	return a.decision, a.err
}

func TestWhatPeopleDecideIsToldInASentence(t *testing.T) {
	stopped, stop := context.WithCancelCause(t.Context())
	cause, no := errors.New("stopped by ada"), errors.New("@bob said no")
	stop(cause)
	for name, tt := range map[string]struct {
		ctx  context.Context
		by   approver
		want string
		err  error
	}{
		"yes":     {t.Context(), approver{decision: "allowed by @ada"}, "Allowed by @ada.", nil},
		"no":      {t.Context(), approver{decision: "x", err: no}, "", no},
		"stopped": {stopped, approver{err: no}, "", cause},
	} {
		got, err := agent.AskApproval(tt.ctx, tt.by, slog.New(slog.DiscardHandler), sessions.Session{}, sessions.Task{},
			sessions.Question{})
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: got %q, %v; want %q, %v", name, got, err, tt.want, tt.err)
		}
	}
	check.Equal(t, "for people", agent.ForPeople(agent.RefusalText(no)), "@bob said no.")
}

func TestAPersonIsAskedToTakeOver(t *testing.T) {
	for _, err := range []error{nil, errors.New("nobody is there")} {
		text, done := agent.AskToTakeOver(t.Context(),
			func(context.Context, sessions.Session, sessions.Task, string) error { return err },
			sessions.Session{}, sessions.Task{}, "log in")
		check.Equal(t, "done", done, err == nil)
		check.Contains(t, text, map[bool]string{true: "has the page now", false: "Nobody is there."}[done])
	}
}

func TestATaskThatWasFinishedAtItsLimitIsNotLimited(t *testing.T) {
	for name, tt := range map[string]struct {
		text    string
		stop    llm.StopReason
		literal bool
		want    agent.Outcome
	}{
		"unfinished":          {"two of three", llm.StopEnd, false, agent.Outcome{Text: "two of three", Limit: "l"}},
		"finished":            {"all\n[finished]", llm.StopEnd, false, agent.Outcome{Text: "all"}},
		"literally":           {"all", llm.StopEnd, true, agent.Outcome{Text: "all"}},
		"literally and not":   {"all", llm.StopTools, true, agent.Outcome{Text: "all", Limit: "l"}},
		"finished, literally": {"all [finished]", llm.StopTools, true, agent.Outcome{Text: "all"}},
	} {
		check.Diff(t, name, agent.Outcome{Text: tt.text}.WithLimit("l", tt.stop, tt.literal), tt.want)
	}
	check.Contains(t, agent.LimitText("limit of steps"), "the limit of steps.", "[finished]")
}

func TestASlowPageIsToldAsSuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, by := page{slow: time.Minute}, people{}
		got := agent.Perform(t.Context(), act(&p, &by))
		if got.Err == nil || got.Err.Error() != "no result within 1s" {
			t.Errorf("err = %v", got.Err)
		}
	})
}

func TestRepeatsAndCirclesAreCounted(t *testing.T) {
	for done, want := range map[string]int{
		"a": 1, "aa": 2, "aaaaa": 5, "aab": 1, "abab": 2, "ababab": 3, "abcabc": 2, "abcdabcd": 1, "baaa": 3,
		"abcabcabcabcabc":              5,
		"abababababababababababababab": 7,
	} {
		var r agent.RepeatDetector
		got := 0
		for what := range strings.SplitSeq(done, "") {
			got = r.Add(what)
		}
		check.Equal(t, done, got, want)
	}
}

// namedPage is a page identified by its name.
type namedPage struct {
	sessions.Page

	name string
}

// opener opens the pages it has and records the requests.
type opener struct {
	sessions.Browser // no other method is called

	pages map[string]string
	asked []sessions.PageRequest
	slow  time.Duration
}

func (o *opener) Open(ctx context.Context, want sessions.PageRequest) (sessions.Page, string, error) {
	o.asked = append(o.asked, want)
	if o.slow > 0 {
		select {
		case <-time.After(o.slow):
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
	}
	p, ok := o.pages[want.URL]
	if !ok {
		return nil, "", errors.New("no such page")
	}
	return namedPage{name: p}, "", nil
}

func TestAPageThatIsGoneIsOpenedEmpty(t *testing.T) {
	o := opener{pages: map[string]string{"": "empty", "http://a/": "a"}}
	p, reopened, lost, err := agent.OpenPage(t.Context(), time.Minute, &o,
		sessions.PageRequest{Key: "s", URL: "http://a/"}, nil)
	if p != (namedPage{name: "a"}) || reopened != "" || lost || err != nil {
		t.Errorf("got %v, %v, %v, %v", p, reopened, lost, err)
	}
	p, reopened, lost, err = agent.OpenPage(t.Context(), time.Minute, &o,
		sessions.PageRequest{Key: "s", URL: "http://gone/"}, nil)
	if p != (namedPage{name: "empty"}) || !strings.Contains(reopened, "no such page") ||
		!strings.Contains(reopened, "empty") || !lost || err != nil {
		t.Errorf("gone: got %v, %v, %v, %v", p, reopened, lost, err)
	}
	if got := o.asked[len(o.asked)-1]; got.Key != "s" || got.URL != "" {
		t.Errorf("asked for %+v", got)
	}
}

func TestABrowserThatDoesNotOpenIsNotTriedTwice(t *testing.T) {
	o := opener{}
	if _, _, _, err := agent.OpenPage(t.Context(), time.Minute, &o, sessions.PageRequest{}, nil); err == nil ||
		!strings.Contains(err.Error(), "open the browser: no such page") {
		t.Errorf("err = %v", err)
	}
	for name, tt := range map[string]struct {
		slow      time.Duration
		noticeErr error
		want      string
		told      int
	}{
		"soon":               {10 * time.Second, nil, "", 0},
		"slowly":             {50 * time.Second, nil, "", 1},
		"not in time":        {time.Hour, nil, "open the browser: the browser did not open in time", 1},
		"slowly, for nobody": {time.Hour, agent.ErrConsumerStopped, agent.ErrConsumerStopped.Error(), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := opener{slow: tt.slow, pages: map[string]string{"http://a/": "a"}}
			told := 0
			_, _, _, err := agent.OpenPage(t.Context(), time.Minute, &o, sessions.PageRequest{URL: "http://a/"},
				func(context.Context, string) error { told++; return tt.noticeErr })
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || told != tt.told ||
				len(o.asked) != 1 {
				t.Errorf("%s: told %d times, asked %d times: %v", name, told, len(o.asked), err)
			}
		})
	}
	stopped, stop := context.WithCancelCause(t.Context())
	cause := errors.New("a person said stop")
	stop(cause)
	before := len(o.asked)
	if _, _, _, err := agent.OpenPage(stopped, time.Minute, &o, sessions.PageRequest{}, nil); !errors.Is(err, cause) ||
		len(o.asked) != before {
		t.Errorf("stopped: err = %v", err)
	}
}

func TestHowAnAnswerEndedIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		stop llm.StopReason
		want agent.Outcome
	}{
		"an answer":            {" yes ", llm.StopEnd, agent.Outcome{Text: "yes"}},
		"nothing":              {"", llm.StopEnd, agent.Outcome{}},
		"cut off":              {"ye", llm.StopLength, agent.Outcome{Text: "ye", Limit: "length limit of one answer"}},
		"declined":             {"", llm.StopRefused, agent.Outcome{Text: "The model declined to go on.", Failed: true}},
		"declined with reason": {"no", llm.StopRefused, agent.Outcome{Text: "no", Failed: true}},
		"withheld": {"", llm.StopFilter, agent.Outcome{
			Text:   "The provider of the model withheld the answer.",
			Failed: true,
		}},
	} {
		check.Diff(t, name, agent.NewOutcome(tt.text, tt.stop), tt.want)
	}
}

func TestWhoIsServedIsTheSameForAllAndNotTold(t *testing.T) {
	ada := sessions.Origin{Kind: "discord", User: "ada"}
	id := agent.EndUserID(ada)
	if id == "" || id != agent.EndUserID(ada) || strings.Contains(id, "ada") ||
		id == agent.EndUserID(sessions.Origin{Kind: "web", User: "ada"}) {
		t.Errorf("id = %q", id)
	}
	check.Equal(t, "nobody has the id", agent.EndUserID(sessions.Origin{Kind: "discord"}), "")
	want := llm.Account{Task: "t", Session: "s", Guild: "g", Channel: "c", User: "discord:ada", Purpose: "browse"}
	got := agent.AccountOf(sessions.Session{ID: "s"},
		sessions.Task{ID: "t", Origin: sessions.Origin{Kind: "discord", User: "ada", Guild: "g", Channel: "c"}})
	check.Diff(t, "account", got, want)
}

func TestTheCauseOfAStopComesFirst(t *testing.T) {
	cause, other := errors.New("a person said stop"), errors.New("other")
	check.Fails(t, agent.ContextError(t.Context(), other), other)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(cause)
	check.Fails(t, agent.ContextError(ctx, other), cause)
}

func TestASpentBudgetIsTold(t *testing.T) {
	spent := fmt.Errorf("ask: %w", &llm.Error{
		Kind: llm.ErrBudgetSpent, Message: "the day's budget is spent",
		Hint: "it begins anew at midnight",
	})
	if limit, ok := agent.BudgetSpent(spent); !ok || limit != "the day's budget is spent; it begins anew at midnight" {
		t.Errorf("got %q, %v", limit, ok)
	}
	if limit, ok := agent.BudgetSpent(&llm.Error{Kind: llm.ErrRateLimited, Message: "slow down"}); ok || limit != "" {
		t.Errorf("another error: got %q, %v", limit, ok)
	}
}

func TestAPromptNamesTheDayAndThePlaces(t *testing.T) {
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	got := agent.SystemPrompt("Work.", day,
		map[string]string{"shop": "http://s/", "desk": "http://d/"}, " Be brief.\n")
	want := "Work.\n\nToday is Sunday, 1 March 2026.\n\nPlaces that people call by a name:\n- desk: http://d/\n- shop: " +
		"http://s/\n\nFrom the operator of this program:\nBe brief."
	check.Diff(t, "prompt", got, want)
	check.Equal(t, "prompt without places", agent.SystemPrompt("Work.", day, nil, ""),
		"Work.\n\nToday is Sunday, 1 March 2026.")
}

func TestWhatWasFoundSoFarIsToldOnce(t *testing.T) {
	for name, tt := range map[string]struct{ said, url, title, read, want string }{
		"nothing": {want: "The work ended before there was an answer."},
		"all": {" It is 39. ", "http://s/", "Shop", "39 €", "It is 39.\n\nThe page it is on: Shop, " +
			"http://s/\n\nWhat it has read last:\n39 €"},
		"a page unnamed":   {"Well", "about:blank", "about:blank", "", "Well\n\nThe page it is on: about:blank"},
		"a page untitled":  {"Well", "http://s/", "", "", "Well\n\nThe page it is on: http://s/"},
		"a title, no page": {"Well", "", "Shop", "", "Well"},
	} {
		check.Diff(t, name, agent.PartialAnswer(tt.said, tt.url, tt.title, tt.read), tt.want)
	}
}
