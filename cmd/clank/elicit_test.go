package main

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestThePersonAtAnMCPClientIsAsked(t *testing.T) {
	if testing.Short() {
		t.Skip("one step after the other, with a browser")
	}
	t.Parallel()
	_, environ := newTestHome(t)
	site := newTestSite(t)
	var answer *mcp.ElicitResult
	var said []string
	s := mcpClient(t, environ, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		said = append(said, r.Params.Message)
		return answer, nil
	}})
	for _, tt := range []struct {
		name   string
		answer *mcp.ElicitResult
		bought bool
		want   string
	}{
		{"no tick", &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": false}}, false, "the person at the client said no"},
		{"no", &mcp.ElicitResult{Action: "decline"}, false, "the person at the client said no"},
		{"yes", &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}, true, "targetId"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer, said = tt.answer, nil
			checkPurchase(t, s, site, tt.bought, tt.want)
			if len(said) != 1 || !strings.HasPrefix(said[0], "Buy, order or pay something at 127.0.0.1") || !strings.Contains(said[0], "“Buy now”") {
				t.Errorf("the person was asked %q", said)
			}
		})
	}
}

// checkPurchase has a client of MCP buy something on the site, which the tool says that it did or did not.
func checkPurchase(t *testing.T, s *mcp.ClientSession, site *testSite, want bool, says string) {
	t.Helper()
	callTool(t, s, "browser", map[string]any{"action": "open", "url": site.URL + "/buy"})
	ref := refOf(callTool(t, s, "browser", map[string]any{"action": "snapshot"}), `button "Buy now"`)
	res, err := s.CallTool(testDeadline(t), &mcp.CallToolParams{Name: "browser", Arguments: map[string]any{"action": "act", "request": map[string]any{"kind": "click", "ref": ref}}})
	if err != nil {
		t.Fatal(err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if !strings.Contains(text, says) || res.IsError == want || !want && !strings.Contains(text, "Do not try it in another way") {
		t.Errorf("the tool says %s", text)
	}
	bought := false
	for len(site.hits) > 0 {
		bought = <-site.hits == "/bought" || bought
	}
	if bought != want {
		t.Errorf("bought: %v", bought)
	}
}
