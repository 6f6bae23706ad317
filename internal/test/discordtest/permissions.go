package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Permissions is a set of permission bits. In JSON it is a decimal string.
type Permissions uint64

// Permission bits that the server looks at, with Discord's numbers.
const (
	Administrator      Permissions = 1 << 3
	GoLive             Permissions = 1 << 9
	ViewChannel        Permissions = 1 << 10
	SendMessages       Permissions = 1 << 11
	ManageMessages     Permissions = 1 << 13
	EmbedLinks         Permissions = 1 << 14
	AttachFiles        Permissions = 1 << 15
	ReadMessageHistory Permissions = 1 << 16
	MentionEveryone    Permissions = 1 << 17
	Connect            Permissions = 1 << 20
	Speak              Permissions = 1 << 21
	MoveMembers        Permissions = 1 << 24
	UseCommands        Permissions = 1 << 31
	CreateThreads      Permissions = 1 << 35
	SendInThreads      Permissions = 1 << 38

	// Everyday is what everyone has in a new guild.
	Everyday = ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory |
		MentionEveryone | Connect | Speak | GoLive | UseCommands | CreateThreads | SendInThreads

	// allPermissions is what owners and administrators have.
	allPermissions Permissions = 1<<53 - 1
)

// MarshalJSON writes the bits as a decimal string.
func (p Permissions) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatUint(uint64(p), 10) + `"`), nil
}

// UnmarshalJSON reads a decimal string or a number.
func (p *Permissions) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return fmt.Errorf("read permissions: %w", err)
		}
	}
	bits, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("read permissions: %w", err)
	}
	*p = Permissions(bits)
	return nil
}

// Permissions of a user in a channel, by Discord's order: everyone's role, the
// member's roles, then the channel's overwrites for everyone, for the roles and
// for the member. A stranger has none.
func (w *World) Permissions(ch *Channel, user string) Permissions {
	if ch.GuildID == "" {
		if ch.BotID == user || (len(ch.Recipients) > 0 && ch.Recipients[0].ID == user) {
			return Everyday
		}
		return 0
	}
	g := w.Guilds[ch.GuildID]
	if g == nil {
		return 0
	}
	m := g.Member(user)
	if m == nil {
		return 0
	}
	if g.OwnerID == user {
		return allPermissions
	}
	has := g.Base(m)
	if has&Administrator != 0 {
		return allPermissions
	}
	overwrites := ch.Overwrites
	if parent := ch.ParentID; ch.Type == PublicThread && parent != nil && w.Channels[*parent] != nil {
		overwrites = w.Channels[*parent].Overwrites
	}
	has = overwritten(has, overwrites, g.ID, m)
	if has&ViewChannel == 0 {
		return 0
	}
	return has
}

// Base returns the permissions that the member's roles give in the whole guild.
func (g *GuildState) Base(m *Member) Permissions {
	var has Permissions
	for _, r := range g.Roles {
		if r.ID == g.ID || hasRole(m, r.ID) {
			has |= r.Permissions
		}
	}
	return has
}

func overwritten(has Permissions, list []Overwrite, everyone string, m *Member) Permissions {
	var allow, deny Permissions
	for _, o := range list {
		switch {
		case o.Type == 0 && o.ID == everyone:
			has = has&^o.Deny | o.Allow
		case o.Type == 0 && hasRole(m, o.ID):
			allow, deny = allow|o.Allow, deny|o.Deny
		}
	}
	has = has&^deny | allow
	for _, o := range list {
		if o.Type == 1 && o.ID == m.User.ID {
			has = has&^o.Deny | o.Allow
		}
	}
	return has
}

func hasRole(m *Member, role string) bool {
	return slices.Contains(m.Roles, role)
}
