package main

import (
	"strings"
	"testing"

	"clank/internal/terminal"
	"clank/llm/llmtest"
	"clank/sessions"
)

func linksAreListed(t *testing.T, r *range_) {
	t.Helper()
	if testing.Short() {
		t.Skip("one step after the other, with a browser")
	}
	r.script([]llmtest.Turn{openPage(r.site.URL + "/leads"), use("browser_links", map[string]any{}), answering("It leads to %s", `\S+ -> \S+/\S*`)})
	for model, prompt := range map[string]string{"compatible:scripted": "where does it lead", "plain:steps": "open " + r.site.URL + "/leads, list the links"} {
		rec, err := localRunner{r.app, r.env}.Run(t.Context(), sessions.Task{Prompt: prompt, Model: model, Origin: terminal.Origin()}, func(sessions.Event) {})
		if err != nil || rec.State != sessions.TaskDone {
			t.Fatalf("%s: %s, %v", model, rec.State, err)
		}
		if want := r.site.URL + "/choice"; !strings.Contains(rec.Answer, want) {
			t.Errorf("%s: the answer %q, want %q", model, rec.Answer, want)
		}
	}
}
