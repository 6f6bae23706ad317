package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"image"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/anthropic"
)

// skippedText answers calls after one that failed, in the words the models know from their vendor.
const skippedText = "Not executed: an earlier computer action in this turn failed."

const (
	doneText     = "Done."
	continueText = "(go on)"
	noAnswerText = "Not executed: the work was stopped before it."
)

// defaultSize is the screen that beta tools are told of before a picture was seen.
var defaultSize = image.Pt(1280, 800)

// conversation is one conversation.
type conversation struct {
	model    *Model
	brief    computeruse.ConversationOptions
	messages []anthropic.Message
	open     []openCall  // of the model's newest message
	size     image.Point // of the newest picture
	url      string      // of the page
	tab      string      // that the model has chosen; "" if it has not
}

// openCall is a call of the model that is to be answered.
type openCall struct {
	id      string
	toolset string
	screen  bool // it is answered with a picture
}

// Begin implements computeruse.Model. Of a memory of other tools or of another model only what was said is kept.
func (m *Model) Begin(b computeruse.ConversationOptions) (computeruse.Conversation, error) {
	t := &conversation{model: m, brief: b, size: defaultSize}
	if len(b.Memory) > 0 {
		if err := t.load(b.Memory); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Next implements computeruse.Conversation.
func (t *conversation) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
	t.appendInput(in)
	q := anthropic.MessageRequest{
		System: t.brief.System, Messages: t.messages, Stable: t.dropOldImages(maxPictures), Tools: offeredTools(t.model.tools, t.brief.Tools, t.size),
		MaxTokens: t.brief.MaxTokens, EndUser: t.brief.EndUser, NoCalls: in.Final,
	}
	if beta := betas[t.model.tools]; beta != "" {
		q.Betas = []string{beta}
	}
	got, err := t.model.model.Ask(ctx, q, nil)
	if err != nil {
		return computeruse.Turn{}, err //nolint:wrapcheck // it is fit for a person as it is
	}
	return t.readAnswer(got), nil
}

// readAnswer reads an answer and keeps it for the next question.
func (t *conversation) readAnswer(got anthropic.MessageResponse) computeruse.Turn {
	turn := computeruse.Turn{Stop: got.Stop, Usage: got.Usage}
	says := false
	var texts, thoughts []string
	for _, b := range got.Blocks {
		switch {
		case b.Type == "text":
			says, texts = true, append(texts, b.Text)
		case b.Type == "thinking" && b.Text != "":
			thoughts = append(thoughts, b.Text)
		case b.Tool != nil && got.Stop != llm.StopRefused:
			says = true
			t.addCall(*b.Tool, &turn)
		}
	}
	turn.Text, turn.Reasoning = strings.Join(texts, "\n\n"), strings.Join(thoughts, "\n\n")
	if got.Stop == llm.StopRefused {
		turn.Text = cmp.Or(turn.Text, anthropic.RefusalText(got.Why))
		t.addAnswer(anthropic.NewText(turn.Text))
		return turn
	}
	if says { // thoughts alone are not taken back
		t.addAnswer(anthropic.ReplayContent(got.Blocks)...)
	}
	return turn
}

// addAnswer keeps what the model said.
func (t *conversation) addAnswer(content ...anthropic.Content) {
	t.messages = append(t.messages, anthropic.Message{Role: anthropic.RoleAssistant, Content: content})
}

// addCall puts a call of a tool where it belongs in the turn.
func (t *conversation) addCall(use anthropic.ToolUse, turn *computeruse.Turn) {
	open := openCall{id: use.ID, toolset: use.Toolset, screen: onScreen(use)}
	var in memberInput
	err := json.Unmarshal(use.Input, &in)
	if use.Malformed != "" {
		err = errors.New("its input is not a JSON object")
	}
	if name, arguments := browserTool(use.Name, in); use.Toolset == toolsetBrowser && name != "" && err == nil {
		switch use.Name {
		case "switch_tab":
			t.tab = in.TabID
		case "new_tab", "close_tab":
			t.tab = ""
		}
		open.screen = false
		turn.Tools = append(turn.Tools, llm.ToolCall{ID: use.ID, Name: name, Input: arguments})
	} else if !open.screen {
		turn.Tools = append(turn.Tools, use.ToolCall)
	} else {
		turn.Calls = append(turn.Calls, computeruse.Call{ID: use.ID, Actions: t.readActions(use, in, err)})
	}
	t.open = append(t.open, open)
}

const (
	toolsetComputer = "computer"
	toolsetBrowser  = "browser"
)

// onScreen says whether a call is of the vendor's tools rather than of ours.
func onScreen(use anthropic.ToolUse) bool {
	return use.Toolset != "" || use.Name == toolsetComputer
}

// readActions returns the actions of a call. A call that cannot be read becomes an action that is answered with the
// reason.
func (t *conversation) readActions(use anthropic.ToolUse, in memberInput, err error) []computeruse.Action {
	member := use.Name
	if use.Toolset == "" {
		member = cmp.Or(in.Action, use.Name)
	}
	var all []computeruse.Action
	if err == nil {
		switch use.Toolset {
		case toolsetBrowser:
			if t.tab != "" && in.TabID != "" && in.TabID != t.tab {
				err = errors.New("switch_tab to that tab first")
				break
			}
			all, err = browserActions(member, in, t.url)
		case toolsetComputer, "":
			all, err = memberActions(member, in)
		default:
			err = errUnknownMember
		}
	}
	switch {
	case errors.Is(err, errUnknownMember):
		return []computeruse.Action{{Kind: computeruse.ActUnknown, Text: member}}
	case err != nil:
		return []computeruse.Action{{Kind: computeruse.ActUnknown, Text: member + ": " + err.Error()}}
	}
	return all
}
