package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"clank/bot/discord"
	"clank/internal/atomicfile"

	"github.com/bwmarrin/discordgo"
)

// maxLeave is for how long the sessions of a former run are worth asking for. Discord forgets them after some minutes.
const maxLeave = 10 * time.Minute

// leftSessions are the gateway sessions that a process saves, so that the next one gets the events in between.
type leftSessions struct {
	Left     time.Time              `json:"left"`
	User     string                 `json:"user"` // the bot itself
	Name     string                 `json:"name"`
	App      string                 `json:"app"`
	Sessions []discord.SavedSession `json:"sessions"`
}

// loadSavedSessions returns the sessions that the previous process saved, once, and the bot's identity.
func (b *Bot) loadSavedSessions() []discord.SavedSession {
	if b.SessionFile == "" {
		return nil
	}
	var l leftSessions
	data, err := os.ReadFile(b.SessionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(data, &l), os.Remove(b.SessionFile))
	}
	if err != nil {
		b.logger().Warn("what was said on discord while clank was off is not known", "error", err)
		return nil
	}
	if time.Since(l.Left) > maxLeave {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.botIdentity = identity{user: l.User, name: l.Name, app: l.App}
	return l.Sessions
}

// keepLeft keeps the sessions that are left for the next run.
func (b *Bot) keepLeft() error {
	left := b.gateway.Left()
	if b.SessionFile == "" || len(left) == 0 {
		return nil
	}
	me := b.identity()
	data, err := json.Marshal(leftSessions{Left: time.Now(), User: me.user, Name: me.name, App: me.app, Sessions: left})
	if err == nil {
		err = atomicfile.Write(b.SessionFile, data)
	}
	return err
}

// dispatchMissed handles an event from before this process. Requests are carried out late; people are asked to repeat
// what they can easily repeat. Stops wait until the work of the previous process has been resumed.
func (b *Bot) dispatchMissed(base context.Context, kind string, data json.RawMessage) {
	var i *discordgo.Interaction
	stops := kind != "MESSAGE_CREATE" // reactions and edits do nothing else
	switch kind {
	case "INTERACTION_CREATE":
		var err error
		if i, err = readInteraction(data); err != nil || i == nil {
			b.logger().Warn("interaction cannot be read", "error", err)
			return
		}
		stops = isStopInteraction(i)
	case "MESSAGE_CREATE":
		m, _ := readMessage(data)
		stops = m != nil && b.Host.IsStop(m.Content)
	}
	switch {
	case stops:
		b.runShort(base, func(ctx context.Context) {
			select {
			case <-b.workResumed:
				b.takeEvent(base, kind, data)
			case <-ctx.Done():
			}
		})
	case i != nil && b.isLate(i) && !isBrowse(i):
		b.askToRepeat(base, i)
	default:
		b.takeEvent(base, kind, data)
	}
}

// isLate reports whether Discord no longer accepts a response to i, or would not in time: it waits three seconds.
func (b *Bot) isLate(i *discordgo.Interaction) bool {
	at, err := discordgo.SnowflakeTimestamp(i.ID)
	return err == nil && time.Since(at) > cmp.Or(b.AnswerTime, 2*time.Second)
}

// isStopInteraction reports whether i asks for a stop.
func isStopInteraction(i *discordgo.Interaction) bool {
	switch data := i.Data.(type) {
	case discordgo.ApplicationCommandInteractionData:
		return isSubcommand(data, "stop")
	case discordgo.MessageComponentInteractionData:
		return strings.HasPrefix(data.CustomID, stopPrefix)
	}
	return false
}

// isBrowse reports whether i requests work, whose message then shows its progress.
func isBrowse(i *discordgo.Interaction) bool {
	data, ok := i.Data.(discordgo.ApplicationCommandInteractionData)
	return ok && i.Type == discordgo.InteractionApplicationCommand && isSubcommand(data, "browse")
}

func isSubcommand(data discordgo.ApplicationCommandInteractionData, name string) bool {
	return data.Name == commandName && len(data.Options) > 0 && data.Options[0].Name == name
}

// missedText asks a person to repeat what came while the program was not running.
const missedText = "<@%s>: clank was being restarted when you used a command, button or form here, so nothing " +
	"came of it. Please do it again."

// askToRepeat asks a person to repeat an interaction that came while the program was not running.
func (b *Bot) askToRepeat(base context.Context, i *discordgo.Interaction) {
	who, ok := personOf(i)
	if !ok || i.Type == discordgo.InteractionApplicationCommandAutocomplete || b.handled.Add(i.ID) {
		return
	}
	b.runShort(base, func(ctx context.Context) {
		private := who.away || b.isPrivate(i.GuildID)
		b.answerLate(ctx, i, who, private, b.localeOf(i, who, private).T(missedText, who.id))
	})
}

// answerLate posts a text in the channel of an interaction, or directly, because Discord no longer accepts a response.
func (b *Bot) answerLate(ctx context.Context, i *discordgo.Interaction, who person, private bool, text string) {
	where := b.commandMessage(i, who, private)
	where.interaction = nil
	b.conclude(ctx, where, finalMessage{text: text})
}
