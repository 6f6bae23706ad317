package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"clank/sessions"
	"clank/sessions/agent"

	"github.com/google/go-cmp/cmp"
)

// page is one whose act sets something off, and which changes what it means after
// each judgement but the last.
type page struct {
	sessions.Page // nothing else is called

	means   []string // what the act means, from judgement to judgement; "" is nothing
	slow    time.Duration
	broken  error // of the act
	blind   error // of the judgement
	log     []string
	altered bool // it wrote into the arguments
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

func (p *page) ActIfUnchanged(ctx context.Context, _ string, args map[string]any, mark string) (notes []string, same bool, err error) {
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

// people say yes to everything, or no with why.
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
			page: page{means: []string{"tea", "a car", "a car"}},
			want: agent.ActionResult{Notes: []string{"done"}, Decision: "Somebody agreed.", Mark: "a car"},
			log:  []string{"act if ", "judge click", "act if tea", "judge click", "act if a car"}, asked: []string{"buys tea", "buys a car"},
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
			if diff := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.log, tt.page.log); diff != "" {
				t.Errorf("the page was asked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.asked, tt.people.asked); diff != "" {
				t.Errorf("people were asked (-want +got):\n%s", diff)
			}
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
	if diff := cmp.Diff([]string{"judge click"}, p.log); diff != "" {
		t.Errorf("the page was asked (-want +got):\n%s", diff)
	}
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
