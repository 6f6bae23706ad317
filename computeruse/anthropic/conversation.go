package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
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

// defaultSize is the screen size given to beta tools before a picture was seen.
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

// openCall is an unanswered call of the model.
type openCall struct {
	id      string
	toolset string
	screen  bool // it is answered with a picture
}

// Begin implements computeruse.Model. From a memory of other tools or another model, only texts are kept.
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
		System: t.brief.System, Messages: t.messages, Stable: t.dropOldImages(),
		Tools:     offeredTools(t.model.tools, t.brief.Tools, t.size),
		MaxTokens: cmp.Or(in.MaxTokens, t.brief.MaxTokens), EndUser: t.brief.EndUser, NoCalls: in.Final,
	}
	if beta := betas[t.model.tools]; beta != "" {
		q.Betas = []string{beta}
	}
	got, err := t.model.model.Ask(ctx, q, nil)
	if err != nil {
		return computeruse.Turn{}, err //nolint:wrapcheck // it is already written for people
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

// addCall adds a tool call to the turn.
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

// onScreen reports whether a call is for the vendor's tools rather than ours.
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

// maxPictures is how many of the newest pictures are sent again. Those that the model has not seen yet are always sent.
const maxPictures = 3

// removedImageText replaces a removed picture.
const removedImageText = "(an earlier picture)"

// dropOldImages removes older pictures from the conversation until at most maxPictures are left, and returns the
// messages after which it will not change any more.
func (t *conversation) dropOldImages() (stable []int) {
	left, first := maxPictures, len(t.messages) // first message that holds a picture
	newest := len(t.messages) - 1
	for i := newest; i >= 0; i-- {
		m := &t.messages[i]
		if m.Role != anthropic.RoleUser {
			continue
		}
		if i == newest {
			left -= imageCount(*m)
		} else {
			left -= dropImagesIn(m, max(left, 0))
		}
		if imageCount(*m) > 0 {
			first = i
		}
	}
	if left > 0 { // the next picture pushes none out
		return []int{newest}
	}
	for i := first - 1; i >= 0; i-- {
		if t.messages[i].Role == anthropic.RoleUser {
			return []int{i}
		}
	}
	return nil
}

// dropImagesIn keeps the last pictures of a message, at most keep, and returns how many are left. It replaces blocks
// instead of changing them: a request may hold them.
func dropImagesIn(m *anthropic.Message, keep int) (left int) {
	over := imageCount(*m) - keep
	if over <= 0 {
		return imageCount(*m)
	}
	m.Content = withoutPictures(m.Content, &over)
	return keep
}

// withoutPictures returns blocks without the first over pictures, and subtracts those removed from over.
func withoutPictures(blocks []anthropic.Content, over *int) []anthropic.Content {
	blocks = slices.Clone(blocks)
	for i, b := range blocks {
		switch b := b.(type) {
		case anthropic.ImageBlock:
			if *over > 0 {
				blocks[i] = anthropic.NewText(removedImageText)
				*over--
			}
		case anthropic.ResultBlock:
			b.Content = withoutPictures(b.Content, over)
			blocks[i] = b
		}
	}
	return blocks
}

func imageCount(m anthropic.Message) int { return imagesInBlocks(m.Content) }

func imagesInBlocks(blocks []anthropic.Content) int {
	n := 0
	for _, b := range blocks {
		switch b := b.(type) {
		case anthropic.ImageBlock:
			n++
		case anthropic.ResultBlock:
			n += imagesInBlocks(b.Content)
		}
	}
	return n
}

// storedConversation is the stored form of a conversation, without pictures: the next task begins with a new one.
type storedConversation struct {
	Tools    Tools           `json:"tools"`
	Owner    string          `json:"owner"` // whose thinking it holds
	URL      string          `json:"url,omitempty"`
	Messages []storedMessage `json:"messages"`
}

type storedMessage struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// Memory implements computeruse.Conversation.
func (t *conversation) Memory() (json.RawMessage, error) {
	kept := storedConversation{Tools: t.model.tools, Owner: t.model.model.Owner(), URL: t.url}
	for _, m := range t.messages {
		dropImagesIn(&m, 0)
		stored := storedMessage{Role: m.Role}
		for _, b := range m.Content {
			raw, err := json.Marshal(b)
			if err != nil {
				return nil, fmt.Errorf("store conversation: %w", err)
			}
			stored.Content = append(stored.Content, raw)
		}
		kept.Messages = append(kept.Messages, stored)
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("store conversation: %w", err)
	}
	return raw, nil
}

// storedBlock is the part of a stored block that is read.
type storedBlock struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Toolset string `json:"toolset_name"`
}

// load continues a stored conversation.
func (t *conversation) load(raw json.RawMessage) error {
	var kept storedConversation
	if err := json.Unmarshal(raw, &kept); err != nil {
		return fmt.Errorf("read stored conversation: %w", err)
	}
	t.url = kept.URL
	wordsOnly := kept.Tools != t.model.tools || kept.Owner != t.model.model.Owner()
	for _, m := range kept.Messages {
		if err := t.restore(m, wordsOnly); err != nil {
			return fmt.Errorf("read stored conversation: %w", err)
		}
	}
	return nil
}

// restore adds a stored message. The calls of the last one are open.
func (t *conversation) restore(m storedMessage, wordsOnly bool) error {
	if m.Role != anthropic.RoleUser && m.Role != anthropic.RoleAssistant {
		return fmt.Errorf("there is no role %.20q", m.Role)
	}
	var content []anthropic.Content
	var open []openCall
	for _, raw := range m.Content {
		var b storedBlock
		if err := json.Unmarshal(raw, &b); err != nil {
			return fmt.Errorf("read block: %w", err)
		}
		if b.Type == "tool_use" && !wordsOnly {
			use := anthropic.ToolUse{Toolset: b.Toolset}
			use.Name = b.Name
			open = append(open, openCall{id: b.ID, toolset: b.Toolset, screen: onScreen(use)})
		}
		switch {
		case b.Type == "text":
			content = append(content, anthropic.OptionalText(b.Text)...)
		case wordsOnly:
		case m.Role == anthropic.RoleAssistant:
			content = append(content, anthropic.RawBlock(raw))
		default:
			block, err := anthropic.ReadBlock(raw)
			if err != nil {
				return err
			}
			content = append(content, block)
		}
	}
	t.add(m.Role, content)
	t.open = open
	return nil
}

// add adds content, to the last message if that is of the same role.
func (t *conversation) add(role string, content []anthropic.Content) {
	if len(content) == 0 {
		return
	}
	if last := len(t.messages) - 1; last >= 0 && t.messages[last].Role == role {
		t.messages[last].Content = append(t.messages[last].Content, content...)
		return
	}
	if len(t.messages) == 0 && role == anthropic.RoleAssistant {
		t.messages = append(t.messages,
			anthropic.Message{Role: anthropic.RoleUser, Content: anthropic.OptionalText(continueText)})
	}
	t.messages = append(t.messages, anthropic.Message{Role: role, Content: content})
}
