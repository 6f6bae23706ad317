package main

import (
	"context"
	"strings"

	"clank/consent"
	"clank/internal/asking"
	"clank/sessions"
)

// newAsker makes who asks people, as the settings have it now.
func (a *app) newAsker() *asking.Asker {
	return &asking.Asker{
		Desk: &consent.Desk{
			Rule:   func(c consent.Class) consent.Rule { return consent.Rule(a.settings.Now().Asking.Rule(string(c))) },
			Wait:   a.askingTime,
			Logger: a.logger,
		},
		Settings: a.settings.Now,
		Running: func(ctx context.Context) ([]sessions.Record, error) {
			return a.manager.Tasks(ctx, sessions.TaskQuery{States: []sessions.TaskState{sessions.TaskRunning}})
		},
	}
}

// mayDownload judges where a download comes from. What a page made itself it may offer.
func (a *app) mayDownload(address string) error {
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	if scheme == "data" || scheme == "blob" {
		return nil
	}
	return a.gate.Glance(address)
}
