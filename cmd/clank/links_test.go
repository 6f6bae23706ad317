package main

import (
	"strings"
	"testing"

	"clank/internal/server"
	"clank/internal/test/llmtest"
	"clank/sessions"
)

func linksAreListed(t *testing.T, r *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("one step after the other, with a browser")
	}
	r.setScript([]llmtest.Turn{openPage(r.site.URL + "/leads"), toolTurn("browser_links", map[string]any{}), answering("It leads to %s", `\S+ -> \S+/\S*`)})
	for model, prompt := range map[string]string{"compatible:scripted": "where does it lead", "plain:steps": "open " + r.site.URL + "/leads, list the links"} {
		rec, err := localRunner{r.server, r.env}.Run(t.Context(), sessions.Task{Prompt: prompt, Model: model, Origin: server.TerminalOrigin()}, func(sessions.Event) {})
		if err != nil || rec.State != sessions.TaskDone {
			t.Fatalf("%s: %s, %v", model, rec.State, err)
		}
		if want := r.site.URL + "/choice"; !strings.Contains(rec.Answer, want) {
			t.Errorf("%s: the answer %q, want %q", model, rec.Answer, want)
		}
	}
}
