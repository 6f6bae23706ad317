package browsertool_test

import (
	"context"
	"encoding/json"
	"net/url"

	"clank/browseagent/browsertool"
)

// recorder is a Caller without a network that says yes to all.
type recorder struct{ paths []string }

func (r *recorder) Call(_ context.Context, _, path string, _ url.Values, _ any) (int, json.RawMessage, error) {
	r.paths = append(r.paths, path)
	return 200, json.RawMessage(`{"ok":true,"targetId":"T","snapshot":"- button","tabs":[]}`), nil
}

func (r *recorder) session() *browsertool.Session {
	host := &browsertool.Target{API: r}
	return &browsertool.Session{Tool: &browsertool.Tool{Targets: browsertool.Targets{Host: host, AllowHostControl: true}}}
}
