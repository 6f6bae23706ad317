package sessions_test

import (
	"context"
	"fmt"

	"clank/cancel"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

func ExampleManager_Run() {
	m := &sessions.Manager{
		Store:          &sessionstest.Store{},
		Backends:       map[string]sessions.Backend{"scripted": &sessionstest.Backend{}},
		DefaultRuntime: "scripted",
		Limits:         func() sessions.Limits { return sessions.Limits{} },
		Scopes:         &cancel.Scopes{},
	}
	ctx := context.Background()
	if err := m.Open(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = m.Close(ctx) }()
	record, err := m.Run(ctx, sessions.Task{Prompt: "find a lamp", Origin: sessions.Origin{Kind: sessions.FromTerminal, Channel: "cli"}}, nil)
	fmt.Println(record.State, record.Steps, record.Answer, err)
	// Output: done 1 done: find a lamp <nil>
}
