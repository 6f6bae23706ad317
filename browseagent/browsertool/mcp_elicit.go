package browsertool

import (
	"context"
	"encoding/json"
	"fmt"

	"clank/internal/untrusted"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// AskFunc asks the person at a client whether something may be done. text says it in our words, detail in those of a page.
// The error says that the client cannot ask its person, or is gone.
type AskFunc func(ctx context.Context, text, detail string) (allowed bool, err error)

// approvalSchema is the form that a client shows: one box to tick.
var approvalSchema = json.RawMessage(`{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow it","default":false}},"required":["allow"]}`)

// elicitor returns the way to the person at a client: elicitation of the protocol.
func elicitor(of *mcp.ServerSession) AskFunc {
	return func(ctx context.Context, text, detail string) (bool, error) {
		message := untrusted.CleanLine(text, maxProgressLine) + "?"
		if detail != "" {
			message += "\nThe page calls it: “" + untrusted.CleanLine(detail, maxProgressLine) + "”"
		}
		res, err := of.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: approvalSchema})
		if err != nil {
			return false, fmt.Errorf("ask the person at the client: %w", err)
		}
		allow, _ := res.Content["allow"].(bool)
		return res.Action == "accept" && allow, nil
	}
}
