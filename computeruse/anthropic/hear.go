package anthropic

import (
	"cmp"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/anthropic"
)

// hear adds what has happened to the conversation: answers to the open calls
// first, then what the person says, then a picture that belongs to no call.
func (t *talk) hear(in computeruse.Input) {
	content, shown := t.answers(in)
	t.open = nil
	for _, said := range in.Says {
		content = append(content, anthropic.Words(said)...)
	}
	if in.Shot != nil {
		t.size, t.url = in.Shot.Size, in.Shot.URL
		if !shown {
			content = append(content, anthropic.Text(t.where()), t.shot(in.Shot))
		}
	}
	last := len(t.messages) - 1
	told := last >= 0 && t.messages[last].Role == anthropic.RoleUser // but the model has not answered
	if len(content) == 0 && !told {
		content = append(content, anthropic.Text(goOn))
	}
	if told {
		t.messages[last].Content = append(t.messages[last].Content, content...)
		return
	}
	t.messages = append(t.messages, anthropic.Message{Role: anthropic.RoleUser, Content: content})
}

// answers are the results of the open calls, in their order. The picture of the
// screen goes with the last action that was done and shows nothing of its own;
// shown says whether there was one.
func (t *talk) answers(in computeruse.Input) (content []anthropic.Content, shown bool) {
	outcomes := map[string]computeruse.Outcome{}
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
			content = append(content, anthropic.Result(c.id, c.toolset, noAnswer, nil, true))
		case o.Skipped:
			content = append(content, anthropic.Result(c.id, c.toolset, skipped, nil, true))
		case o.Err != "":
			content = append(content, anthropic.Result(c.id, c.toolset, lines(o.Err, o.Text), nil, true))
		default:
			text, images := cmp.Or(o.Text, done), []anthropic.ImageBlock(nil)
			if o.Image != nil {
				images = append(images, anthropic.Picture(*o.Image))
			}
			if with == c.id {
				t.url = in.Shot.URL
				text, images = lines(text, t.where()), append(images, t.shot(in.Shot))
			}
			content = append(content, anthropic.Result(c.id, c.toolset, text, images, false))
		}
	}
	return content, with != ""
}

func toolAnswer(c call, r llm.ToolResult) anthropic.Content {
	return anthropic.Result(c.id, c.toolset, r.Text, anthropic.Pictures(r.Images), r.IsError)
}

// shot is the picture of the screen. Where the vendor can be told so, it must
// not shrink it: clicks would miss.
func (t *talk) shot(s *computeruse.Shot) anthropic.ImageBlock {
	if isToolset(t.mind.tools) {
		return anthropic.Picture(s.Image).Unscaled()
	}
	return anthropic.Picture(s.Image)
}

// maxURL is how much of a page's address is told.
const maxURL = 500

// where says what the picture is of.
func (t *talk) where() string {
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

func lines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
