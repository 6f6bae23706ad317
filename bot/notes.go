package bot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/bot/discord"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// progressByWork is the work whose progress is shown now, by its id.
type progressByWork struct {
	mu    sync.Mutex
	by    map[string]*progress
	early map[string]earlySign // by message
}

// earlySign is a reaction to a message that came before Discord confirmed the message as ours.
type earlySign struct {
	at   time.Time
	stop func()
}

// maxEarly is by how much Discord's answer to what we show may come after what people do below it.
const maxEarly = 10 * time.Second

func (s *progressByWork) add(p *progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = make(map[string]*progress)
	}
	s.by[p.work] = p
}

func (s *progressByWork) remove(p *progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by[p.work] == p {
		delete(s.by, p.work)
	}
}

// refresh marks what is shown in a channel or a server to be shown again: its message is gone.
func (s *progressByWork) refresh(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.by {
		if p.channel == id || p.guild == id {
			p.markDirty()
		}
	}
}

// whenShown has stop called if a message turns out to show work.
func (s *progressByWork) whenShown(message string, stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.early == nil {
		s.early = make(map[string]earlySign)
	}
	maps.DeleteFunc(s.early, func(_ string, e earlySign) bool { return time.Since(e.at) > maxEarly })
	s.early[message] = earlySign{time.Now(), stop}
}

// setMessage notes which message shows the work of p.
func (s *progressByWork) setMessage(p *progress, message string) {
	p.mu.Lock()
	p.message = message
	p.mu.Unlock()
	s.mu.Lock()
	e := s.early[message]
	delete(s.early, message)
	s.mu.Unlock()
	if e.stop != nil && time.Since(e.at) <= maxEarly {
		e.stop()
	}
}

// shownBy returns the id of the work that a message shows; "" if there is none.
func (s *progressByWork) shownBy(message string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.by {
		p.mu.Lock()
		at := p.message
		p.mu.Unlock()
		if at == message && at != "" {
			return id
		}
	}
	return ""
}

// task returns the id of the running or waiting task of the work with this id; "" if there is none.
func (s *progressByWork) task(work string) string {
	s.mu.Lock()
	p := s.by[work]
	s.mu.Unlock()
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range slices.Backward(p.browses) {
		if r := one.record; r.ID != "" && !r.State.Final() {
			return r.ID
		}
	}
	return ""
}

// noteByReply passes a reply to the message of a running task on to that task,
// and reports whether m was one. It answers whether the task hears it.
func (b *Bot) noteByReply(base context.Context, m *discordgo.Message, who person) bool {
	text := b.withoutMention(m.Content)
	task := b.activeProgress.task(b.workShown(m.ReferencedMessage))
	if task == "" || text == "" && !b.Limited() {
		return false
	}
	b.runShort(base, func(ctx context.Context) {
		ctx, done := context.WithTimeout(ctx, shortTimeout)
		defer done()
		answer := discord.OutgoingMessage{Content: b.sendNote(ctx, m, who, task, text), ReplyTo: m.ID}
		if _, err := b.rest.Send(ctx, m.ChannelID, answer); err != nil {
			b.logger().Warn("answer to what was said to a task not sent", "channel", m.ChannelID, "error", err)
		}
	})
	return true
}

// sendNote passes a text to a task and replies with the result.
func (b *Bot) sendNote(ctx context.Context, m *discordgo.Message, who person, task, text string) string {
	from := b.completeOrigin(ctx, sessions.Origin{
		Kind: sessions.FromDiscord, Guild: m.GuildID, Channel: m.ChannelID, User: who.id, UserName: who.name,
		Private: m.GuildID == "" || b.isPrivate(m.GuildID), Roles: who.roles, Locale: who.locale,
	})
	if why := b.Host.Disabled(ctx, from); why != "" {
		return who.locale.Sentence(why)
	}
	if text == "" {
		return who.locale.T("Discord hides from me what a reply says that does not mention me. " +
			"Please turn the mention on beside your reply, or use the buttons.")
	}
	_, err := b.Tasks.SendNote(ctx, task, from, text)
	if errors.Is(err, sessions.ErrNotOwner) && m.GuildID != "" {
		bits, known := b.guilds.Permissions(m.GuildID, m.ChannelID, who.id, who.roles)
		if !known {
			bits = b.askPermissions(ctx, m, who)
		}
		_, err = b.Tasks.SendNote(ctx, task, b.asModerator(from, who, bits), text)
	}
	if err != nil {
		return sentence(who.locale, err.Error(), 500)
	}
	return who.locale.T("Passed on. It is heard before the next step.")
}

// workShown returns the id of the work that a message of the bot shows: its stop
// button names it.
func (b *Bot) workShown(m *discordgo.Message) string {
	if m == nil || m.Author == nil || m.Author.ID != b.identity().user {
		return ""
	}
	for _, row := range m.Components {
		var buttons []discordgo.MessageComponent
		switch r := row.(type) {
		case *discordgo.ActionsRow:
			buttons = r.Components
		case discordgo.ActionsRow:
			buttons = r.Components
		}
		for _, c := range buttons {
			if button, ok := c.(*discordgo.Button); ok {
				if work, ok := strings.CutPrefix(button.CustomID, stopPrefix); ok {
					return work
				}
			}
		}
	}
	return ""
}
