package discordtest_test

import (
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

func TestBotLooksUpWhatItNeedsAtStart(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	if me, err := d.User("@me"); err != nil || me.ID != w.bot.ID || !me.Bot {
		t.Errorf("got %+v, %v, want the bot", me, err)
	}
	if u, err := d.User(w.ada.ID); err != nil || u.Username != "ada" {
		t.Errorf("got %+v, %v, want ada", u, err)
	}
	_, err := d.User("1")
	refusal(t, err, 404, 10013)
	if app, err := d.Application("@me"); err != nil || app.ID != w.bot.ID {
		t.Errorf("got %+v, %v, want the application", app, err)
	}
	if ch, err := d.Channel(w.room.ID); err != nil || ch.Name != "general" || ch.GuildID != w.guild.ID {
		t.Errorf("got %+v, %v, want the room", ch, err)
	}
	_, err = d.Channel("1")
	refusal(t, err, 404, 10003)
	role := w.CreateRole(w.guild, "crew", discordtest.ManageMessages)
	roles, err := d.GuildRoles(w.guild.ID)
	if err != nil || len(roles) != 2 || roles[1].ID != role.ID || roles[1].Permissions != discordgo.PermissionManageMessages {
		t.Errorf("got roles %+v, %v, want everyone's and the crew's", roles, err)
	}
}

func TestCommandsAreOfferedWhereTheyMayBeUsed(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	open(t, w, d)
	perms, inDM := int64(discordgo.PermissionManageMessages), false
	guildOnly := []discordgo.InteractionContextType{discordgo.InteractionContextGuild}
	if _, err := d.ApplicationCommandBulkOverwrite(w.bot.ID, "", []*command{
		{Name: "both", Description: "d", DefaultMemberPermissions: &perms},
		{Name: "old", Description: "d", DMPermission: &inDM},
		{Name: "new", Description: "d", Contexts: &guildOnly},
	}); err != nil {
		t.Fatal(err)
	}
	if got := w.Commands(w.bot)[0].MemberPermissions; got == nil || *got != discordtest.ManageMessages {
		t.Errorf("got permissions %v, want those of the command", got)
	}
	dm := w.OpenDM(w.ada, w.bot)
	for name, inDM := range map[string]bool{"both": true, "old": false, "new": false} {
		if _, err := w.SlashCommand(w.room, w.ada, name, nil); err != nil {
			t.Errorf("/%s in the room: %v", name, err)
		}
		if _, err := w.SlashCommand(dm, w.ada, name, nil); (err == nil) != inDM {
			t.Errorf("/%s in private: got %v, want it offered: %v", name, err, inDM)
		}
	}
}

func TestEditKeepsTheListedFiles(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	m, err := d.ChannelMessageSendComplex(w.room.ID, &discordgo.MessageSend{Files: []*discordgo.File{
		{Name: "a", Reader: strings.NewReader("a")}, {Name: "b", Reader: strings.NewReader("b")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	keep := m.Attachments[1:]
	edited, err := d.ChannelMessageEditComplex(&discordgo.MessageEdit{ID: m.ID, Channel: w.room.ID, Attachments: &keep})
	if err != nil || len(edited.Attachments) != 1 || edited.Attachments[0].ID != m.Attachments[1].ID {
		t.Errorf("got %+v, %v, want only b", edited, err)
	}
}

func TestOwnAndModeratedMessagesAreDeleted(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	own, err := d.ChannelMessageSend(w.room.ID, "own")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ChannelMessageDelete(w.room.ID, own.ID); err != nil {
		t.Error(err)
	}
	refusal(t, d.ChannelMessageDelete(w.room.ID, own.ID), 404, 10008)
	w.Overwrite(w.room, w.bot.User, discordtest.Role{}, discordtest.ManageMessages, 0)
	foreign, err := w.SendMessage(w.room, w.ada, "foreign")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ChannelMessageDelete(w.room.ID, foreign.ID); err != nil {
		t.Error(err)
	}
	_, err = d.ChannelMessageEdit(w.room.ID, foreign.ID, "x")
	refusal(t, err, 404, 10008)
}

func TestRequestIsSeenWhileItIsMade(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	before := w.Now()
	w.Advance(time.Hour)
	go func() { _ = d.ChannelTyping(w.room.ID) }()
	r, err := w.WaitRequest(deadline(t), discordtest.RouteTyping, 0)
	if err != nil || r.At.Sub(before) < time.Hour || !strings.HasSuffix(r.Path, w.room.ID+"/typing") {
		t.Errorf("got %+v, %v, want the request, an hour later", r, err)
	}
}

func TestReplyFromAPersonMentionsTheBot(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	d.Identify.Intents = discordgo.IntentsAllWithoutPrivileged
	heard := events[*discordgo.MessageCreate](d)
	open(t, w, d)
	m, err := d.ChannelMessageSend(w.room.ID, "found it")
	if err != nil {
		t.Fatal(err)
	}
	next(t, heard)
	sent, _ := w.Message(m.ID)
	if _, err := w.Send(w.room, w.ada, discordtest.Post{Text: "now click it", Reply: &sent}); err != nil {
		t.Fatal(err)
	}
	if got := next(t, heard); got.Content != "now click it" || got.ReferencedMessage.ID != m.ID {
		t.Errorf("got %+v, want a reply that the bot may read", got.Message)
	}
	if _, err := w.WaitMessage(deadline(t), w.room, func(m discordtest.Message) bool { return m.Type == discordtest.ReplyMessage }); err != nil {
		t.Error(err)
	}
}
