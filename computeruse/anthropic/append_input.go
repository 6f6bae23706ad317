package anthropic

import (
	"cmp"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/anthropic"
)

// appendInput adds what has happened to the conversation: answers to the open calls
// first, then what the person says, then a picture that belongs to no call.
func (t *conversation) appendInput(in computeruse.Input) {
	content, shown := t.callAnswers(in)
	t.open = nil
	for _, said := range in.Says {
		content = append(content, anthropic.OptionalText(said)...)
	}
	if in.Shot != nil {
		t.size, t.url = in.Shot.Size, in.Shot.URL
		if !shown {
			content = append(content, anthropic.NewText(t.screenshotNote()), t.screenshotBlock(in.Shot))
		}
	}
	last := len(t.messages) - 1
	told := last >= 0 && t.messages[last].Role == anthropic.RoleUser // but the model has not answered
	if len(content) == 0 && !told {
		content = append(content, anthropic.NewText(continueText))
	}
	if told {
		t.messages[last].Content = append(t.messages[last].Content, content...)
		return
	}
	t.messages = append(t.messages, anthropic.Message{Role: anthropic.RoleUser, Content: content})
}

// callAnswers returns the results of the open calls, in their order. The picture of the
// screen goes with the last action that was done and shows nothing of its own;
// shown says whether there was one.
func (t *conversation) callAnswers(in computeruse.Input) (content []anthropic.Content, shown bool) {
	outcomes := map[string]computeruse.CallResult{}
	for _, o := range in.Outcomes {
		outcomes[o.CallID] = o
	}
	results := map[string]llm.ToolResult{}
	for _, r := range in.Results {
		results[r.ID] = r
	}
	with := ""
	for _, c := range t.open {
		if o, ok := outcomes[c.id]; ok && c.screen && o.Err == "" && !o.Skipped && o.Image == nil && in.Shot != nil {
			with = c.id
		}
	}
	for _, c := range t.open {
		if r, ok := results[c.id]; ok {
			content = append(content, toolAnswer(c, r))
			continue
		}
		o, ok := outcomes[c.id]
		switch {
		case !ok:
			content = append(content, anthropic.NewResult(c.id, c.toolset, noAnswerText, nil, true))
		case o.Skipped:
			content = append(content, anthropic.NewResult(c.id, c.toolset, skippedText, nil, true))
		case o.Err != "":
			content = append(content, anthropic.NewResult(c.id, c.toolset, joinLines(o.Err, o.Text), nil, true))
		default:
			text, images := cmp.Or(o.Text, doneText), []anthropic.ImageBlock(nil)
			if o.Image != nil {
				images = append(images, anthropic.NewImage(*o.Image))
			}
			if with == c.id {
				t.url = in.Shot.URL
				text, images = joinLines(text, t.screenshotNote()), append(images, t.screenshotBlock(in.Shot))
			}
			content = append(content, anthropic.NewResult(c.id, c.toolset, text, images, false))
		}
	}
	return content, with != ""
}

func toolAnswer(c openCall, r llm.ToolResult) anthropic.Content {
	return anthropic.NewResult(c.id, c.toolset, r.Text, anthropic.NewImages(r.Images), r.IsError)
}

// screenshotBlock returns the picture of the screen. Where the vendor can be told so, it must
// not shrink it: clicks would miss.
func (t *conversation) screenshotBlock(s *computeruse.Screenshot) anthropic.ImageBlock {
	if isToolset(t.model.tools) {
		return anthropic.NewImage(s.Image).Unscaled()
	}
	return anthropic.NewImage(s.Image)
}

// maxURL is how much of a page's address is told.
const maxURL = 500

// screenshotNote says what the picture is of.
func (t *conversation) screenshotNote() string {
	if t.url == "" {
		return "The screen now:"
	}
	url := strings.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, t.url)
	return "The screen now, at " + url[:min(len(url), maxURL)] + ":"
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
