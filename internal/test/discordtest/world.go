package discordtest

import (
	"strings"
	"time"
)

// A User is a person or a bot.
type User struct {
	ID            string  `json:"id"`
	Username      string  `json:"username"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"global_name"`
	Bot           bool    `json:"bot,omitempty"`
}

// Mention returns the text that mentions the user in a message.
func (u User) Mention() string { return "<@" + u.ID + ">" }

// A Bot is an account that can sign in. Its application has the same id.
type Bot struct {
	User
	// Token as the developer portal shows it, without the word "Bot".
	Token string
}

// Account is what Discord knows of a bot besides its user.
type Account struct {
	User      User
	Token     string
	Forbidden Intents // privileged intents that are off in the portal
	Commands  []Command
}

// A Role of a guild. The role with the guild's own id is everyone's.
type Role struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Color       int         `json:"color"`
	Position    int         `json:"position"`
	Permissions Permissions `json:"permissions"`
	Flags       int         `json:"flags"`
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

// ChannelType tells what a channel is.
type ChannelType int

// Channel types as Discord numbers them.
const (
	TextChannel   ChannelType = 0
	DirectMessage ChannelType = 1
	VoiceChannel  ChannelType = 2
	PublicThread  ChannelType = 11
)

// An Overwrite changes permissions in one channel, for a role (type 0) or a
// member (type 1).
type Overwrite struct {
	ID    string      `json:"id"`
	Type  int         `json:"type"`
	Allow Permissions `json:"allow"`
	Deny  Permissions `json:"deny"`
}

// A Channel of a guild, or a conversation of a bot with one person.
type Channel struct {
	ID            string      `json:"id"`
	Type          ChannelType `json:"type"`
	GuildID       string      `json:"guild_id,omitempty"`
	ParentID      *string     `json:"parent_id,omitempty"`
	Name          string      `json:"name,omitempty"`
	Position      int         `json:"position"`
	NSFW          bool        `json:"nsfw"`
	UserLimit     int         `json:"user_limit,omitempty"` // of a voice channel; 0 is none
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
}

// GuildState is what the server knows of a guild.
type GuildState struct {
	Guild
	Joined   time.Time
	Roles    []*Role
	Members  []*Member
	Channels []string
	Voice    map[string]VoiceState

	VoiceEndpoint string // where calls are; empty while that is not known
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

// A VoiceState says in which voice channel a user is. ChannelID nil means none.
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
	Suppress  bool    `json:"suppress"`
}

// World is everything that exists. The server's lock guards it.
type World struct {
	Users        map[string]User
	Accounts     map[string]*Account // by user id
	Guilds       map[string]*GuildState
	Channels     map[string]*Channel
	Messages     map[string]*MessageRecord
	MessagesOf   map[string][]string // message ids of each channel, oldest first
	Interactions map[string]*InteractionExchange
	ClosedDMs    map[string]bool // people who take no direct messages
	Typing       []Typing
}

// NewWorld makes a world in which nothing exists.
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
	}
}

// AccountWith finds the account for what a client shows, "Bot <token>", or the
// token alone for an account that is no bot's.
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
