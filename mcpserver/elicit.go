package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"clank/untrusted"
)

// Ask asks the person at a client whether something may be done. text says it in our words, detail in those of a page.
// The error says that the client cannot ask its person, or is gone.
type Ask func(ctx context.Context, text, detail string) (allowed bool, err error)

// answerSchema is the form that a client shows: one box to tick.
var answerSchema = json.RawMessage(`{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow it","default":false}},"required":["allow"]}`)

// asks is the way to the person at a client: elicitation of the protocol.
func asks(of *mcp.ServerSession) Ask {
	return func(ctx context.Context, text, detail string) (bool, error) {
		message := untrusted.Line(text, maxLine) + "?"
		if detail != "" {
			message += "\nThe page calls it: “" + untrusted.Line(detail, maxLine) + "”"
		}
		res, err := of.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: answerSchema})
		if err != nil {
			return false, fmt.Errorf("ask the person at the client: %w", err)
		}
		allow, _ := res.Content["allow"].(bool)
		return res.Action == "accept" && allow, nil
	}
}
