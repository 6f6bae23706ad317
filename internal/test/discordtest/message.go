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

// A Message as it is now. ViewerID is set on ephemeral messages: the only
// person who sees it. The JSON form is Discord's.
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

// A Reference points from a reply to the message it answers.
type Reference struct {
	MessageID string `json:"message_id,omitempty"`
	ChannelID string `json:"channel_id,omitempty"`
	GuildID   string `json:"guild_id,omitempty"`
	// FailIfNotExists nil means true.
	FailIfNotExists *bool `json:"fail_if_not_exists,omitempty"`
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

// MessageRecord is a message with its past.
type MessageRecord struct {
	Message
	GuildID  string
	Versions []Message // from one edit to the next
	Deleted  bool
}

// CopyMessage gives a message that shares nothing the server still changes.
func CopyMessage(m Message) Message {
	m.Mentions = slices.Clone(m.Mentions)
	m.Attachments = slices.Clone(m.Attachments)
	m.Components = slices.Clone(m.Components)
	return m
}

// SaveVersion stores the present state as the newest version.
func (r *MessageRecord) SaveVersion() { r.Versions = append(r.Versions, CopyMessage(r.Message)) }

// sentMessage is a message as the gateway sends it.
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

// AsSent adds what only gateway events have.
func (w *World) AsSent(r *MessageRecord) sentMessage {
	out := sentMessage{Message: r.Message, GuildID: r.GuildID}
	if g := w.Guilds[r.GuildID]; g != nil {
		if m := g.Member(r.Author.ID); m != nil {
			out.Member = &authorMember{Member: m}
		}
	}
	return out
}

// ReadableBy applies the message content rule: without the intent a bot sees
// text, files and components only in direct messages, in its own
// messages and in those that mention it.
func (m Message) ReadableBy(bot string, guild string, granted bool) Message {
	mentioned := slices.ContainsFunc(m.Mentions, func(u User) bool { return u.ID == bot })
	if granted || guild == "" || m.Author.ID == bot || mentioned {
		return m
	}
	m.Content, m.Attachments, m.Components = "", []Attachment{}, []Component{}
	if m.Referenced != nil {
		referenced := m.Referenced.ReadableBy(bot, guild, granted)
		m.Referenced = &referenced
	}
	return m
}

// Typing is one "… is typing", which lasts ten seconds.
type Typing struct {
	ChannelID string
}

// MessageBody is what clients send to make or change a message. A nil field of
// an edit leaves what is there.
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

// allowedMentions says which mentions in the text count.
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
			f.Add(ErrorPath("allowed_mentions.parse", i), "BASE_TYPE_CHOICES", "Value must be one of ('users', 'roles', 'everyone').")
		}
	}
	if len(a.Users) > 0 && slices.Contains(a.Parse, "users") || len(a.Roles) > 0 && slices.Contains(a.Parse, "roles") {
		f.Add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse and a list of the same kind are mutually exclusive")
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

// Fill puts the body and the files into a message and holds it against the
// limits. Nothing is changed on an error.
func (s *hub) Fill(r *MessageRecord, b MessageBody, files []UploadedFile) error {
	m := CopyMessage(r.Message)
	if b.Content != nil {
		m.Content = strings.TrimSpace(*b.Content)
	}
	if b.Flags != nil { // the others are settled when the message is made
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

// numberComponents gives each component the id that Discord gives by counting.
func numberComponents(list []Component, last *int) {
	for i := range list {
		if list[i].ID == 0 {
			*last++
			list[i].ID = *last
		}
		numberComponents(list[i].Components, last)
	}
}

// fillFiles keeps the listed old files (all, when there is no list) and adds
// the new ones.
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

// unsafeName matches what Discord replaces in file names.
var unsafeName = regexp.MustCompile(`[^\w.\-]+`)

// NewAttachment stores a file.
func (s *hub) NewAttachment(channel string, f UploadedFile) Attachment {
	id, name := s.NewID(), unsafeName.ReplaceAllString(f.Name, "_")
	until := strconv.FormatInt(s.Now().Add(attachmentLife).Unix(), 16)
	url := s.URL + "/attachments/" + channel + "/" + id + "/" + name + "?ex=" + until + "&is=0&hm=" + signAttachment(id, until) + "&"
	return Attachment{
		ID: id, Filename: name, ContentType: f.ContentType, Size: len(f.Data),
		URL: url, Data: f.Data,
	}
}

// attachmentLife is how long Discord's signed addresses of files work.
const attachmentLife = 24 * time.Hour

// signAttachment returns what an address of a file ends with, so that none can be made up.
func signAttachment(id, until string) string {
	sum := sha256.Sum256([]byte(id + " " + until))
	return hex.EncodeToString(sum[:])
}

var (
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
)

// fillMentions lists the users and roles that the text mentions and that the
// sender allows to be called.
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

// CheckBody holds a message, as it would be, against the limits.
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

// Empty tells whether there is nothing in the message that could be shown.
func (m *Message) Empty() bool {
	return strings.TrimSpace(m.Content) == "" && len(m.Attachments)+len(m.Components) == 0
}

// commandName is what names of chat commands and options look like; they have no
// capital letters besides.
var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

// maxCommandText is how many characters names, descriptions and values of one
// command may have together.
const maxCommandText = 8000

// checkCommand holds a command against the limits and fills in its type.
func checkCommand(f *FormErrors, path string, c *Command) {
	if c.Type == 0 {
		c.Type = 1
	}
	switch c.Type {
	case ChatCommand:
	case EntryPoint:
		checkName(f, path+".name", c.Name)
		f.Length(path+".description", c.Description, 0, 0)
		f.Count(path+".options", len(c.Options), 0, 0)
		return
	default:
		checkMenuCommand(f, path, c)
		return
	}
	checkName(f, path+".name", c.Name)
	f.Length(path+".description", c.Description, 1, 100)
	c.check(f, path)
	checkOptions(f, path+".options", c.Options, 0)
	whole := CommandOption{Name: c.Name, Description: c.Description, Localizations: c.Localizations, Options: c.Options}
	if commandText(whole) > maxCommandText {
		f.Add(path, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)")
	}
}

// checkMenuCommand looks at a command of the menu of messages or people.
func checkMenuCommand(f *FormErrors, path string, c *Command) {
	f.Length(path+".name", c.Name, 1, 32)
	for locale, name := range c.Names {
		checkLocale(f, path+".name_localizations."+locale, locale)
		f.Length(path+".name_localizations."+locale, name, 1, 32)
	}
	if c.Type != UserCommand && c.Type != MessageCommand {
		f.Add(path+".type", "BASE_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 2, 3, 4).")
	}
	if c.Description != "" {
		f.Add(path+".description", "APPLICATION_COMMAND_DESCRIPTION_NOT_ALLOWED", "Context menu commands cannot have description")
	}
	if len(c.Options) > 0 {
		f.Add(path+".options", "APPLICATION_COMMAND_OPTIONS_NOT_ALLOWED", "Context menu commands cannot have options")
	}
}

func checkName(f *FormErrors, path, name string) {
	if !commandName.MatchString(name) || strings.ToLower(name) != name {
		f.Add(path, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
}

// Localizations are names and descriptions by locale.
type Localizations struct {
	Names        map[string]string `json:"name_localizations,omitempty"`
	Descriptions map[string]string `json:"description_localizations,omitempty"`
}

// locales are the languages of Discord's apps.
var locales = strings.Fields("id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th " +
	"zh-CN ja zh-TW ko")

func (l Localizations) check(f *FormErrors, path string) {
	for locale, name := range l.Names {
		at := path + ".name_localizations." + locale
		checkLocale(f, at, locale)
		checkName(f, at, name)
	}
	for locale, text := range l.Descriptions {
		at := path + ".description_localizations." + locale
		checkLocale(f, at, locale)
		f.Length(at, text, 1, 100)
	}
}

func checkLocale(f *FormErrors, path, locale string) {
	if !slices.Contains(locales, locale) {
		f.Add(path, "BASE_TYPE_CHOICES", "Value must be one of the locales of Discord.")
	}
}

// longest returns how many characters text has, or the longest of its translations.
func longest(text string, by map[string]string) int {
	n := len([]rune(text))
	for _, other := range by {
		n = max(n, len([]rune(other)))
	}
	return n
}

// checkOptions looks at the options at one depth: 0 of the command, 1 of a subcommand.
func checkOptions(f *FormErrors, path string, list []CommandOption, depth int) {
	f.Count(path, len(list), 0, 25)
	names, optional, nested := map[string]bool{}, false, 0
	for i, o := range list {
		here := ErrorPath(path, i)
		checkName(f, here+".name", o.Name)
		f.Length(here+".description", o.Description, 1, 100)
		if names[o.Name] {
			f.Add(here+".name", "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")
		}
		names[o.Name] = true
		o.check(f, here)
		for locale, name := range o.Names {
			if key := locale + " " + name; names[key] {
				f.Add(here+".name_localizations."+locale, "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", "Option names must be unique")
			} else {
				names[key] = true
			}
		}
		switch {
		case o.Type == SubCommand && depth == 0:
			nested++
			checkOptions(f, here+".options", o.Options, depth+1)
		case o.Type < StringOption || o.Type > AttachmentOption:
			f.Add(here+".type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types cannot be used here")
		default:
			if o.Required && optional {
				f.Add(here, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
			}
			optional = optional || !o.Required
			checkChoices(f, here, o)
		}
	}
	if nested > 0 && nested < len(list) {
		f.Add(path, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types are mutually exclusive to all other types")
	}
}

func checkChoices(f *FormErrors, path string, o CommandOption) {
	f.Count(path+".choices", len(o.Choices), 0, 25)
	if o.Autocomplete && (len(o.Choices) > 0 || o.Type == BooleanOption) {
		f.Add(path+".autocomplete", "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_INVALID", "Autocomplete cannot be used here")
	}
	for i, c := range o.Choices {
		here := ErrorPath(path+".choices", i)
		f.Length(here+".name", c.Name, 1, 100)
		for locale, name := range c.Names {
			checkLocale(f, here+".name_localizations."+locale, locale)
			f.Length(here+".name_localizations."+locale, name, 1, 100)
		}
		switch v := c.Value.(type) {
		case string:
			f.Length(here+".value", v, 1, 100)
			if o.Type != StringOption {
				f.Add(here+".value", "BASE_TYPE_CONVERT", "Value "+strconv.Quote(v)+" is not int.")
			}
		case float64:
			if o.Type != IntegerOption && o.Type != NumberOption {
				f.Add(here+".value", "BASE_TYPE_CONVERT", "Could not interpret value as string.")
			}
		default:
			f.required(here + ".value")
		}
	}
}

func commandText(o CommandOption) int {
	n := longest(o.Name, o.Names) + longest(o.Description, o.Descriptions)
	for _, c := range o.Choices {
		n += longest(c.Name, c.Names)
		if v, ok := c.Value.(string); ok {
			n += len([]rune(v))
		}
	}
	for _, inner := range o.Options {
		n += commandText(inner)
	}
	return n
}

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

// A Command that an application has registered.
type Command struct {
	ID            string          `json:"id"`
	ApplicationID string          `json:"application_id"`
	Version       string          `json:"version"`
	Type          int             `json:"type"`
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	Options       []CommandOption `json:"options,omitempty"`
	DMPermission  *bool           `json:"dm_permission,omitempty"`
	Contexts      []int           `json:"contexts,omitempty"`
	// IntegrationTypes say where it is offered: 0 in servers that have the bot, 1 to people who have installed it.
	IntegrationTypes []int   `json:"integration_types,omitempty"`
	MemberNeeds      *string `json:"default_member_permissions,omitempty"` // permissions, as a number
	Handler          int     `json:"handler,omitempty"`                    // of an entry point: 1 the application, 2 Discord
	Localizations
}

// A CommandOption is a parameter, a subcommand or a group of those.
type CommandOption struct {
	Type        int             `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Required    bool            `json:"required,omitempty"`
	Choices     []OptionChoice  `json:"choices,omitempty"`
	Options     []CommandOption `json:"options,omitempty"`
	MinValue    *float64        `json:"min_value,omitempty"`
	MaxValue    *float64        `json:"max_value,omitempty"`
	MinLength   *int            `json:"min_length,omitempty"`
	MaxLength   *int            `json:"max_length,omitempty"`
	// Autocomplete has Discord ask the bot for choices while somebody types.
	Autocomplete bool `json:"autocomplete,omitempty"`
	Localizations
}

// An OptionChoice is a value that a person may pick.
type OptionChoice struct {
	Name  string            `json:"name"`
	Names map[string]string `json:"name_localizations,omitempty"`
	Value any               `json:"value"`
}

// Contexts of interactions, with Discord's numbers.
const (
	InGuild   = 0
	InBotDM   = 1
	InPrivate = 2 // direct messages among people
)

// contextOf returns what a channel is to a bot.
func contextOf(ch *Channel, bot string) int {
	switch {
	case ch.GuildID != "":
		return InGuild
	case ch.BotID == bot:
		return InBotDM
	}
	return InPrivate
}

// UsableIn tells whether the command is offered in such a channel.
func (c Command) UsableIn(ch *Channel) bool {
	direct := ch.GuildID == ""
	if c.Contexts != nil {
		return slices.Contains(c.Contexts, contextOf(ch, c.ApplicationID))
	}
	return !direct || c.DMPermission == nil || *c.DMPermission
}
