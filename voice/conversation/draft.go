package conversation

import (
	"slices"
	"strings"
	"time"

	"clank/internal/assistant"
	"clank/llm"
)

// answerCutText is said where an answer ends in its midst, for a reason that is better read.
const answerCutText = "The rest of the answer did not come."

// draft is an answer that is being written, and spoken meanwhile.
type draft struct {
	reader SentenceReader
	text   string // until now
	item   *speechItem
}

func (c *call) newDraft(to *person) *draft {
	return &draft{item: &speechItem{to: to, answer: true, writing: true}, reader: SentenceReader{Locale: c.own()}}
}

// hasSpeech reports whether there was anything to say in it.
func (d *draft) hasSpeech() bool { return d != nil && len(d.item.sentences) > 0 }

// handlePiece handles a piece of a reply that the model writes.
func (c *call) handlePiece(j *job, piece assistant.TextChunk) {
	if j.replaced {
		return
	}
	if piece.Text != "" {
		if j.draft == nil {
			j.draft = c.newDraft(j.by)
		}
		c.appendToDraft(j.draft, piece.Text)
		if j.draft.hasSpeech() {
			c.dropProgress(j)
		}
	}
	if piece.Complete && j.draft != nil {
		c.finishDraft(j.draft, assistant.Answer{})
		j.answered = j.answered || j.draft.hasSpeech()
		j.draft = nil
	}
}

// appendToDraft appends a piece of an answer and speaks the sentences that are complete.
func (c *call) appendToDraft(d *draft, piece string) {
	d.text += piece
	c.appendSentences(d.item, d.reader.Write(piece))
}

// finishDraft finishes a draft whose answer is complete. An answer with parts that can only be read is written,
// with the images of a.
func (c *call) finishDraft(d *draft, a assistant.Answer) {
	p, images := d.item, a.Images
	sentences := d.reader.End(len(images) > 0)
	if len(images) == 0 && a.View != nil {
		images = []llm.Image{*a.View}
	}
	text := strings.TrimSpace(d.text)
	if text == "" && len(images) == 0 {
		return
	}
	p.fullText, p.question = text, a.Asks || strings.HasSuffix(text, "?")
	if d.reader.HasUnspoken() || len(images) > 0 || p.textOnly {
		c.write(Message{Text: text, Images: images})
	} else {
		c.showOwnLine(text)
		p.text = text
	}
	c.recordOwnLine(text)
	p.writing = false
	c.appendSentences(p, sentences)
	if p.textOnly {
		p.saidCount = len(p.sentences)
		c.addToHistory(p)
	}
}

// cutDraft ends an answer of which nothing more is written or said.
func (c *call) cutDraft(d *draft, cause error) {
	if !d.hasSpeech() {
		return
	}
	p := d.item
	if p.finished {
		c.recordHeardPart(p)
		return
	}
	p.truncated = true
	if !c.dropWhere(func(x *speechItem) bool { return x == p }, cause) {
		c.addToHistory(p)
	}
}

// discardDraft drops an answer of which nothing was heard.
func (c *call) discardDraft(d *draft, cause error) {
	if d == nil {
		return
	}
	p := d.item
	p.answer, p.finished = false, true
	if p.entry != nil {
		c.history.Remove(p.entry)
	}
	c.dropWhere(func(x *speechItem) bool { return x == p }, cause)
}

// answerFailure tells the person of a job that it failed, with English texts that are translated; briefly if they have
// already heard the beginning of an answer.
func (c *call) answerFailure(j *job, aloud, text string) {
	if !j.draft.hasSpeech() {
		c.answerText(j.by, text)
		return
	}
	if aloud != text {
		c.write(Message{Text: c.Locale.Sentence(text)})
	}
	j.draft.reader.DropRest()
	c.appendToDraft(j.draft, "\n\n"+c.own().Sentence(aloud))
	c.finishDraft(j.draft, assistant.Answer{})
}

// appendSentences has further sentences of p said.
func (c *call) appendSentences(p *speechItem, sentences []string) {
	if p.textOnly || !p.finished {
		p.sentences = append(p.sentences, sentences...)
	}
	if p == c.speech.current && len(sentences) > 0 {
		p.ownSpeech.Append(strings.Join(sentences, " "))
	}
	c.schedule(p)
}

// schedule queues what is left of p to be spoken; if nothing is, it adds p to the history.
func (c *call) schedule(p *speechItem) {
	s := &c.speech
	switch {
	case p.finished || p == s.suspended || slices.Contains(s.queue, p):
	case p == s.current:
		p.feedSentences()
	case p.saidCount < len(p.sentences):
		c.say(p)
	case !p.writing && len(p.sentences) > 0:
		c.addToHistory(p)
	}
}

// recordHeardPart writes and records what was heard of an unfinished answer, which nobody can read as a whole.
func (c *call) recordHeardPart(p *speechItem) {
	if p.saidCount == 0 {
		return
	}
	text := strings.Join(p.sentences[:p.saidCount], " ")
	c.showOwnLine(text)
	c.recordOwnLine(text)
}

func (c *call) recordOwnLine(text string) { c.recordLine(TranscriptLine{Text: text, At: time.Now()}) }

// recordLine passes a line of the conversation to the recorder.
func (c *call) recordLine(l TranscriptLine) {
	if c.Recorder != nil {
		c.Recorder.Record(l)
	}
}
