package agent

import (
	"context"

	"clank/sessions"
)

// TakeOverAsker asks the people of a task to take control of its page. It returns once one of them is about to; its
// error says why nobody is. It may take minutes. ctx ends with the task.
type TakeOverAsker func(ctx context.Context, s sessions.Session, t sessions.Task, reason string) error

// The tool with which a model asks for that.
const (
	ToolTakeOver  = "ask_to_take_over"
	TakeOverAbout = "Ask the person to work the page with their own hands, for what you cannot or must not do: " +
		"a log-in, a captcha, a payment. You wait until they give the page back, and do not see what they type."
	TakeOverReason = "what they should do there, in a sentence"
)

// AskToTakeOver asks and returns the text for the model.
func AskToTakeOver(
	ctx context.Context, ask TakeOverAsker, s sessions.Session, t sessions.Task, reason string,
) (text string, done bool) {
	if err := ask(ctx, s, t, Shorten(reason, 300)); err != nil {
		return RefusalText(err), false
	}
	return "A person has the page now. Look at it when they have given it back.", true
}
