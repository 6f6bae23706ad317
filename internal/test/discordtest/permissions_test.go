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

func TestGuildChangesReachTheSession(t *testing.T) {
	w := newTown(t, discordtest.Config{})
	d := w.session(t)
	guilds, gone := events[*discordgo.GuildCreate](d), events[*discordgo.GuildDelete](d)
	channels, members := events[*discordgo.ChannelCreate](d), events[*discordgo.GuildMemberAdd](d)
	open(t, w, d)
	next(t, guilds)
	w.CreateChannel(w.guild, "later")
	if c := next(t, channels); c.Name != "later" || c.GuildID != w.guild.ID {
		t.Errorf("got channel %+v, want the new one", c.Channel)
	}
	w.AddMember(w.guild, w.CreateUser("eve"))
	if m := next(t, members); m.User.Username != "eve" {
		t.Errorf("got member %+v, want eve", m.Member)
	}
	second := w.CreateGuild("second", w.bob)
	w.AddMember(second, w.bot.User)
	if g := next(t, guilds); g.Name != "second" || g.OwnerID != w.bob.ID {
		t.Errorf("got guild %+v, want the second", g.Guild)
	}
	w.RemoveMember(second, w.bot.User)
	if g := next(t, gone); g.ID != second.ID {
		t.Errorf("got guild %s, want the second", g.ID)
	}
	list, err := d.UserGuilds(10, "", "", false)
	if err != nil || len(list) != 1 || list[0].ID != w.guild.ID {
		t.Errorf("got guilds %v, %v, want one", list, err)
	}
	_, err = d.Guild(second.ID)
	refusal(t, err, 403, 50001)
	_, err = d.Guild("1")
	refusal(t, err, 404, 10004)
	if g, err := d.Guild(w.guild.ID); err != nil || len(g.Roles) != 1 {
		t.Errorf("got guild %+v, %v, want one role", g, err)
	}
	if cs, err := d.GuildChannels(w.guild.ID); err != nil || len(cs) != 2 {
		t.Errorf("got channels %v, %v, want two", cs, err)
	}
	if m, err := d.GuildMember(w.guild.ID, w.ada.ID); err != nil || m.User.ID != w.ada.ID {
		t.Errorf("got member %+v, %v, want ada", m, err)
	}
	_, err = d.GuildMember(w.guild.ID, "1")
	refusal(t, err, 404, 10007)
}
