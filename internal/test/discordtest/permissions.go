package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// ShapePermissions is a set of permission bits. In JSON it is a decimal string.
type ShapePermissions uint64

// Permission bits that the server looks at, with Discord's numbers.
const (
	ShapeAdministrator      ShapePermissions = 1 << 3
	ShapeManageChannels     ShapePermissions = 1 << 4
	ShapeAddReactions       ShapePermissions = 1 << 6
	ShapeGoLive             ShapePermissions = 1 << 9
	ShapeViewChannel        ShapePermissions = 1 << 10
	ShapeSendMessages       ShapePermissions = 1 << 11
	ShapeManageMessages     ShapePermissions = 1 << 13
	ShapeEmbedLinks         ShapePermissions = 1 << 14
	ShapeAttachFiles        ShapePermissions = 1 << 15
	ShapeReadMessageHistory ShapePermissions = 1 << 16
	ShapeMentionEveryone    ShapePermissions = 1 << 17
	ShapeConnect            ShapePermissions = 1 << 20
	ShapeSpeak              ShapePermissions = 1 << 21
	ShapeMoveMembers        ShapePermissions = 1 << 24
	ShapeUseCommands        ShapePermissions = 1 << 31
	ShapeCreateThreads      ShapePermissions = 1 << 35
	ShapeSendInThreads      ShapePermissions = 1 << 38

	// ShapeEveryday is what everyone has in a new guild.
	ShapeEveryday = ShapeAddReactions | ShapeViewChannel | ShapeSendMessages | ShapeEmbedLinks | ShapeAttachFiles | ShapeReadMessageHistory |
		ShapeMentionEveryone | ShapeConnect | ShapeSpeak | ShapeGoLive | ShapeUseCommands | ShapeCreateThreads | ShapeSendInThreads

	// allPermissions is what owners and administrators have.
	allPermissions ShapePermissions = 1<<53 - 1
)

// MarshalJSON writes the bits as a decimal string.
func (p ShapePermissions) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatUint(uint64(p), 10) + `"`), nil
}

// UnmarshalJSON reads a decimal string or a number.
func (p *ShapePermissions) UnmarshalJSON(b []byte) error {
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
	*p = ShapePermissions(bits)
	return nil
}

// Permissions of a user in a channel, by Discord's order: everyone's role, the
// member's roles, then the channel's overwrites for everyone, for the roles and
// for the member. A stranger has none.
func (w *World) Permissions(ch *ShapeChannel, user string) ShapePermissions {
	if ch.GuildID == "" {
		if ch.BotID == user || (len(ch.Recipients) > 0 && ch.Recipients[0].ID == user) {
			return ShapeEveryday
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
	if has&ShapeAdministrator != 0 {
		return allPermissions
	}
	overwrites := ch.Overwrites
	if parent := ch.ParentID; ch.Type == ShapePublicThread && parent != nil && w.Channels[*parent] != nil {
		overwrites = w.Channels[*parent].Overwrites
	}
	has = overwritten(has, overwrites, g.ID, m)
	if has&ShapeViewChannel == 0 {
		return 0
	}
	return has
}

// Base is what the member's roles give in the whole guild.
func (g *GuildState) Base(m *ShapeMember) ShapePermissions {
	var has ShapePermissions
	for _, r := range g.Roles {
		if r.ID == g.ID || hasRole(m, r.ID) {
			has |= r.Permissions
		}
	}
	return has
}

func overwritten(has ShapePermissions, list []ShapeOverwrite, everyone string, m *ShapeMember) ShapePermissions {
	var allow, deny ShapePermissions
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

func hasRole(m *ShapeMember, role string) bool {
	return slices.Contains(m.Roles, role)
}
