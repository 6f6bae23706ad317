package discordtest

import (
	"slices"
	"time"
)

// Message types and flags, with Discord's numbers.
const (
	PlainMessage        = 0
	ReplyMessage        = 19
	SlashCommandMessage = 20

	FlagSuppressEmbeds = 1 << 2
	FlagEphemeral      = 1 << 6
	FlagLoading        = 1 << 7
)

// A Message as it is now. ViewerID is set on ephemeral messages: the only
// person who sees it. The JSON form is Discord's.
type Message struct {
	ID                  string               `json:"id"`
	ChannelID           string               `json:"channel_id"`
	Author              User                 `json:"author"`
	Content             string               `json:"content"`
	Timestamp           time.Time            `json:"timestamp"`
	EditedTimestamp     *time.Time           `json:"edited_timestamp"`
	TTS                 bool                 `json:"tts"`
	MentionEveryone     bool                 `json:"mention_everyone"`
	Mentions            []User               `json:"mentions"`
	MentionRoles        []string             `json:"mention_roles"`
	Attachments         []Attachment         `json:"attachments"`
	Embeds              []Embed              `json:"embeds"`
	Components          []Component          `json:"components"`
	Type                int                  `json:"type"`
	Flags               int                  `json:"flags"`
	Nonce               any                  `json:"nonce,omitempty"`
	WebhookID           string               `json:"webhook_id,omitempty"`
	ApplicationID       string               `json:"application_id,omitempty"`
	Reference           *Reference           `json:"message_reference,omitempty"`
	Referenced          *Message             `json:"referenced_message,omitempty"`
	InteractionMetadata *InteractionMetadata `json:"interaction_metadata,omitempty"`

	ViewerID string `json:"-"`
}

// Buttons lists the buttons of the message, row by row.
func (m Message) Buttons() []Component {
	var found []Component
	for _, row := range m.Components {
		for _, c := range row.Components {
			if c.Type == ButtonComponent {
				found = append(found, c)
			}
		}
	}
	return found
}

// A Reference points from a reply to the message it answers.
type Reference struct {
	MessageID string `json:"message_id,omitempty"`
	ChannelID string `json:"channel_id,omitempty"`
	GuildID   string `json:"guild_id,omitempty"`
	// FailIfNotExists nil means true.
	FailIfNotExists *bool `json:"fail_if_not_exists,omitempty"`
}

// InteractionMetadata tells which interaction a message answers.
type InteractionMetadata struct {
	ID   string `json:"id"`
	Type int    `json:"type"`
	Name string `json:"name,omitempty"`
	User User   `json:"user"`
}

// An Attachment is a file of a message.
type Attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	ProxyURL    string `json:"proxy_url"`
	Ephemeral   bool   `json:"ephemeral,omitempty"`

	// Data is shared by all copies; do not change it.
	Data []byte `json:"-"`
}

// An Emoji is a character (ID nil) or a guild's own picture.
type Emoji struct {
	ID   *string `json:"id"`
	Name string  `json:"name"`
}

// A MessageVersion is what a message was from one edit to the next.
type MessageVersion struct {
	At time.Time
	Message
}

// MessageRecord is a message with its past.
type MessageRecord struct {
	Message
	GuildID  string
	Versions []MessageVersion
	Deleted  bool
}

// CopyMessage gives a message that shares nothing the server still changes.
func CopyMessage(m Message) Message {
	m.Mentions = slices.Clone(m.Mentions)
	m.Attachments = slices.Clone(m.Attachments)
	m.Embeds = slices.Clone(m.Embeds)
	m.Components = slices.Clone(m.Components)
	return m
}

// SaveVersion stores the present state as the newest version.
func (r *MessageRecord) SaveVersion(at time.Time) {
	r.Versions = append(r.Versions, MessageVersion{at, CopyMessage(r.Message)})
}

// sentMessage is a message as the gateway sends it.
type sentMessage struct {
	Message
	GuildID string         `json:"guild_id,omitempty"`
	Member  *MessageAuthor `json:"member,omitempty"`
}

// MessageAuthor is a member without its user.
type MessageAuthor struct {
	Nick     *string   `json:"nick"`
	Roles    []string  `json:"roles"`
	JoinedAt time.Time `json:"joined_at"`
	Deaf     bool      `json:"deaf"`
	Mute     bool      `json:"mute"`
	Flags    int       `json:"flags"`
}

// AsSent adds what only gateway events have.
func (w *World) AsSent(r *MessageRecord) sentMessage {
	out := sentMessage{Message: r.Message, GuildID: r.GuildID}
	if g := w.Guilds[r.GuildID]; g != nil {
		if m := g.Member(r.Author.ID); m != nil {
			out.Member = &MessageAuthor{m.Nick, m.Roles, m.JoinedAt, m.Deaf, m.Mute, m.Flags}
		}
	}
	return out
}

// ReadableBy applies the message content rule: without the intent a bot sees
// text, files, embeds and components only in direct messages, in its own
// messages and in those that mention it.
func (m Message) ReadableBy(bot string, guild string, granted bool) Message {
	mentioned := slices.ContainsFunc(m.Mentions, func(u User) bool { return u.ID == bot })
	if granted || guild == "" || m.Author.ID == bot || mentioned {
		return m
	}
	m.Content, m.Attachments, m.Embeds, m.Components = "", []Attachment{}, []Embed{}, []Component{}
	if m.Referenced != nil {
		referenced := m.Referenced.ReadableBy(bot, guild, granted)
		m.Referenced = &referenced
	}
	return m
}
