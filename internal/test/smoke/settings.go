package main

import (
	"context"
	"fmt"

	"clank/internal/test/llmtest"
)

// The fields of the settings page that are changed.
const (
	stepsField = `[data-key="agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask"] input`
	modelField = `[data-key="agentStack.runtimeConfig.models.compatibleBaseUrl"] input`
)

func (s *smokeRun) changeSettings(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	var err error
	if s.model, err = llmtest.Open(); err != nil {
		return "", err
	}
	if err := s.browser.navigate(ctx, "http://"+s.addr+"/settings"); err != nil {
		return "", err
	}
	for field, value := range map[string]string{stepsField: "17", modelField: s.model.BaseURL()} {
		if err := s.browser.typeAndSubmit(ctx, field, value); err != nil {
			return "", err
		}
		if err := s.browser.waitFor(ctx, "that it is saved", `!document.querySelector(".dirty") && document.getElementById("save-text").textContent.startsWith("Saved:")`); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (s *smokeRun) settingsKept(ctx context.Context) (string, error) {
	if s.server == nil || s.model == nil {
		return "", errNoServer
	}
	if err := s.browser.navigate(ctx, "http://"+s.addr+"/settings"); err != nil {
		return "", err
	}
	for field, want := range map[string]string{stepsField: "17", modelField: s.model.BaseURL()} {
		var got string
		if err := s.browser.evaluate(ctx, "document.querySelector('"+field+"').value", &got); err != nil {
			return "", err
		}
		if got != want {
			return "", fmt.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	return "", nil
}

// ownModel lets a scripted model open the shop and answer.
func (s *smokeRun) ownModel(ctx context.Context) (string, error) {
	if s.server == nil || s.model == nil {
		return "", errNoServer
	}
	s.model.Add(
		llmtest.Use("browser_open", `{"url":"http://`+s.shop+`/search?q=lamp"}`),
		llmtest.Say("There are lamps."),
	)
	o, err := s.browse(ctx, "--model", "compatible:scripted", "which lamps are there?")
	if err != nil {
		return "", err
	}
	asked := s.model.Requests()
	if len(asked) != 2 {
		return "", fmt.Errorf("the model was asked %d times, want 2", len(asked))
	}
	for _, problem := range s.model.Problems() {
		return "", fmt.Errorf("the model server says: %s", problem)
	}
	if err := wantAll(asked[1].LastText(), found); err != nil {
		return "", fmt.Errorf("the model did not see the page: %w", err)
	}
	return "", wantAll(o.Answer, "There are lamps.")
}
