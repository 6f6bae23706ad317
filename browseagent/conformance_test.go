package browseagent_test

import (
	"context"
	"strings"
	"testing"

	"clank/browseagent"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/llm/plain"
)

const sentence = `open the demo shop, type "lamp" into Search, press Enter, read`

// withPlain lets the built-in model work the bench.
func withPlain(b *bench) *bench {
	m := plain.New(plain.Options{Places: map[string]string{"the demo shop": shop}})
	b.agent.Model = func(context.Context, string) (llm.Model, error) { return m, nil }
	return b
}

func TestAgentKeepsTheContractOfABackend(t *testing.T) {
	sessionstest.TestBackend(t, func(*testing.T) sessionstest.BackendCase {
		b := withPlain(newBench())
		b.browser.make = func() *page {
			return &page{on: map[string]func(context.Context, map[string]any) ([]string, error){
				"wait": func(ctx context.Context, _ map[string]any) ([]string, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				},
			}}
		}
		return sessionstest.BackendCase{
			Backend: b.agent, Runtime: browseagent.Runtime, Acts: b.browser.acts,
			Prompt: sentence, Slow: `open the demo shop, wait 30 seconds, read`,
		}
	})
}

func TestPlainWorksTheSentenceOfTheReadme(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = sentence
	answer, steps := b.answer(t)
	if got, want := strings.Join(b.page(t).done(), "; "), "navigate url="+shop+"; type ref=e2 text=lamp; press key=Enter"; got != want {
		t.Errorf("the page got  %s\nwant %s", got, want)
	}
	if !strings.Contains(answer.Text, "text of Found") {
		t.Errorf("got answer %q, want the text of the page", answer.Text)
	}
	var got []string
	for _, s := range acts(steps) {
		got = append(got, s.Label)
	}
	if want := `open shop.test; type "lamp" into "Search"; press Enter; read the page`; strings.Join(got, "; ") != want {
		t.Errorf("got labels %q, want %q", got, want)
	}
}

func TestPlainGoesOnInTheSamePage(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = `open the demo shop, press Enter`
	b.answer(t)
	b.task.Prompt = `now click the first link`
	b.answer(t)
	if got := b.page(t).done(); got[len(got)-1] != "click ref=e10" {
		t.Errorf("the page got %q, want the link found to be clicked", got)
	}
}

func TestPlainSaysHowFarItGotWithinTheStepLimit(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt, b.task.MaxSteps = sentence, 2
	answer, _ := b.answer(t)
	if answer.Limit != "step limit of 2" || !strings.Contains(answer.Text, "2 of 4 steps") {
		t.Errorf("got %q with limit %q, want how far it got", answer.Text, answer.Limit)
	}
}

func TestPlainClosesTheSession(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = `open the demo shop, screenshot, close`
	answer, _ := b.answer(t)
	if !answer.Closed || len(answer.Images) != 1 || len(b.browser.closed) != 1 {
		t.Errorf("got closed %v, %d pictures, closed %q; want a closed session with one picture", answer.Closed, len(answer.Images), b.browser.closed)
	}
}
