package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"clank/llm"
)

// ScreenCall is a call of the tool "computer". Actions are JSON objects, sent unchanged. The server checks the
// vendor's rules: every call is answered with an image, and every safety check is acknowledged.
type ScreenCall struct {
	ID      string // empty means a new one
	Actions []string
	Preview bool // as the preview tool: a single action
	Checks  []ScreenCheck
}

// ScreenCheck is a warning that a person must acknowledge.
type ScreenCheck struct{ ID, Code, Message string }

// ActOnScreen replies with one call with these actions, each a JSON object.
func ActOnScreen(actions ...string) Turn {
	return Answer(Reply{Screen: []ScreenCall{{Actions: actions}}, Usage: &llm.Usage{InputTokens: 10, OutputTokens: 5}})
}

// ForgetScreen deletes all stored responses, as if they had expired: requests that continue one of them are rejected.
func (s *Server) ForgetScreen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen = map[string][]ScreenCall{}
}

func screenItem(c ScreenCall, id string, n, i int) object {
	checks := []object{}
	for _, k := range c.Checks {
		checks = append(checks, object{"id": k.ID, "code": orNull(k.Code), "message": orNull(k.Message)})
	}
	item := object{
		"id": id, "type": "computer_call", "status": "completed", "call_id": callID(Call{ID: c.ID}, n, 100+i),
		"pending_safety_checks": checks,
	}
	actions := []json.RawMessage{}
	for _, a := range c.Actions {
		actions = append(actions, json.RawMessage(a))
	}
	if c.Preview && len(actions) > 0 {
		item["action"] = actions[0]
	} else {
		item["actions"] = actions
	}
	return item
}

// decodeScreenOutput decodes the image that answers a call.
func decodeScreenOutput(id string, raw json.RawMessage, into *Request) error {
	var out struct {
		ImageURL json.RawMessage `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return fmt.Errorf("decode computer_call_output: %w", err)
	}
	picture, err := decodeImage(out.ImageURL)
	if err != nil {
		return err
	}
	appendParts(into, llm.RoleUser, llm.Part{Result: &llm.ToolResult{ID: id, Images: []llm.Image{*picture}}})
	return nil
}

// expectScreen remembers the calls in reply n.
func (s *Server) expectScreen(n int, r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.screen == nil {
		s.screen = map[string][]ScreenCall{}
	}
	calls := append([]ScreenCall(nil), r.Screen...)
	for i := range calls {
		calls[i].ID = callID(Call{ID: calls[i].ID}, n, 100+i)
	}
	s.screen[fmt.Sprintf("resp_%d", n)] = calls
}

// checkScreen checks the vendor's rules for a conversation about a screen. It returns nil, or the turn that rejects
// the request.
func (s *Server) checkScreen(path string, body []byte) Turn {
	var in struct {
		Previous string            `json:"previous_response_id"`
		Input    []json.RawMessage `json:"input"`
	}
	if !strings.HasSuffix(path, "/responses") || json.Unmarshal(body, &in) != nil {
		return nil
	}
	s.mu.Lock()
	open, known := s.screen[in.Previous]
	s.mu.Unlock()
	if in.Previous != "" && !known {
		return Fail(http.StatusBadRequest, "previous_response_not_found",
			fmt.Sprintf("Previous response with id '%s' not found.", in.Previous))
	}
	return checkAnswered(open, in.Input)
}

// checkAnswered checks that each call, of before or among the items, is answered correctly.
func checkAnswered(open []ScreenCall, items []json.RawMessage) Turn {
	answers := map[string]map[string]bool{} // acknowledged checks by call
	for _, raw := range items {
		var it struct {
			Type   string
			CallID string        `json:"call_id"`
			Checks []ScreenCheck `json:"pending_safety_checks"`
			Acks   []ScreenCheck `json:"acknowledged_safety_checks"`
		}
		if json.Unmarshal(raw, &it) != nil {
			continue
		}
		switch it.Type {
		case "computer_call":
			open = append(open, ScreenCall{ID: it.CallID, Checks: it.Checks})
		case "computer_call_output":
			answers[it.CallID] = map[string]bool{}
			for _, c := range it.Acks {
				answers[it.CallID][c.ID] = true
			}
		}
	}
	for _, c := range open {
		acks, ok := answers[c.ID]
		if !ok {
			return Fail(http.StatusBadRequest, "", fmt.Sprintf("No tool output found for computer call %s.", c.ID))
		}
		for _, k := range c.Checks {
			if !acks[k.ID] {
				return Fail(http.StatusBadRequest, "", fmt.Sprintf("Computer tool has unacknowledged safety check for ['%s']",
					k.ID))
			}
		}
	}
	return nil
}
