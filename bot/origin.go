package bot

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"clank/bot/discord"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// completeOrigin adds to o what an event does not contain: the parent channel of a thread, and for a direct message
// which of the served servers and channels its author can see.
func (b *Bot) completeOrigin(ctx context.Context, o sessions.Origin) sessions.Origin {
	if o.Guild != "" {
		o.Parent = b.guilds.Parent(o.Guild, o.Channel)
		return o
	}
	o.Sees = b.visiblePlaces(ctx, o.User)
	return o
}

// asModerator adds to o where who, who has the permissions bits in the channel of o, may manage messages.
func (b *Bot) asModerator(o sessions.Origin, who person, bits int64) sessions.Origin {
	if o.Guild == "" {
		return o
	}
	o.Moderator = who.actor(bits).Moderator
	o.ModeratesChannel = func(channel string) bool {
		bits, _ := b.guilds.Permissions(o.Guild, channel, who.id, who.roles) // none where the channel is not known
		return who.actor(bits).Moderator
	}
	return o
}

// ErrNotInChannel means that a person cannot see a channel.
var ErrNotInChannel = errors.New("you do not see that channel")

// ViewerOrigin returns the current origin of the person of o in its channel, with their rights as a moderator, as if
// they had made a request there. The error is [ErrLeftGuild], [ErrNotInChannel], or why Discord could not be asked.
func (b *Bot) ViewerOrigin(ctx context.Context, o sessions.Origin) (sessions.Origin, error) {
	o, err := b.RefreshOrigin(ctx, o)
	if err != nil || o.Guild == "" {
		return o, err
	}
	who := person{id: o.User, name: o.UserName, roles: o.Roles}
	bits, _ := b.guilds.Permissions(o.Guild, o.Channel, who.id, who.roles) // none where the channel is not known
	if bits&discordgo.PermissionViewChannel == 0 {
		return o, ErrNotInChannel
	}
	return b.asModerator(o, who, bits), nil
}

// ActivityInstance returns an Activity of this bot's application that is open.
func (b *Bot) ActivityInstance(ctx context.Context, id string) (discord.ActivityInstance, error) {
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	return b.rest.ActivityInstance(ctx, b.AppID(), id)
}

// AppID returns the id of the bot's application; empty before Open.
func (b *Bot) AppID() string { return b.identity().app }

// visiblePlaces returns the ids of the served servers that user is a member of, and of the served channels that user
// sees there. Where Discord does not say, user is no member.
func (b *Bot) visiblePlaces(ctx context.Context, user string) []string {
	guilds, channels := b.Host.Served()
	byGuild := map[string][]string{}
	for _, g := range guilds {
		byGuild[g] = nil
	}
	for _, ch := range channels {
		if g := b.guilds.GuildOf(ch); g != "" && (len(guilds) == 0 || slices.Contains(guilds, g)) {
			byGuild[g] = append(byGuild[g], ch)
		}
	}
	var sees []string
	for g, listed := range byGuild {
		roles, member := b.memberRoles(ctx, g, user, newcomerLife)
		if !member {
			continue
		}
		sees = append(sees, g)
		for _, ch := range listed {
			if bits, known := b.guilds.Permissions(g, ch, user, roles); known && bits&discordgo.PermissionViewChannel != 0 {
				sees = append(sees, ch)
			}
		}
	}
	return sees
}

// Membership is the current roles and permissions of a person on a server.
type Membership struct {
	Guild    string
	Roles    []string
	Manages  bool // may set clank up there
	Channels []MemberChannel
}

// MemberChannel is a channel, or a thread of Parent, whose messages a person can read, including earlier ones.
type MemberChannel struct {
	ID, Parent string
	Moderates  bool
}

// Memberships returns what user is on the servers of the bot. One of which Discord does not say is left out.
func (b *Bot) Memberships(ctx context.Context, user string) []Membership {
	guilds := b.guilds.Guilds()
	found := make([]Membership, len(guilds))
	var asked sync.WaitGroup
	turns := make(chan struct{}, maxMemberAsks)
	for i, g := range guilds {
		turns <- struct{}{}
		asked.Go(func() {
			defer func() { <-turns }()
			roles, member := b.memberRoles(ctx, g.ID, user, strangerLife)
			if !member {
				return
			}
			readable, bits := b.guilds.Readable(g.ID, user, roles)
			found[i] = Membership{Guild: g.ID, Roles: roles, Manages: bits&managerBits != 0}
			for _, ch := range readable {
				moderates := person{id: user}.actor(ch.Bits).Moderator
				found[i].Channels = append(found[i].Channels, MemberChannel{ch.ID, ch.Parent, moderates})
			}
		})
	}
	asked.Wait()
	return slices.DeleteFunc(found, func(m Membership) bool { return m.Guild == "" })
}

const (
	memberLife    = 15 * time.Second // how long Discord's answer about a member holds
	newcomerLife  = time.Minute      // and about a non-member who makes a request
	strangerLife  = 5 * time.Minute  // or only looks
	maxMembers    = 10_000           // answers kept
	maxMemberAsks = 8                // concurrent servers
)

// memberCache is what Discord has said about members. The zero value is ready.
type memberCache struct {
	mu sync.Mutex
	by map[memberKey]memberAnswer
}

type memberKey struct{ guild, user string }

type memberAnswer struct {
	roles  []string
	member bool
	at     time.Time
}

// memberRoles asks Discord whether user is a member of guild, and with which roles, unless the answer is cached; that
// they are no member is cached for noLife.
func (b *Bot) memberRoles(
	ctx context.Context, guild, user string, noLife time.Duration,
) (roles []string, member bool) {
	key := memberKey{guild, user}
	b.members.mu.Lock()
	known, ok := b.members.by[key]
	b.members.mu.Unlock()
	if age := time.Since(known.at); ok && (age < memberLife || !known.member && age < noLife) {
		return known.roles, known.member
	}
	ctx, cancel := context.WithTimeout(ctx, shortTimeout)
	defer cancel()
	m, err := b.rest.Member(ctx, guild, user)
	switch {
	case err == nil:
		known = memberAnswer{roles: m.Roles, member: true}
	case discord.IsCode(err, discord.CodeUnknownMember, discord.CodeUnknownGuild, discord.CodeMissingAccess):
		known = memberAnswer{}
	default:
		b.logger().Warn("membership not found out", "guild", guild, "user", user, "error", err)
		return nil, false
	}
	known.at = time.Now()
	b.members.mu.Lock()
	defer b.members.mu.Unlock()
	if b.members.by == nil || len(b.members.by) >= maxMembers {
		b.members.by = map[memberKey]memberAnswer{}
	}
	b.members.by[key] = known
	return known.roles, known.member
}
