package discordtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MessageBody is what clients send to make or change a message. A nil field of
// an edit leaves what is there.
type MessageBody struct {
	Content         *string           `json:"content"`
	Embeds          *[]Embed          `json:"embeds"`
	Components      *[]Component      `json:"components"`
	Attachments     *[]attachmentBody `json:"attachments"`
	AllowedMentions *allowedMentions  `json:"allowed_mentions"`
	Reference       *Reference        `json:"message_reference"`
	Flags           *int              `json:"flags"`
	TTS             bool              `json:"tts"`
	Nonce           any               `json:"nonce"`
	EnforceNonce    bool              `json:"enforce_nonce"`
}

// attachmentBody names a new file by its index or an old one by its id.
type attachmentBody struct {
	ID          any    `json:"id"`
	Filename    string `json:"filename"`
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
		m.Flags = m.Flags&^FlagSuppressEmbeds | *b.Flags&FlagSuppressEmbeds
	}
	if b.Embeds != nil {
		m.Embeds = *b.Embeds
		for i := range m.Embeds {
			m.Embeds[i].Type = "rich"
		}
	}
	if b.Components != nil {
		m.Components = *b.Components
		numberComponents(m.Components, new(int))
	}
	if err := b.AllowedMentions.check(); err != nil {
		return err
	}
	s.fillFiles(&m, b.Attachments, files)
	s.fillMentions(&m, r.GuildID, b.AllowedMentions)
	if m.Embeds == nil {
		m.Embeds = []Embed{}
	}
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
		a.Ephemeral = m.Flags&FlagEphemeral != 0
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
	url := s.URL + "/attachments/" + channel + "/" + id + "/" + name
	return Attachment{
		ID: id, Filename: name, ContentType: f.ContentType, Size: len(f.Data),
		URL: url, ProxyURL: url, Data: f.Data,
	}
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

// readMessageBody decodes a message. The payload may come with files.
func readMessageBody(body json.RawMessage) (MessageBody, error) {
	var b MessageBody
	err := DecodeBody(body, &b)
	return b, err
}
