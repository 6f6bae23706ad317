package discordtest_test

import (
	"strings"
	"testing"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

func TestSessionConnectsAndTalks(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	heard, guilds := events[*discordgo.MessageCreate](d), events[*discordgo.GuildCreate](d)
	open(t, w, d)
	if got, want := next(t, guilds).Name, "home"; got != want {
		t.Errorf("got guild %q, want %q", got, want)
	}
	if _, err := w.SendMessage(w.room, w.ada, "hello "+w.bot.Mention()); err != nil {
		t.Fatal(err)
	}
	m := next(t, heard)
	if got, want := m.Content, "hello "+w.bot.Mention(); got != want {
		t.Errorf("got content %q, want %q", got, want)
	}
	if len(m.Mentions) != 1 || m.Mentions[0].ID != w.bot.ID || m.Member == nil || m.GuildID != w.guild.ID {
		t.Errorf("got message %+v, want a mention of the bot, a member and the guild", m.Message)
	}
	reply, err := d.ChannelMessageSendReply(w.room.ID, "hi", m.Reference())
	if err != nil {
		t.Fatal(err)
	}
	got := w.Messages(w.room)
	if len(got) != 2 || got[1].ID != reply.ID || got[1].Referenced.ID != m.ID || got[1].Mentions[0].ID != w.ada.ID {
		t.Errorf("got messages %+v, want a reply to ada", got)
	}
}

func TestSlashCommandIsDeferredThenEditedWithAFile(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	asked := events[*discordgo.InteractionCreate](d)
	open(t, w, d)
	registerClank(t, d)

	it, err := w.SlashCommand(w.room, w.ada, "clank browse", discordtest.Args{"task": "find tea"})
	if err != nil {
		t.Fatal(err)
	}
	i := next(t, asked)
	option := i.ApplicationCommandData().Options[0]
	if option.Name != "browse" || option.Options[0].StringValue() != "find tea" || i.Member.User.ID != w.ada.ID {
		t.Fatalf("got interaction %+v, want ada's browse", i.Interaction)
	}
	if err := d.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource}); err != nil {
		t.Fatal(err)
	}
	if now, _ := w.Interaction(it.ID); !now.Thinking || now.Original.Flags&discordtest.FlagLoading == 0 {
		t.Errorf("got %+v, want the bot to be thinking", now)
	}
	text := "found it"
	if _, err := d.InteractionResponseEdit(i.Interaction, &discordgo.WebhookEdit{
		Content: &text,
		Files:   []*discordgo.File{{Name: "page.png", ContentType: "image/png", Reader: strings.NewReader("pixels")}},
	}); err != nil {
		t.Fatal(err)
	}
	done, err := w.WaitAnswer(deadline(t), it)
	if err != nil {
		t.Fatal(err)
	}
	if done.Text() != text || len(done.Original.Attachments) != 1 || string(done.Original.Attachments[0].Data) != "pixels" {
		t.Errorf("got answer %+v, want the text and the picture", done.Original)
	}
	if got, want := len(w.History(done.Original.ID)), 2; got != want {
		t.Errorf("got %d versions, want %d", got, want)
	}
}

// registerClank registers /clank browse for everyone.
func registerClank(t *testing.T, d *discordgo.Session) {
	t.Helper()
	_, err := d.ApplicationCommandBulkOverwrite(d.State.User.ID, "", []*discordgo.ApplicationCommand{{
		Name: "clank", Description: "the browser", Options: []*discordgo.ApplicationCommandOption{{
			Type: discordgo.ApplicationCommandOptionSubCommand, Name: "browse", Description: "browse for me",
			Options: []*discordgo.ApplicationCommandOption{
				{Type: discordgo.ApplicationCommandOptionString, Name: "task", Description: "what to do", Required: true},
				{Type: discordgo.ApplicationCommandOptionInteger, Name: "steps", Description: "how many"},
			},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}
