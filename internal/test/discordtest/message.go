package discordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	FlagComponentsV2   = 1 << 15
)

// A Message is a message in its current version. ViewerID is set for ephemeral messages: only that person sees it.
// The JSON form is Discord's.
type Message struct {
	ID              string       `json:"id"`
	ChannelID       string       `json:"channel_id"`
	Author          User         `json:"author"`
	Content         string       `json:"content"`
	Timestamp       time.Time    `json:"timestamp"`
	EditedTimestamp *time.Time   `json:"edited_timestamp"`
	MentionEveryone bool         `json:"mention_everyone"`
	Mentions        []User       `json:"mentions"`
	MentionRoles    []string     `json:"mention_roles"`
	Attachments     []Attachment `json:"attachments"`
	Components      []Component  `json:"components"`
	Type            int          `json:"type"`
	Flags           int          `json:"flags"`
	Nonce           any          `json:"nonce,omitempty"`
	WebhookID       string       `json:"webhook_id,omitempty"`
	Reference       *Reference   `json:"message_reference,omitempty"`
	Referenced      *Message     `json:"referenced_message,omitempty"`
	Snapshots       []Snapshot   `json:"message_snapshots,omitempty"`

	ViewerID string `json:"-"`
}

// Buttons lists the buttons of the message, row by row.
func (m Message) Buttons() []Component {
	var found []Component
	for c := range allComponents(m.Components) {
		if c.Type == ButtonComponent {
			found = append(found, c)
		}
	}
	return found
}

// HasButton reports whether the message has a button with that label.
func (m Message) HasButton(label string) bool {
	return slices.ContainsFunc(m.Buttons(), func(b Component) bool { return b.Label == label })
}

// ForwardReference is the type of a [Reference] to a message that is forwarded.
const ForwardReference = 1

// A Reference points from a reply to the message it answers, or from a forward to the original.
type Reference struct {
	Type      int    `json:"type,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	ChannelID string `json:"channel_id,omitempty"`
	GuildID   string `json:"guild_id,omitempty"`
	// FailIfNotExists nil means true.
	FailIfNotExists *bool `json:"fail_if_not_exists,omitempty"`
}

// A Snapshot is the copy of a forwarded message. It does not say who wrote the message.
type Snapshot struct {
	Message SnapshotMessage `json:"message"`
}

// SnapshotMessage has the fields of a message that Discord copies.
type SnapshotMessage struct {
	Content     string       `json:"content"`
	Timestamp   time.Time    `json:"timestamp"`
	Mentions    []User       `json:"mentions"`
	Attachments []Attachment `json:"attachments"`
	Type        int          `json:"type"`
	Flags       int          `json:"flags"`
}

// An Attachment is a file of a message.
type Attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type,omitempty"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`

	// Data is shared by all copies; do not change it.
	Data []byte `json:"-"`
}

// MessageRecord is a message with its history.
type MessageRecord struct {
	Message
	GuildID  string
	Versions []Message // one per edit
	Deleted  bool
}

// CopyMessage returns a deep copy of a message.
func CopyMessage(m Message) Message {
	m.Mentions = slices.Clone(m.Mentions)
	m.Attachments = slices.Clone(m.Attachments)
	m.Components = slices.Clone(m.Components)
	return m
}

// SaveVersion stores the current state as the newest version.
func (r *MessageRecord) SaveVersion() { r.Versions = append(r.Versions, CopyMessage(r.Message)) }

// sentMessage is a message as sent over the gateway.
type sentMessage struct {
	Message
	GuildID string        `json:"guild_id,omitempty"`
	Member  *authorMember `json:"member,omitempty"`
}

// authorMember is a member without its user.
type authorMember struct {
	*Member
	User *struct{} `json:"user,omitempty"`
}

// AsSent adds the fields that only gateway events have.
func (w *World) AsSent(r *MessageRecord) sentMessage {
	out := sentMessage{Message: r.Message, GuildID: r.GuildID}
	if g := w.Guilds[r.GuildID]; g != nil {
		if m := g.Member(r.Author.ID); m != nil {
			out.Member = &authorMember{Member: m}
		}
	}
	return out
}

// ReadableBy applies the message content rule: without the intent a bot sees text, files and components only in
// direct messages, in its own messages and in those that mention it.
func (m Message) ReadableBy(bot string, guild string, granted bool) Message {
	mentioned := slices.ContainsFunc(m.Mentions, func(u User) bool { return u.ID == bot })
	if granted || guild == "" || m.Author.ID == bot || mentioned {
		return m
	}
	m.Content, m.Attachments, m.Components, m.Snapshots = "", []Attachment{}, []Component{}, nil
	if m.Referenced != nil {
		referenced := m.Referenced.ReadableBy(bot, guild, granted)
		m.Referenced = &referenced
	}
	return m
}

// Typing is a typing indicator, which lasts ten seconds.
type Typing struct {
	ChannelID string
}

// MessageBody is the body of requests that create or edit a message. In an edit, a nil field is not changed.
type MessageBody struct {
	Content         *string           `json:"content"`
	Components      *[]Component      `json:"components"`
	Attachments     *[]attachmentBody `json:"attachments"`
	AllowedMentions *allowedMentions  `json:"allowed_mentions"`
	Reference       *Reference        `json:"message_reference"`
	Flags           *int              `json:"flags"`
	Nonce           any               `json:"nonce"`
	EnforceNonce    bool              `json:"enforce_nonce"`
}

// attachmentBody names a new file by its index or an old one by its id.
type attachmentBody struct {
	ID          any    `json:"id"`
	Description string `json:"description"`
}

func (a attachmentBody) id() string {
	if n, ok := a.ID.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(a.ID)
}

// allowedMentions selects the mentions in the text that are effective.
type allowedMentions struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users"`
	Roles       []string `json:"roles"`
	RepliedUser bool     `json:"replied_user"`
}

func (a *allowedMentions) check() error {
	if a == nil {
		return nil
	}
	var f FormErrors
	for i, p := range a.Parse {
		if !slices.Contains([]string{"users", "roles", "everyone"}, p) {
			f.Add(ErrorPath("allowed_mentions.parse", i), "BASE_TYPE_CHOICES", "Value must be one of ('users', 'roles', "+
				"'everyone').")
		}
	}
	if len(a.Users) > 0 && slices.Contains(a.Parse, "users") || len(a.Roles) > 0 && slices.Contains(a.Parse, "roles") {
		f.Add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse and a list of the same kind are "+
			"mutually exclusive")
	}
	f.Count("allowed_mentions.users", len(a.Users), 0, 100)
	f.Count("allowed_mentions.roles", len(a.Roles), 0, 100)
	return f.Err()
}

func (a *allowedMentions) allows(kind, id string) bool {
	if a == nil {
		return true
	}
	list := a.Users
	if kind == "roles" {
		list = a.Roles
	}
	return slices.Contains(a.Parse, kind) || slices.Contains(list, id)
}

// Fill applies the body and the files to a message and checks the limits. On an error nothing is changed.
func (s *hub) Fill(r *MessageRecord, b MessageBody, files []UploadedFile) error {
	m := CopyMessage(r.Message)
	if b.Content != nil {
		m.Content = strings.TrimSpace(*b.Content)
	}
	if b.Flags != nil { // other flags can only be set when the message is created
		m.Flags = m.Flags&^FlagSuppressEmbeds | *b.Flags&(FlagSuppressEmbeds|FlagComponentsV2)
	}
	if b.Components != nil {
		m.Components = *b.Components
		numberComponents(m.Components, new(int))
	}
	if err := b.AllowedMentions.check(); err != nil {
		return err
	}
	for _, f := range files {
		if len(f.Data) > s.fileLimit(r.GuildID) {
			return ErrTooLarge
		}
	}
	s.fillFiles(&m, b.Attachments, files)
	s.fillMentions(&m, r.GuildID, b.AllowedMentions)
	if m.Components == nil {
		m.Components = []Component{}
	}
	if err := m.CheckBody(); err != nil {
		return err
	}
	if m.Empty() {
		return ErrEmptyMessage
	}
	r.Message = m
	return nil
}

// numberComponents assigns ids to components by counting, like Discord.
func numberComponents(list []Component, last *int) {
	for i := range list {
		if list[i].ID == 0 {
			*last++
			list[i].ID = *last
		}
		numberComponents(list[i].Components, last)
	}
}

// fillFiles keeps the listed old files (all, if there is no list) and adds the new ones.
func (s *hub) fillFiles(m *Message, list *[]attachmentBody, files []UploadedFile) {
	if list != nil {
		m.Attachments = slices.DeleteFunc(m.Attachments, func(a Attachment) bool {
			return !slices.ContainsFunc(*list, func(b attachmentBody) bool { return b.id() == a.ID })
		})
	}
	if m.Attachments == nil {
		m.Attachments = []Attachment{}
	}
	for i, f := range files {
		a := s.NewAttachment(m.ChannelID, f)
		if list != nil {
			for _, b := range *list {
				if b.id() == strconv.Itoa(i) {
					a.Description = b.Description
				}
			}
		}
		m.Attachments = append(m.Attachments, a)
	}
}

// unsafeName matches the characters that Discord replaces in file names.
var unsafeName = regexp.MustCompile(`[^\w.\-]+`)

// NewAttachment stores a file.
func (s *hub) NewAttachment(channel string, f UploadedFile) Attachment {
	id, name := s.NewID(), unsafeName.ReplaceAllString(f.Name, "_")
	until := strconv.FormatInt(s.Now().Add(attachmentLife).Unix(), 16)
	url := s.URL + "/attachments/" + channel + "/" + id + "/" + name + "?ex=" + until + "&is=0&hm=" +
		signAttachment(id, until) + "&"
	return Attachment{
		ID: id, Filename: name, ContentType: f.ContentType, Size: len(f.Data),
		URL: url, Data: f.Data,
	}
}

// attachmentLife is the validity of Discord's signed URLs of files.
const attachmentLife = 24 * time.Hour

// signAttachment returns the signature at the end of a file's URL.
func signAttachment(id, until string) string {
	sum := sha256.Sum256([]byte(id + " " + until))
	return hex.EncodeToString(sum[:])
}

var (
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
)

// fillMentions sets the users and roles that the text mentions, if the sender allows these mentions.
func (s *hub) fillMentions(m *Message, guild string, allowed *allowedMentions) {
	m.Mentions, m.MentionRoles = []User{}, []string{}
	if m.Type == ReplyMessage && m.Referenced != nil && (allowed == nil || allowed.RepliedUser) {
		m.Mentions = append(m.Mentions, m.Referenced.Author)
	}
	for _, found := range userMention.FindAllStringSubmatch(m.Content, -1) {
		u, ok := s.Users[found[1]]
		if ok && allowed.allows("users", u.ID) && !slices.Contains(m.Mentions, u) {
			m.Mentions = append(m.Mentions, u)
		}
	}
	g := s.Guilds[guild]
	if g == nil {
		return
	}
	for _, found := range roleMention.FindAllStringSubmatch(m.Content, -1) {
		if g.Role(found[1]) != nil && allowed.allows("roles", found[1]) {
			m.MentionRoles = append(m.MentionRoles, found[1])
		}
	}
	ch := s.Channels[m.ChannelID]
	calls := strings.Contains(m.Content, "@everyone") || strings.Contains(m.Content, "@here")
	m.MentionEveryone = calls && allowed.allows("everyone", "") && s.Permissions(ch, m.Author.ID)&MentionEveryone != 0
}

// Documented limits of messages.
const (
	maxContent     = 2000
	maxAttachments = 10
	maxDescription = 1024
	maxRows        = 5
	maxButtons     = 5
	maxCustomID    = 100
)

// CheckBody checks the resulting message against the limits.
func (m *Message) CheckBody() error {
	var f FormErrors
	f.Length("content", m.Content, 0, maxContent)
	f.Count("attachments", len(m.Attachments), 0, maxAttachments)
	for i, a := range m.Attachments {
		f.Length(ErrorPath("attachments", i)+".description", a.Description, 0, maxDescription)
	}
	if m.Flags&FlagComponentsV2 == 0 {
		checkComponents(&f, m.Components)
		return f.Err()
	}
	if m.Content != "" {
		f.Add("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
			"The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2")
	}
	checkLayout(&f, m.Components)
	return f.Err()
}

// Empty reports whether the message contains nothing to show.
func (m *Message) Empty() bool {
	return strings.TrimSpace(m.Content) == "" && len(m.Attachments)+len(m.Components)+len(m.Snapshots) == 0
}

// commandName matches names of chat commands and options; in addition they must be in lower case.
var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

// maxCommandText is the maximum total length of the names, descriptions and values of a command, in characters.
const maxCommandText = 8000

// locales are the languages of Discord's apps.
var locales = strings.Fields("id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs " +
	"el bg ru uk hi th zh-CN ja zh-TW ko")

// Option types of slash commands, with Discord's numbers.
const (
	SubCommand    = 1
	StringOption  = 3
	IntegerOption = 4
	BooleanOption = 5
	UserOption    = 6
	NumberOption  = 10

	AttachmentOption = 11
)

// Types of commands, with Discord's numbers.
const (
	ChatCommand    = 1
	UserCommand    = 2
	MessageCommand = 3
)

// Contexts of interactions, with Discord's numbers.
const (
	InGuild   = 0
	InBotDM   = 1
	InPrivate = 2 // direct messages between people
)
