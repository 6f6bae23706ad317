package browsertool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/internal/test/npm"

	"github.com/google/go-cmp/cmp"
)

// peer installs the protocol's SDK for JavaScript in a directory of its own. That takes the network, so it is done only
// where CLANK_PEERS asks for it.
func peer(t *testing.T) (node, modules string) {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("the peer is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("there is no node to run the peer with")
	}
	modules = t.TempDir()
	if err := npm.Install(t.Context(), modules, "@modelcontextprotocol/sdk@1.32.2"); err != nil {
		t.Fatal(err)
	}
	return node, modules
}

// TestAPeerOfOtherHandsUnderstandsUs has a client that nobody here wrote use
// both transports. A stop in it reaches the agent, or the peer's later calls
// would wait.
func TestAPeerOfOtherHandsUnderstandsUs(t *testing.T) {
	t.Parallel()
	node, modules := peer(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hints := map[string]any{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true}
	want := map[string]any{
		"hints": []any{hints, hints}, "instructions": true, "offered": true, "steps": []any{"1 opening the page"},
		"tools": []any{"browser:object", "browser_browse:object"}, "snapshot": true, "image": "image image/png 11", "failed": true,
		"browse": true, "progress": "waiting", "cancelled": "stopped", "after": false,
	}
	for _, kind := range []string{"stdio", "http"} {
		t.Run(kind, func(t *testing.T) {
			api, left := newControl(t), make(chan error, 1)
			target := self
			if kind == "http" {
				h := open(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media), Browser: &agent{left: left}}, 0)
				defer func() { _ = h.Close() }()
				target = h.URL()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, "testdata/peer.mjs", kind, target, modules)
			cmd.Env = append(os.Environ(), "CLANK_TEST_CONTROL="+api.URL, "CLANK_TEST_MEDIA="+api.media)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			var got map[string]any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if kind == "http" {
				if err := within(t, "the stop", left); err == nil {
					t.Error("the agent was not stopped")
				}
			}
			api.awaitEnd(t, "T1")
		})
	}
}
