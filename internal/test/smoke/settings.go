package main

import (
	"context"
	"fmt"
)

// changedSettings are the fields of the settings page that are changed, with what they become.
var changedSettings = map[string]string{
	`[data-key="agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask"] input`: "17",
	`[data-key="agentStack.runtimeConfig.models.compatibleBaseUrl"] input`:                  "http://127.0.0.1:11434/v1",
}

func (s *smokeRun) changeSettings(ctx context.Context) (string, error) {
	if s.server == nil {
		return "", errNoServer
	}
	if err := s.browser.navigate(ctx, "http://"+s.addr+"/settings"); err != nil {
		return "", err
	}
	for field, value := range changedSettings {
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
	if s.server == nil {
		return "", errNoServer
	}
	if err := s.browser.navigate(ctx, "http://"+s.addr+"/settings"); err != nil {
		return "", err
	}
	for field, want := range changedSettings {
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
