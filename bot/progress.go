package bot

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"clank/bot/discord"
	"clank/cancel"
	"clank/internal/i18n"
	"clank/llm"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// progress updates a message while work continues. Only the latest state is shown: updates that come faster than edits
// are allowed replace each other.
type progress struct {
	shown        *progressByWork
	place        *workMessage
	guild        string // where it was requested
	channel      string
	work         string // id of the work that the button stops
	locale       i18n.Locale
	live         bool // pages can be shown live
	interval     time.Duration
	log          *slog.Logger
	began        time.Time
	onShown      func() // called when the message is somewhere else than before
	onCannotShow func() // called once when nothing can be shown any more

	mu      sync.Mutex
	browses []browseState // by call
	picture *llm.Image
	message string // id of the one that shows it

	dirty chan struct{} // holds at most one
	quit  context.CancelFunc
	done  chan struct{}
}

// browseState is the state of one browse.
type browseState struct {
	prompt string
	record sessions.TaskRecord
	step   sessions.Step // the last that is worth showing
	act    int           // its number among the acts, from 1, if it is one
	page   sessions.Step // the last that said where the page is
}

// start begins to watch. The caller must call stop.
func (p *progress) start(ctx context.Context) {
	ctx, p.quit = context.WithCancel(context.WithoutCancel(ctx))
	p.began = time.Now()
	p.dirty, p.done = make(chan struct{}, 1), make(chan struct{})
	p.shown.add(p)
	go func() {
		defer close(p.done)
		p.run(ctx)
	}()
}

// stop ends the watch; more than once does no harm. An edit that is on the wire is waited for, so that what
// is shown next is not overtaken.
func (p *progress) stop() {
	p.shown.remove(p)
	p.quit()
	<-p.done
}

// handleEvent handles an event of browse number call. It does not block.
func (p *progress) handleEvent(call int, prompt string, e sessions.Event) {
	p.mu.Lock()
	for len(p.browses) < call {
		p.browses = append(p.browses, browseState{})
	}
	b := &p.browses[call-1]
	b.prompt, b.record = cmp.Or(e.Record.Prompt, prompt), e.Record // the record has no passwords
	if s := e.Step; s != nil {
		b.applyStep(*s)
		if s.View != nil {
			p.picture = s.View
		}
	}
	p.mu.Unlock()
	p.markDirty()
}

// markDirty requests an update of the message.
func (p *progress) markDirty() {
	select {
	case p.dirty <- struct{}{}:
	default:
	}
}

// applyStep records what is worth showing of a step; b.record belongs to the same moment.
func (b *browseState) applyStep(s sessions.Step) {
	if s.Kind == sessions.StepAct || s.Kind == sessions.StepNotice || b.step.Kind == "" || s.Text != "" {
		b.step, b.act = s, b.record.Steps
		if s.Phase == sessions.PhaseBegun {
			b.act++ // Steps counts finished ones
		}
	}
	if s.URL != "" || s.Title != "" {
		b.page = s
	}
}

func (p *progress) run(ctx context.Context) {
	message, interaction := "", (*discordgo.Interaction)(nil)
	for {
		var expiry <-chan time.Time
		if p.place.interaction != nil {
			expiry = time.After(time.Until(p.place.expires))
		}
		select {
		case <-ctx.Done():
			return
		case <-p.dirty:
		case <-expiry:
		}
		err := p.place.show(ctx, p.view(), false)
		p.shown.setMessage(p, cmp.Or(p.place.message, p.place.answer))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errCannotShow):
			p.log.Warn("work is stopped because its progress cannot be shown", "error", err)
			p.onCannotShow()
			return
		case err != nil:
			p.log.Warn("progress not shown", "error", err)
		case p.place.message != message || p.place.interaction != interaction:
			message, interaction = p.place.message, p.place.interaction
			p.onShown()
		}
		if cancel.Sleep(ctx, p.interval) != nil {
			return
		}
	}
}

// page returns the last picture of a page that was seen; nil if there was none.
func (p *progress) page() *llm.Image {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.picture
}

// lastRecord returns what became of the last browse; the zero value if there was none.
func (p *progress) lastRecord() sessions.TaskRecord {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.browses) == 0 {
		return sessions.TaskRecord{}
	}
	return p.browses[len(p.browses)-1].record
}

// prompt returns what the first browse was asked, without passwords; empty if there was none.
func (p *progress) prompt() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.browses) == 0 {
		return ""
	}
	return p.browses[0].prompt
}

// view returns the current content of the message.
func (p *progress) view() messageContent {
	p.mu.Lock()
	defer p.mu.Unlock()
	texts := make([]string, 0, len(p.browses))
	session := ""
	for _, b := range p.browses {
		if p.live && b.act > 0 { // there is a page to show
			session = b.record.SessionID
		}
		if b.prompt != "" {
			texts = append(texts, b.text(p.locale, len(p.browses)))
		}
	}
	content := cmp.Or(strings.Join(texts, "\n\n"), p.locale.T("Working on it."))
	return messageContent{content: content, picture: p.picture, rows: workButtons(p.locale, p.work, session)}
}

// text describes one browse in a few lines, which fit into a message with those of the others; of is their number.
func (b browseState) text(loc i18n.Locale, of int) string {
	lines := []string{"**" + discord.EscapeLine(b.prompt, 150/of) + "**"}
	switch state := b.record.State; {
	case state == sessions.TaskQueued && b.record.Position > 0 && b.record.Shortage == sessions.ShortMemory:
		lines = append(lines, loc.T("Waiting until there is more memory, number %d in line.", b.record.Position))
	case state == sessions.TaskQueued && b.record.Position > 0:
		lines = append(lines, loc.T("Waiting for a free browser, number %d in line.", b.record.Position))
	case state == sessions.TaskQueued: // its turn has come
		lines = append(lines, loc.T("Starting."))
	case state == sessions.TaskDone:
		lines = append(lines, loc.T("Done; writing the answer."))
	case state.Final() && state != "":
		lines = append(lines, sentence(loc, cmp.Or(b.record.Reason, string(state)), 200/of))
	default:
		lines = append(lines, b.stepLine(loc, 200/of))
	}
	if at := strings.TrimSpace(discord.EscapeLine(b.page.Title, 80/of) + " · " +
		discord.EscapeLine(b.page.URL, 120/of)); at != "·" {
		lines = append(lines, "-# "+strings.Trim(at, " ·"))
	}
	return strings.Join(lines, "\n")
}

// stepLine describes the current step. Only actions have numbers: people do not count what the model thinks.
func (b browseState) stepLine(loc i18n.Locale, limit int) string {
	switch s := b.step; {
	case s.Kind == "":
		return loc.T("Starting.")
	case s.Kind == sessions.StepThink && s.Text == "":
		return loc.T("Thinking.")
	case s.Kind == sessions.StepAnswer:
		return loc.T("Writing the answer.")
	case s.Kind != sessions.StepAct:
		return sentence(loc, cmp.Or(s.Text, s.Label), limit)
	case s.Failed:
		return loc.T("Step %d: %s (did not work)", b.act, discord.EscapeLine(s.Label, limit))
	default:
		return loc.T("Step %d: %s", b.act, discord.EscapeLine(s.Label, limit))
	}
}

// stopPrefix begins the custom id of a stop button; the id of the work follows.
const stopPrefix = "clank:stop:"

// livePrefix begins the custom id of a button that gives a link to a session; the session's id follows.
const livePrefix = "clank:live:"

// workButtons returns buttons to stop the work, and to show the session of its last browse live, if there is one.
func workButtons(loc i18n.Locale, work, session string) []discordgo.MessageComponent {
	row := []discordgo.MessageComponent{
		discordgo.Button{Label: loc.T("Stop"), Style: discordgo.DangerButton, CustomID: stopPrefix + work},
	}
	if session != "" {
		live := discordgo.Button{Label: loc.T("Live"), Style: discordgo.SecondaryButton, CustomID: livePrefix + session}
		row = append(row, live)
	}
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: row}}
}
