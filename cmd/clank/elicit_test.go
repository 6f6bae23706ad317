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
	for name, tt := range map[string]struct {
		answer *mcp.ElicitResult // nil: the client cannot ask
		bought bool
		want   string
	}{
		"yes":           {&mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}, true, "targetId"},
		"no tick":       {&mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": false}}, false, "the person at the client said no"},
		"no":            {&mcp.ElicitResult{Action: "decline"}, false, "the person at the client said no"},
		"nobody to ask": {nil, false, "set interaction.consent.buy to allow"},
	} {
		t.Run(name, func(t *testing.T) {
			_, environ := newPlace(t)
			site := newSite(t)
			var said []string
			opts := &mcp.ClientOptions{}
			if tt.answer != nil {
				opts.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					said = append(said, r.Params.Message)
					return tt.answer, nil
				}
			}
			s := mcpClientWith(t, environ, opts)
			callTool(t, s, "browser", map[string]any{"action": "open", "url": site.URL + "/buy"})
			ref := refOf(callTool(t, s, "browser", map[string]any{"action": "snapshot"}), `button "Buy now"`)
			res, err := s.CallTool(waiting(t), &mcp.CallToolParams{Name: "browser", Arguments: map[string]any{"action": "act", "request": map[string]any{"kind": "click", "ref": ref}}})
			if err != nil {
				t.Fatal(err)
			}
			text := res.Content[0].(*mcp.TextContent).Text
			if !strings.Contains(text, tt.want) || res.IsError == tt.bought || !tt.bought && !strings.Contains(text, "Do not try it in another way") {
				t.Errorf("the tool says %s", text)
			}
			if asked := len(said) == 1 && strings.HasPrefix(said[0], "Buy, order or pay something at 127.0.0.1") && strings.Contains(said[0], "“Buy now”"); asked != (tt.answer != nil) {
				t.Errorf("the person was asked %q", said)
			}
			bought := false
			for len(site.hits) > 0 {
				bought = <-site.hits == "/bought" || bought
			}
			if bought != tt.bought {
				t.Errorf("bought: %v", bought)
			}
		})
	}
}
