package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"clank/bot/markup"
	"clank/bot/rest"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// shown is the work whose progress is shown now, by its id.
type shown struct {
	mu sync.Mutex
	by map[string]*progress
}

func (s *shown) add(p *progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = make(map[string]*progress)
	}
	s.by[p.work] = p
}

func (s *shown) remove(p *progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, p.work)
}

// task is the id of the task that runs or waits in the work with this id; ""
// if there is none.
func (s *shown) task(work string) string {
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

// steerByReply passes a reply to the message of a running task on to that task,
// and reports whether m was one. It answers whether the task hears it.
func (b *Bot) steerByReply(base context.Context, m *discordgo.Message, who person) bool {
	text := b.withoutMention(m.Content)
	task := b.shown.task(b.workShown(m.ReferencedMessage))
	if task == "" || text == "" {
		return false
	}
	b.errand(base, func(ctx context.Context) {
		ctx, done := context.WithTimeout(ctx, errandTimeout)
		defer done()
		answer := rest.Message{Content: b.steer(ctx, m, who, task, text), ReplyTo: m.ID}
		if _, err := b.rest.Send(ctx, m.ChannelID, answer); err != nil {
			b.logger().Warn("answer to what was said to a task not sent", "channel", m.ChannelID, "error", err)
		}
	})
	return true
}

// steer passes text on to a task and says how that went.
func (b *Bot) steer(ctx context.Context, m *discordgo.Message, who person, task, text string) string {
	from := b.placed(sessions.Origin{
		Kind: sessions.FromDiscord, Guild: m.GuildID, Channel: m.ChannelID, User: who.id, UserName: who.name,
		Private: m.GuildID == "", Roles: who.roles,
	})
	if why := b.disabled(ctx, from); why != "" {
		return markup.Sentence(why)
	}
	_, err := b.Tasks.Say(ctx, task, from, text)
	if errors.Is(err, sessions.ErrNotOwner) && m.GuildID != "" {
		bits, known := b.guilds.Permissions(m.GuildID, m.ChannelID, who.id, who.roles)
		if !known {
			bits = b.askPermissions(ctx, m, who)
		}
		if from.Moderator = bits&moderator != 0; from.Moderator {
			_, err = b.Tasks.Say(ctx, task, from, text)
		}
	}
	if err != nil {
		return markup.Plain(markup.Sentence(err.Error()), 500)
	}
	return "Passed on. It is heard before the next step."
}

// workShown is the id of the work that a message of the bot shows: its stop
// button names it.
func (b *Bot) workShown(m *discordgo.Message) string {
	if m == nil || m.Author == nil || m.Author.ID != b.me().user {
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
