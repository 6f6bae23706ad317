package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"

	"clank/llm/anthropic"
)

// maxPictures is how many of the newest pictures are sent again. Those that the
// model has not seen yet are always sent.
const maxPictures = 3

// forgotten stands where a picture was.
const forgotten = "(an earlier picture)"

// forget takes older pictures out of the conversation until at most keep are
// left, and says after which messages it will not change any more.
func (t *talk) forget(keep int) (stable []int) {
	left, first := keep, len(t.messages) // first message that holds a picture
	newest := len(t.messages) - 1
	for i := newest; i >= 0; i-- {
		m := &t.messages[i]
		if m.Role != anthropic.RoleUser {
			continue
		}
		if i == newest && keep > 0 {
			left -= pictures(*m)
		} else {
			left -= forgetIn(m, max(left, 0))
		}
		if pictures(*m) > 0 {
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

// forgetIn keeps the last pictures of a message, at most keep, and says how
// many are left. Blocks are replaced, not changed: a question may hold them.
func forgetIn(m *anthropic.Message, keep int) (left int) {
	over := pictures(*m) - keep
	if over <= 0 {
		return pictures(*m)
	}
	m.Content = withoutPictures(m.Content, &over)
	return keep
}

// withoutPictures are blocks without the first pictures, as many as are over.
func withoutPictures(blocks []anthropic.Content, over *int) []anthropic.Content {
	blocks = slices.Clone(blocks)
	for i, b := range blocks {
		switch b := b.(type) {
		case anthropic.ImageBlock:
			if *over > 0 {
				blocks[i] = anthropic.Text(forgotten)
				*over--
			}
		case anthropic.ResultBlock:
			b.Content = withoutPictures(b.Content, over)
			blocks[i] = b
		}
	}
	return blocks
}

func pictures(m anthropic.Message) int { return picturesIn(m.Content) }

func picturesIn(blocks []anthropic.Content) int {
	n := 0
	for _, b := range blocks {
		switch b := b.(type) {
		case anthropic.ImageBlock:
			n++
		case anthropic.ResultBlock:
			n += picturesIn(b.Content)
		}
	}
	return n
}

// memory is a conversation as it is stored, without pictures: whoever goes on
// begins with a new one.
type memory struct {
	Tools    Tools           `json:"tools"`
	Owner    string          `json:"owner"` // whose thinking it holds
	URL      string          `json:"url,omitempty"`
	Messages []storedMessage `json:"messages"`
}

type storedMessage struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// Memory implements computeruse.Talk.
func (t *talk) Memory() (json.RawMessage, error) {
	kept := memory{Tools: t.mind.tools, Owner: t.mind.model.Owner(), URL: t.url}
	for _, m := range t.messages {
		forgetIn(&m, 0)
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

// remember goes on with a stored conversation.
func (t *talk) remember(raw json.RawMessage) error {
	var kept memory
	if err := json.Unmarshal(raw, &kept); err != nil {
		return fmt.Errorf("read stored conversation: %w", err)
	}
	t.url = kept.URL
	wordsOnly := kept.Tools != t.mind.tools || kept.Owner != t.mind.model.Owner()
	for _, m := range kept.Messages {
		if err := t.restore(m, wordsOnly); err != nil {
			return fmt.Errorf("read stored conversation: %w", err)
		}
	}
	return nil
}

// restore adds a stored message. Open calls are those of the last one.
func (t *talk) restore(m storedMessage, wordsOnly bool) error {
	if m.Role != anthropic.RoleUser && m.Role != anthropic.RoleAssistant {
		return fmt.Errorf("there is no role %.20q", m.Role)
	}
	var content []anthropic.Content
	var open []call
	for _, raw := range m.Content {
		var b storedBlock
		if err := json.Unmarshal(raw, &b); err != nil {
			return fmt.Errorf("read block: %w", err)
		}
		if b.Type == "tool_use" && !wordsOnly {
			use := anthropic.ToolUse{Toolset: b.Toolset}
			use.Name = b.Name
			open = append(open, call{id: b.ID, toolset: b.Toolset, screen: onScreen(use)})
		}
		switch {
		case b.Type == "text":
			content = append(content, anthropic.Words(b.Text)...)
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
func (t *talk) add(role string, content []anthropic.Content) {
	if len(content) == 0 {
		return
	}
	if last := len(t.messages) - 1; last >= 0 && t.messages[last].Role == role {
		t.messages[last].Content = append(t.messages[last].Content, content...)
		return
	}
	if len(t.messages) == 0 && role == anthropic.RoleAssistant {
		t.messages = append(t.messages, anthropic.Message{Role: anthropic.RoleUser, Content: anthropic.Words(goOn)})
	}
	t.messages = append(t.messages, anthropic.Message{Role: role, Content: content})
}
