package discordtest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A User is a person or a bot.
type User struct {
	ID            string `json:"id"`
	Username      string `json:"username"`
	Discriminator string `json:"discriminator"`
	Bot           bool   `json:"bot,omitempty"`
	Locale        string `json:"-"` // of the user's app; empty is en-US
}

// Mention returns the text that mentions the user in a message.
func (u User) Mention() string { return "<@" + u.ID + ">" }

// A Bot is an account that can sign in. Its application has the same id.
type Bot struct {
	User
	// Token is as shown in the developer portal, without "Bot".
	Token string
}

// Account is the state of a bot other than its user.
type Account struct {
	User      User
	Token     string
	Forbidden Intents // privileged intents that are turned off in the portal
	Commands  []Command
	Installed map[string]bool // people who have installed the application

	shards, atOnce int               // recommended values; 0 stands for 1
	fewestShards   int               // fewest shards with which the bot may connect
	begun          map[int]time.Time // time of the last identify by bucket

	Activity bool   // Activities are enabled in the portal
	Secret   string // OAuth2 client secret
	Redirect string // OAuth2 redirect URI
}

// A Role is a role of a guild. The one with the guild's own id applies to everyone.
type Role struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Position    int         `json:"position"`
	Permissions Permissions `json:"permissions"`
}

// A Member is a user in a guild.
type Member struct {
	User     User      `json:"user"`
	Nick     *string   `json:"nick"`
	Roles    []string  `json:"roles"`
	JoinedAt time.Time `json:"joined_at"`
	Deaf     bool      `json:"deaf"`
	Mute     bool      `json:"mute"`
	Flags    int       `json:"flags"`
}

// ChannelType is the type of a channel.
type ChannelType int

// Channel types as Discord numbers them.
const (
	TextChannel   ChannelType = 0
	DirectMessage ChannelType = 1
	VoiceChannel  ChannelType = 2
	GroupMessage  ChannelType = 3
	PublicThread  ChannelType = 11
)

// An Overwrite changes the permissions of a role (type 0) or a member (type 1) in one channel.
type Overwrite struct {
	ID    string      `json:"id"`
	Type  int         `json:"type"`
	Allow Permissions `json:"allow"`
	Deny  Permissions `json:"deny"`
}

// A Channel is a channel of a guild, or a conversation.
type Channel struct {
	ID            string      `json:"id"`
	Type          ChannelType `json:"type"`
	GuildID       string      `json:"guild_id,omitempty"`
	ParentID      *string     `json:"parent_id,omitempty"`
	Name          string      `json:"name,omitempty"`
	Position      int         `json:"position"`
	UserLimit     int         `json:"user_limit,omitempty"` // of a voice channel; 0 means none
	LastMessageID *string     `json:"last_message_id"`
	Overwrites    []Overwrite `json:"permission_overwrites,omitempty"`
	Recipients    []User      `json:"recipients,omitempty"`

	BotID string `json:"-"` // the bot of a direct conversation
}

// A Guild is what people call a server.
type Guild struct {
	ID      string
	Name    string
	OwnerID string
	Locale  string // preferred locale; empty is en-US
}

// GuildState is the server's state of a guild.
type GuildState struct {
	Guild
	Joined   time.Time
	Roles    []*Role
	Members  []*Member
	Channels []string
	Voice    map[string]VoiceState

	BoostTier     int    // 0 to 3
	VoiceEndpoint string // address of the voice server; empty if there is none
}

// Member finds a member; nil if there is none.
func (g *GuildState) Member(user string) *Member {
	for _, m := range g.Members {
		if m.User.ID == user {
			return m
		}
	}
	return nil
}

// A VoiceState tells in which voice channel a user is. A nil ChannelID means none.
type VoiceState struct {
	GuildID   string  `json:"guild_id"`
	ChannelID *string `json:"channel_id"`
	UserID    string  `json:"user_id"`
	Member    *Member `json:"member,omitempty"`
	SessionID string  `json:"session_id"`
	Deaf      bool    `json:"deaf"`
	Mute      bool    `json:"mute"`
	SelfDeaf  bool    `json:"self_deaf"`
	SelfMute  bool    `json:"self_mute"`
	SelfVideo bool    `json:"self_video"`
	Streaming bool    `json:"self_stream,omitempty"`
}

// World is the state of everything, guarded by the server's lock.
type World struct {
	Users        map[string]User
	Accounts     map[string]*Account // by user id
	Guilds       map[string]*GuildState
	Channels     map[string]*Channel
	Messages     map[string]*MessageRecord
	MessagesOf   map[string][]string // message ids of each channel, oldest first
	Interactions map[string]*InteractionExchange
	ClosedDMs    map[string]bool       // people who refuse direct messages
	Given        map[string]Attachment // file arguments of commands, by id
	Typing       []Typing
	oauth
}

// NewWorld returns an empty world.
func NewWorld() World {
	return World{
		Users:        map[string]User{},
		Accounts:     map[string]*Account{},
		Guilds:       map[string]*GuildState{},
		Channels:     map[string]*Channel{},
		Messages:     map[string]*MessageRecord{},
		MessagesOf:   map[string][]string{},
		Interactions: map[string]*InteractionExchange{},
		ClosedDMs:    map[string]bool{},
		Given:        map[string]Attachment{},
	}
}

// AccountWith returns the account for an Authorization header: "Bot <token>", or only the token for an account that
// is not a bot.
func (w *World) AccountWith(shown string) *Account {
	for _, a := range w.Accounts {
		if token, bot := strings.CutPrefix(shown, "Bot "); token == a.Token && bot == a.User.Bot {
			return a
		}
	}
	return nil
}

// Role finds a role; nil if there is none.
func (g *GuildState) Role(id string) *Role {
	for _, r := range g.Roles {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// GatewayURL returns where clients connect to the main gateway.
func (s *hub) GatewayURL() string { return "ws" + strings.TrimPrefix(s.URL, "http") }

// GuildObject returns a guild without the fields that only GUILD_CREATE has.
func GuildObject(g *GuildState) map[string]any {
	return map[string]any{
		"id": g.ID, "name": g.Name, "owner_id": g.OwnerID, "roles": g.Roles, "icon": nil,
		"emojis": []any{}, "stickers": []any{}, "features": []string{}, "preferred_locale": cmp.Or(g.Locale, "en-US"),
		"verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
		"mfa_level": 0, "premium_tier": g.BoostTier, "nsfw_level": 0, "afk_timeout": 300, "system_channel_flags": 0,
	}
}

// ChannelsOf returns the guild's channels, or its threads.
func (s *hub) ChannelsOf(g *GuildState, threads bool) []*Channel {
	list := []*Channel{}
	for _, id := range g.Channels {
		if ch := s.Channels[id]; (ch.Type == PublicThread) == threads {
			list = append(list, ch)
		}
	}
	return list
}

// AddChannel adds a channel or a thread to its guild and dispatches the event.
func (s *hub) AddChannel(ch *Channel) {
	s.Channels[ch.ID] = ch
	g := s.Guilds[ch.GuildID]
	g.Channels = append(g.Channels, ch.ID)
	event := "CHANNEL_CREATE"
	if ch.Type == PublicThread {
		event = "THREAD_CREATE"
	}
	s.DispatchIn(ch, event, ch)
	s.Notify()
}

// Permissions is a set of permission bits. In JSON it is a decimal string.
type Permissions uint64

// Permission bits that the server checks, with Discord's numbers.
const (
	Administrator      Permissions = 1 << 3
	GoLive             Permissions = 1 << 9
	ViewChannel        Permissions = 1 << 10
	SendMessages       Permissions = 1 << 11
	ManageGuild        Permissions = 1 << 5
	ManageMessages     Permissions = 1 << 13
	AttachFiles        Permissions = 1 << 15
	ReadMessageHistory Permissions = 1 << 16
	MentionEveryone    Permissions = 1 << 17
	Connect            Permissions = 1 << 20
	Speak              Permissions = 1 << 21
	MoveMembers        Permissions = 1 << 24
	UseCommands        Permissions = 1 << 31
	CreateThreads      Permissions = 1 << 35
	SendInThreads      Permissions = 1 << 38

	// Everyday are the permissions of everyone in a new guild.
	Everyday = ViewChannel | SendMessages | AttachFiles | ReadMessageHistory |
		MentionEveryone | Connect | Speak | GoLive | UseCommands | CreateThreads | SendInThreads

	// allPermissions are those of owners and administrators.
	allPermissions Permissions = 1<<53 - 1
)

// MarshalJSON writes the bits as a decimal string.
func (p Permissions) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatUint(uint64(p), 10) + `"`), nil
}

// Permissions returns a user's permissions in a channel, computed in Discord's order: everyone's role, the member's
// roles, then the channel's overwrites for everyone, for the roles and for the member. A user who is not a member has
// none.
func (w *World) Permissions(ch *Channel, user string) Permissions {
	if ch.GuildID == "" {
		if ch.BotID == user || slices.ContainsFunc(ch.Recipients, func(u User) bool { return u.ID == user }) {
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
