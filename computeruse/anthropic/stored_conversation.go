package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"

	"clank/llm/anthropic"
)

// maxPictures is how many of the newest pictures are sent again. Those that the model has not seen yet are always sent.
const maxPictures = 3

// removedImageText stands where a picture was.
const removedImageText = "(an earlier picture)"

// dropOldImages takes older pictures out of the conversation until at most keep are left, and says after which messages
// it will not change any more.
func (t *conversation) dropOldImages(keep int) (stable []int) {
	left, first := keep, len(t.messages) // first message that holds a picture
	newest := len(t.messages) - 1
	for i := newest; i >= 0; i-- {
		m := &t.messages[i]
		if m.Role != anthropic.RoleUser {
			continue
		}
		if i == newest && keep > 0 {
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

// dropImagesIn keeps the last pictures of a message, at most keep, and says how many are left. Blocks are replaced, not
// changed: a question may hold them.
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

// storedConversation is a conversation as it is stored, without pictures: whoever goes on begins with a new one.
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

// storedBlock is what is read of a stored block.
type storedBlock struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Toolset string `json:"toolset_name"`
}

// load goes on with a stored conversation.
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

// restore adds a stored message. Open calls are those of the last one.
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
		t.messages = append(t.messages, anthropic.Message{Role: anthropic.RoleUser, Content: anthropic.OptionalText(continueText)})
	}
	t.messages = append(t.messages, anthropic.Message{Role: role, Content: content})
}
