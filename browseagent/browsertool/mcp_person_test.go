package browsertool_test

import (
	"context"
	"strings"
	"testing"

	"clank/browseagent/browsertool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAClientWhoseAnswerDoesNotFitIsToldOnceWhatTheCallWaitsFor(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	o := &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": "perhaps"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			told <- r.Params.Message
		},
	}
	c, _ := connect(t, &browsertool.MCPServer{Browser: &agent{}}, o)
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "browser_browse", Arguments: map[string]any{"query": "ask others too"}, Meta: mcp.Meta{"progressToken": "p"},
	})
	if err != nil || !strings.Contains(text(r), "true answered elsewhere") {
		t.Fatalf("got %v, %v", r, err)
	}
	if line := <-told; line != "waits for a person: Buy something" || len(told) > 0 {
		t.Errorf("told %q and %d more", line, len(told))
	}
}
