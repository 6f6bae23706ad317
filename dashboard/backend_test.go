package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
)

// host is a [dashboard.Host] with a key for OpenAI that lacks nothing else unless a field says so.
type host struct {
	missing error
	weak    []api.Weakness
	ability func(runtime, model string) settings.ModelAbility // nil: nothing is known
	// a setting's value in JSON that will not work, and why
	doubted, doubt string
}

func (h *host) Ready(context.Context) error               { return h.missing }
func (h *host) Weaknesses(context.Context) []api.Weakness { return slices.Clone(h.weak) }
func (h *host) HasSecret(key string) bool                 { return key == "OPENAI_API_KEY" }
func (h *host) IsStop(message string) bool                { return cancel.IsStop(message) }

func (h *host) ModelAbility(runtime, model string) settings.ModelAbility {
	if h.ability == nil {
		return settings.ModelAbility{}
	}
	return h.ability(runtime, model)
}

func (h *host) CheckSettings(_ context.Context, changes map[string]json.RawMessage) (doubts []settings.FieldError) {
	for key, value := range changes {
		if h.doubted != "" && string(value) == h.doubted {
			doubts = append(doubts, settings.FieldError{Key: key, Why: h.doubt})
		}
	}
	return doubts
}

// paneFunc is a [dashboard.LivePane].
type paneFunc func(w http.ResponseWriter, r *http.Request, v sessions.Viewer)

func (f paneFunc) ServeLive(w http.ResponseWriter, r *http.Request, v sessions.Viewer) { f(w, r, v) }

// script is a Backend that does what the prompt names:
//
//	"… hold …"  waits after its first act has begun, until let go or stopped
//	"… fail …"  ends with an error
//	"… trip …"  an act fails on the way
//	"… evil …"  says things that a page must not believe
//	"… brief …" answers at once
//	"… flood …" does a great deal, quickly
//	"… zebrafish …" has the word in all that it does, sees and says
type script struct {
	mu    sync.Mutex
	held  chan struct{}   // closed: nothing is held any more
	tasks []sessions.Task // that were begun
}

// floodActs is more than a reader may be behind, and with it more than the network holds for one who does not read.
const floodActs = 400

func (b *script) gate() chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = make(chan struct{})
	}
	return b.held
}

// typed says of each task that was begun whether a person typed it.
func (b *script) typed() (typed []bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tasks {
		typed = append(typed, t.Typed)
	}
	return typed
}

// canary is what nobody reads but who asked for it.
const canary = "zebrafish"

func (b *script) letGo() { close(b.gate()) }

func (*script) Rest(string) {}

func (b *script) Close(context.Context, string) error { return nil }

func (*script) Park(context.Context, string, bool) (bool, error) { return true, nil }

func (b *script) Run(ctx context.Context, _ sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	b.mu.Lock()
	b.tasks = append(b.tasks, t)
	b.mu.Unlock()
	return func(yield func(sessions.Step, error) bool) {
		n, word, said := 0, "", ""
		if strings.Contains(t.Prompt, canary) {
			word = canary
			said = `,"y":"` + canary + `"`
		}
		think := func(text string) bool {
			n++
			return yield(sessions.Step{N: n, Kind: sessions.StepThink, Phase: sessions.PhaseBegun, Label: "think"}, nil) &&
				yield(sessions.Step{N: n, Kind: sessions.StepThink, Phase: sessions.PhaseDone, Label: "think", Text: text + word},
					nil)
		}
		act := func(label, fails string) bool {
			n++
			st := sessions.Step{
				N: n, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Tool: "do",
				Input: json.RawMessage(`{"x":1` + said + `}`), Label: label + word,
			}
			if !yield(st, nil) {
				return false
			}
			if strings.Contains(t.Prompt, "hold") {
				select {
				case <-b.gate():
				case <-ctx.Done():
					yield(sessions.Step{}, context.Cause(ctx))
					return false
				}
			}
			st.Phase, st.URL, st.Title = sessions.PhaseDone, "http://127.0.0.1:8788/search?q=lamp"+word,
				"6 results for “lamp” · Lumen & Oak"+word
			st.Failed, st.Text = fails != "", fails
			st.View = &llm.Image{MediaType: "image/png", Data: onePixel}
			return yield(st, nil)
		}
		if strings.Contains(t.Prompt, "brief") {
			yield(sessions.Step{
				N: 1, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Label: "answer",
				Text: "Here it is.",
			}, nil)
			return
		}
		if strings.Contains(t.Prompt, "flood") {
			for range floodActs {
				if !act(strings.Repeat("flood ", 4000), "") {
					return
				}
			}
		}
		trip := ""
		if strings.Contains(t.Prompt, "trip") {
			trip = "“Accept” is covered by the notice “We use one cookie”; close that first"
		}
		label := `type "lamp" into Search`
		answer := "Six lamps are on sale, from € 19.90 to € 129.00:\n\nAurora Desk Lamp, € 49.00\nHarbour Floor Lamp, € " +
			"129.00\nPebble Night Lamp, € 24.50\n\nThe list is at http://127.0.0.1:8788/search?q=lamp (see also " +
			"https://example.com/a_(b))."
		if strings.Contains(t.Prompt, "evil") {
			label = `click "<img src=x onerror=alert(1)>"`
			answer = `<script>alert(1)</script> javascript:alert(1) https://example.com/"onmouseover="alert(1) <b>bold</b>`
		}
		if !think("") || !act("open the demo shop", "") || !think("The search box is at the top, so I use that.") ||
			!act(label, trip) || !act("press Enter", "") {
			return
		}
		if strings.Contains(t.Prompt, "fail") {
			yield(sessions.Step{}, errors.New("the model openai:gpt-5.6 refused the key; set OPENAI_API_KEY and start "+
				"clank again"))
			return
		}
		yield(sessions.Step{N: n + 1, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Label: "answer", Text: answer +
			word, Images: []llm.Image{{MediaType: "image/png", Data: onePixel}}}, nil)
	}
}
