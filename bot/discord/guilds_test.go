package discord_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"clank/bot/discord"
	"clank/internal/test/check"

	"github.com/bwmarrin/discordgo"
)

const whole = `{"id": "g", "owner_id": "owner",
	"roles": [{"id": "g", "permissions": "1024"}, {"id": "mod", "permissions": "8192"}, {"id": "admin", "permissions": "8"}],
	"channels": [{"id": "c", "permission_overwrites": [
		{"id": "g", "type": 0, "allow": "0", "deny": "1024"}, {"id": "mod", "type": 0, "allow": "1024", "deny": "0"},
		{"id": "ada", "type": 1, "allow": "64", "deny": "8192"}]}],
	"threads": [{"id": "t", "type": 11, "parent_id": "c"}]}`

func filled(t *testing.T) *discord.GuildCache {
	t.Helper()
	c := new(discord.GuildCache)
	c.Update("GUILD_CREATE", json.RawMessage(whole))
	return c
}

func TestPermissionsAreCountedInTheOrderOfDiscord(t *testing.T) {
	c := filled(t)
	for name, tt := range map[string]struct {
		channel, user string
		roles         []string
		want          int64
		known         bool
	}{
		"everybody is kept out":        {"c", "eve", nil, 0, true},
		"a role lets in":               {"c", "eve", []string{"mod"}, 8192 | 1024, true},
		"the person comes last":        {"c", "ada", []string{"mod"}, 1024 | 64, true},
		"an administrator may all":     {"c", "eve", []string{"admin"}, discordgo.PermissionAll, true},
		"so may the owner":             {"c", "owner", nil, discordgo.PermissionAll, true},
		"a thread is as its channel":   {"t", "eve", []string{"mod"}, 8192 | 1024, true},
		"a channel that is not known":  {"x", "eve", []string{"mod"}, 0, false},
		"an administrator, everywhere": {"x", "eve", []string{"admin"}, discordgo.PermissionAll, true},
	} {
		if got, known := c.Permissions("g", tt.channel, tt.user, tt.roles); got != tt.want || known != tt.known {
			t.Errorf("%s: got %d, %v; want %d, %v", name, got, known, tt.want, tt.known)
		}
	}
	if _, known := c.Permissions("other", "c", "owner", nil); known {
		t.Error("a server that is not known is")
	}
}

func TestReadableAreChannelsWithTheirHistory(t *testing.T) {
	c := new(discord.GuildCache)
	c.Update("GUILD_CREATE", json.RawMessage(`{"id": "g", "owner_id": "owner",
		"roles": [{"id": "g", "permissions": "66560"}, {"id": "mod", "permissions": "17179869184"}, {"id": "admin", "permissions": "8"}],
		"channels": [{"id": "open"}, {"id": "hidden", "permission_overwrites": [{"id": "g", "type": 0, "deny": "1024", "allow": "0"}]},
			{"id": "new", "permission_overwrites": [{"id": "g", "type": 0, "deny": "65536", "allow": "0"}]}],
		"threads": [{"id": "talk", "type": 11, "parent_id": "open"}, {"id": "secret", "type": 12, "parent_id": "open"},
			{"id": "below", "type": 11, "parent_id": "hidden"}]}`))
	for who, want := range map[string]string{
		"eve": "open talk", "eve mod": "open secret talk", "eve admin": "below hidden new open secret talk",
		"owner": "below hidden new open secret talk",
	} {
		user, role, _ := strings.Cut(who, " ")
		list, _ := c.Readable("g", user, []string{role})
		var got []string
		for _, ch := range list {
			got = append(got, ch.ID)
		}
		slices.Sort(got)
		check.Equal(t, who+" reads", strings.Join(got, " "), want)
	}
	if list, bits := c.Readable("other", "owner", nil); list != nil || bits != 0 {
		t.Errorf("of a server that is not known: %v, %d", list, bits)
	}
}

func TestWhatChangesIsLearnt(t *testing.T) {
	c := filled(t)
	for _, d := range []struct{ kind, data string }{
		{"GUILD_ROLE_UPDATE", `{"guild_id": "g", "role": {"id": "mod", "permissions": "16"}}`},
		{"GUILD_ROLE_DELETE", `{"guild_id": "g", "role_id": "admin"}`},
		{"CHANNEL_UPDATE", `{"id": "c", "guild_id": "g"}`},
		{"THREAD_CREATE", `{"id": "t2", "guild_id": "g", "type": 11, "parent_id": "c"}`},
		{"THREAD_LIST_SYNC", `{"guild_id": "g", "channel_ids": ["c"], "threads": [{"id": "t3", "type": 11, "parent_id": "c"}, null], "members": []}`},
		{"THREAD_DELETE", `{"id": "t", "guild_id": "g"}`},
		{"CHANNEL_UPDATE", `not JSON`},
		{"GUILD_ROLE_CREATE", `[]`},
		{"GUILD_DELETE", `7`},
		{"TYPING_START", `{}`},
	} {
		c.Update(d.kind, json.RawMessage(d.data))
	}
	if got, known := c.Permissions("g", "c", "ada", []string{"mod", "admin"}); got != 1024|16 || !known {
		t.Errorf("got %d, %v", got, known)
	}
	for _, id := range []string{"t2", "t3"} {
		check.Equal(t, "the new thread "+id+" is of", c.Parent("g", id), "c")
	}
	check.Equal(t, "the thread that is gone is of", c.Parent("g", "t"), "")
	c.Update("GUILD_UPDATE", json.RawMessage(`{"id": "g", "owner_id": "eve"}`))
	if got := c.Parent("g", "t2"); got != "c" {
		t.Error("an update without channels forgot them")
	}
	c.Update("GUILD_DELETE", json.RawMessage(`{"id": "g"}`))
	if _, known := c.Permissions("g", "c", "eve", nil); known {
		t.Error("a server that was left is known")
	}
}
