package discordtest_test

import (
	"strings"
	"testing"

	"clank/internal/test/discordtest"

	"github.com/bwmarrin/discordgo"
)

func TestMissingPermissionsAreRefusedAsDiscordDoes(t *testing.T) {
	type send = discordgo.MessageSend
	for name, c := range map[string]struct {
		deny         discordtest.Permissions
		message      send
		status, code int
	}{
		"channel not visible": {discordtest.ViewChannel, send{Content: "x"}, 403, 50001},
		"may not write":       {discordtest.SendMessages, send{Content: "x"}, 403, 50013},
		"may not attach":      {discordtest.AttachFiles, send{Files: []*discordgo.File{{Name: "x", Reader: strings.NewReader("x")}}}, 403, 50013},
		"may not embed":       {discordtest.EmbedLinks, send{Embeds: []*discordgo.MessageEmbed{{Title: "x"}}}, 403, 50013},
		"no history to reply": {discordtest.ReadMessageHistory, send{Content: "x", Reference: &discordgo.MessageReference{MessageID: "1"}}, 400, 160002},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, discordtest.Config{})
			w.Overwrite(w.room, w.bot.User, discordtest.Role{}, 0, c.deny)
			_, err := w.session(t).ChannelMessageSendComplex(w.room.ID, &c.message)
			refusal(t, err, c.status, c.code)
		})
	}
}

func TestPermissionsAddUpInDiscordsOrder(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	sends := func(want bool, when string) {
		t.Helper()
		_, err := d.ChannelMessageSend(w.room.ID, "x")
		if (err == nil) != want {
			t.Errorf("%s: got %v, want it sent: %v", when, err, want)
		}
	}
	writer := w.CreateRole(w.guild, "writer", 0)
	w.RemoveMember(w.guild, w.bot.User)
	sends(false, "outside of the guild")
	w.AddMember(w.guild, w.bot.User, writer)
	sends(true, "everyone may write")
	w.SetPermissions(w.guild, discordtest.Role{}, discordtest.ViewChannel)
	sends(false, "everyone may only look")
	w.SetPermissions(w.guild, writer, discordtest.SendMessages)
	sends(true, "the role may write")
	w.Overwrite(w.room, discordtest.User{}, writer, 0, discordtest.SendMessages)
	sends(false, "the role may not write here")
	w.Overwrite(w.room, w.bot.User, discordtest.Role{}, discordtest.SendMessages, 0)
	sends(true, "the member may write here")
	w.DeleteChannel(w.room)
	sends(false, "the channel is gone")
}
