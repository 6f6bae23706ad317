package bot

import (
	"context"
	"encoding/json"
	"time"

	"clank/bot/discord"
	"clank/internal/i18n"

	"github.com/bwmarrin/discordgo"
)

// MessageStore keeps what is needed to correct the messages of work whose end nobody has told, because the program was
// killed.
type MessageStore interface {
	// SaveOpenMessage keeps data for a piece of work, in place of what was kept for it.
	SaveOpenMessage(ctx context.Context, work string, data []byte) error
	// DeleteOpenMessage forgets it.
	DeleteOpenMessage(ctx context.Context, work string) error
	// OpenMessages returns all that is kept, by work.
	OpenMessages(ctx context.Context) (map[string][]byte, error)
}

// openMessage is a message that shows work under way, as it is kept.
type openMessage struct {
	Channel string    `json:"channel"`
	Message string    `json:"message,omitempty"` // in the channel
	App     string    `json:"app,omitempty"`     // with Token: the answer to a command
	Token   string    `json:"token,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // of Token
	User    string    `json:"user"`
	Private bool      `json:"private,omitempty"`
	// Locale is the language of its texts.
	Locale i18n.Locale `json:"locale,omitempty"`
}

// storeTimeout bounds one use of the store.
const storeTimeout = 5 * time.Second

// keepOpen remembers where the work is shown.
func (b *Bot) keepOpen(ctx context.Context, work string, p *workMessage) {
	if b.Messages == nil {
		return
	}
	kept := openMessage{Channel: p.channel, Message: p.message, User: p.user, Private: p.private, Locale: p.locale}
	if i := p.interaction; i != nil {
		kept.App, kept.Token, kept.Expires = i.AppID, i.Token, p.expires
	}
	data, err := json.Marshal(kept)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		defer cancel()
		err = b.Messages.SaveOpenMessage(ctx, work, data)
	}
	if err != nil {
		b.logger().Warn("where work is shown is not kept", "work", work, "error", err)
	}
}

// forgetOpen is called when the end of the work was shown.
func (b *Bot) forgetOpen(ctx context.Context, work string) {
	if b.Messages == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	if err := b.Messages.DeleteOpenMessage(ctx, work); err != nil {
		b.logger().Warn("where work was shown is not forgotten", "work", work, "error", err)
	}
}

// restartedText is what a message says whose work was cut off.
const restartedText = "clank was restarted while it worked on this, so there is no answer. Please ask again; " +
	"`/clank sessions` lists what you can go on with."

// correctOldMessages tells the people of work that a former run of the program has not ended.
func (b *Bot) correctOldMessages(ctx context.Context) {
	ctx, cancel := context.WithTimeout(discord.Persist(ctx), finishTimeout)
	defer cancel()
	old, err := b.Messages.OpenMessages(ctx)
	if err != nil {
		b.logger().Warn("messages of the last run are not corrected", "error", err)
	}
	for work, data := range old {
		var m openMessage
		if err := json.Unmarshal(data, &m); err != nil {
			b.logger().Warn("a message of the last run is not corrected", "work", work, "error", err)
		} else {
			where := &workMessage{
				rest: b.rest, log: b.logger(), channel: m.Channel, message: m.Message, user: m.User, private: m.Private, expires: m.Expires,
			}
			if m.Token != "" && time.Now().Before(m.Expires) {
				where.interaction = &discordgo.Interaction{AppID: m.App, Token: m.Token}
			}
			if err := where.show(ctx, messageContent{content: m.Locale.T(restartedText)}, true); err != nil {
				b.logger().Warn("a message of the last run is not corrected", "work", work, "error", err)
			}
			if ctx.Err() != nil { // tried again by the next run
				return
			}
		}
		b.forgetOpen(ctx, work)
	}
}
