package sessions_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"clank/cancel"
	"clank/internal/sqlite"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

func ExampleManager_Run() {
	dir, err := os.MkdirTemp("", "clank-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	db, err := sqlite.Open(ctx, filepath.Join(dir, "clank.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	m := &sessions.Manager{
		Store:          db,
		Backends:       map[string]sessions.Backend{"scripted": &sessionstest.Backend{}},
		DefaultRuntime: "scripted",
		Limits:         func() sessions.Limits { return sessions.Limits{} },
		Scopes:         &cancel.Scopes{},
	}
	if err := m.Open(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = m.Close(ctx) }()
	record, err := m.Run(ctx,
		sessions.Task{Prompt: "find a lamp", Origin: sessions.Origin{Kind: sessions.FromTerminal, Channel: "cli"}}, nil)
	fmt.Println(record.State, record.Steps, record.Answer, err)
	// Output: done 1 done: find a lamp <nil>
}
