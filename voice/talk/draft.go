package talk

import (
	"slices"
	"strings"
	"time"

	"clank/brain"
	"clank/sessions"
	"clank/voice/talk/words"
)

// brokenOff is said where an answer ends in its midst, for a reason that is better read.
const brokenOff = "The rest of the answer did not come."

// draft is an answer that is being written, and said meanwhile.
type draft struct {
	reader words.Reader
	text   string // until now
	part   *part
}

func newDraft(to *person) *draft { return &draft{part: &part{to: to, answer: true, open: true}} }

// spoken reports whether there was anything to say in it.
func (d *draft) spoken() bool { return d != nil && len(d.part.sentences) > 0 }

// wrote is told what the model writes of a reply.
func (c *call) wrote(j *job, piece brain.Piece) {
	if j.replaced {
		return
	}
	if piece.Text != "" {
		if j.draft == nil {
			j.draft = newDraft(j.by)
		}
		c.writes(j.draft, piece.Text)
		if j.draft.spoken() {
			c.dropFor(j)
		}
	}
	if piece.Whole && j.draft != nil {
		c.ends(j.draft, brain.Answer{})
		j.spoke = j.spoke || j.draft.spoken()
		j.draft = nil
	}
}

// writes takes the next piece of an answer, and says what is whole with it.
func (c *call) writes(d *draft, piece string) {
	d.text += piece
	c.sayMore(d.part, d.reader.Write(piece))
}

// ends is told that an answer is whole. What can only be read of it is written, with the pictures of a.
func (c *call) ends(d *draft, a brain.Answer) {
	p, images := d.part, a.Images
	sentences := d.reader.End(len(images) > 0)
	if len(images) == 0 && a.View != nil {
		images = []sessions.Image{*a.View}
	}
	text := strings.TrimSpace(d.text)
	if text == "" && len(images) == 0 {
		return
	}
	p.whole, p.question = text, strings.HasSuffix(text, "?")
	if d.reader.More() || len(images) > 0 || p.unsaid {
		c.write(Message{Text: text, Images: images})
	} else {
		c.showOurs(text)
		p.text = text
	}
	c.keep(text)
	p.open = false
	c.sayMore(p, sentences)
	if p.unsaid {
		p.said = len(p.sentences)
		c.remember(p)
	}
}

// breakOff ends an answer of which nothing more is written or said.
func (c *call) breakOff(d *draft, cause error) {
	if !d.spoken() {
		return
	}
	p := d.part
	if p.over {
		c.quote(p)
		return
	}
	p.cut = true
	if !c.dropWhere(func(x *part) bool { return x == p }, cause) {
		c.remember(p)
	}
}

// takeBack takes an answer back of which nothing was heard.
func (c *call) takeBack(d *draft, cause error) {
	if d == nil {
		return
	}
	p := d.part
	p.answer, p.over = false, true
	if p.line != nil {
		c.lines.Remove(p.line)
	}
	c.dropWhere(func(x *part) bool { return x == p }, cause)
}

// fails tells whom a job is for that it has failed: shortly, if they have heard the beginning of an answer already.
func (c *call) fails(j *job, aloud, text string) {
	if !j.draft.spoken() {
		c.answerShort(j.by, text)
		return
	}
	if aloud != text {
		c.write(Message{Text: text})
	}
	j.draft.reader.Drop()
	c.writes(j.draft, "\n\n"+aloud)
	c.ends(j.draft, brain.Answer{})
}

// sayMore has further sentences of p said.
func (c *call) sayMore(p *part, sentences []string) {
	if p.unsaid || !p.over {
		p.sentences = append(p.sentences, sentences...)
	}
	if p == c.speech.now && len(sentences) > 0 {
		p.aloud.Goes(strings.Join(sentences, " "))
	}
	c.place(p)
}

// place has p said where there is more of it, and remembered where there will not be.
func (c *call) place(p *part) {
	s := &c.speech
	switch {
	case p.over || p == s.suspended || slices.Contains(s.queue, p):
	case p == s.now:
		p.serve()
	case p.said < len(p.sentences):
		c.say(p)
	case !p.open && len(p.sentences) > 0:
		c.remember(p)
	}
}

// quote has read, and kept, what was heard of an answer that nobody will read as a whole.
func (c *call) quote(p *part) {
	if p.said == 0 {
		return
	}
	text := strings.Join(p.sentences[:p.said], " ")
	c.showOurs(text)
	c.keep(text)
}

func (c *call) keep(text string) {
	if c.Keep != nil {
		c.Keep(Said{Text: text, At: time.Now()})
	}
}
