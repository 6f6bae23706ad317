package discord

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/internal/untrusted"
	"clank/sessions"

	"github.com/bwmarrin/discordgo"
)

// File is a file to attach.
type File struct {
	Name, MediaType string
	Data            []byte
	Description     string // alternative text of a picture; may be empty
}

// OutgoingMessage describes a message to send. Nobody is ever pinged by it, and links do
// not unfold.
type OutgoingMessage struct {
	Content   string
	Files     []File // replace all files of a message that is edited
	KeepFiles bool   // when editing: leave the files as they are; Files is not used
	Rows      []discordgo.MessageComponent
	Layout    bool   // Rows are the whole content, including texts
	ReplyTo   string // id of the message it replies to; new messages only
	Private   bool   // only for the user of the command; responses to interactions only
	Ping      string // id of the only person whom a mention in Content notifies
}

type messagePayload struct {
	Content         *string                          `json:"content,omitempty"`
	Components      []discordgo.MessageComponent     `json:"components"`
	AllowedMentions discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Flags           discordgo.MessageFlags           `json:"flags"`
	Attachments     *[]attachment                    `json:"attachments,omitempty"`
	Reference       *messageReference                `json:"message_reference,omitempty"`
	Nonce           string                           `json:"nonce,omitempty"`
	EnforceNonce    bool                             `json:"enforce_nonce,omitempty"`
}

// attachment is a file that comes with the request, by its number there.
type attachment struct {
	ID          int    `json:"id"`
	Filename    string `json:"filename"`
	Description string `json:"description,omitempty"`
}

type messageReference struct {
	MessageID string `json:"message_id"`
	MustExist bool   `json:"fail_if_not_exists"`
}

func (m OutgoingMessage) payload() messagePayload {
	p := messagePayload{
		Content:         &m.Content,
		Components:      m.Rows,
		AllowedMentions: discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
		Flags:           discordgo.MessageFlagsSuppressEmbeds,
	}
	if m.Layout {
		p.Content, p.Flags = nil, p.Flags|discordgo.MessageFlagsIsComponentsV2
	}
	if !m.KeepFiles {
		p.Attachments = list(m.Files)
	}
	if p.Components == nil {
		p.Components = []discordgo.MessageComponent{}
	}
	if m.Ping != "" {
		p.AllowedMentions.Users = []string{m.Ping}
	}
	if m.Private {
		p.Flags |= discordgo.MessageFlagsEphemeral
	}
	return p
}

// edited returns the payload that changes an existing message into m.
func (m OutgoingMessage) edited() (messagePayload, []*discordgo.File) {
	p := m.payload()
	p.Flags &^= discordgo.MessageFlagsEphemeral
	if m.KeepFiles {
		return p, nil
	}
	if p.Attachments == nil {
		p.Attachments = &[]attachment{} // the files that were there go
	}
	return p, attachments(m.Files)
}

// maxDescription is the maximum length of a description, in characters.
const maxDescription = 1024

// list returns the descriptions of files in a request.
func list(fs []File) *[]attachment {
	if len(fs) == 0 {
		return nil
	}
	out := make([]attachment, len(fs))
	for i, f := range fs {
		out[i] = attachment{i, f.Name, untrusted.ShortenLine(f.Description, maxDescription-1)}
	}
	return &out
}

func attachments(fs []File) []*discordgo.File {
	out := make([]*discordgo.File, len(fs))
	for i, f := range fs {
		out[i] = &discordgo.File{Name: f.Name, ContentType: f.MediaType, Reader: bytes.NewReader(f.Data)}
	}
	return out
}

// GatewayInfo is the address of the gateway, and the limits for connecting to it.
type GatewayInfo struct {
	URL    string // a whole WebSocket URL with its query
	Shards int    // how many connections Discord recommends
	AtOnce int    // how many of them may begin a session at the same time
}

// Gateway asks where the gateway is for this bot.
func (c *REST) Gateway(ctx context.Context) (GatewayInfo, error) {
	var g struct {
		URL    string `json:"url"`
		Shards int    `json:"shards"`
		Starts struct {
			Total      int   `json:"total"`
			Remaining  int   `json:"remaining"`
			ResetAfter int64 `json:"reset_after"` // milliseconds
			AtOnce     int   `json:"max_concurrency"`
		} `json:"session_start_limit"`
	}
	if err := c.do(ctx, apiRequest{method: http.MethodGet, path: "/gateway/bot", out: &g}); err != nil {
		return GatewayInfo{}, err
	}
	if s := g.Starts; s.Total > 0 && s.Remaining == 0 {
		return GatewayInfo{}, fmt.Errorf("discord allows this bot no more sign-ins for %s (%d a day)",
			sessions.DurationText(time.Duration(s.ResetAfter)*time.Millisecond), s.Total)
	}
	u, err := url.Parse(g.URL)
	if err != nil || u.Host == "" {
		return GatewayInfo{}, errors.New("discord gave no usable address of its gateway")
	}
	u.Path, u.RawQuery = "/"+strings.TrimPrefix(u.Path, "/"), "v="+discordgo.APIVersion+"&encoding=json"
	return GatewayInfo{URL: u.String(), Shards: max(1, g.Shards), AtOnce: max(1, g.Starts.AtOnce)}, nil
}

// Application is the bot's entry in Discord's developer portal.
type Application struct {
	ID, Name string
	Flags    int
}

// HearsEverything reports whether the developer portal lets the bot read messages that do not mention it.
func (a Application) HearsEverything() bool {
	const messageContent, messageContentLimited = 1 << 18, 1 << 19
	return a.Flags&(messageContent|messageContentLimited) != 0
}

// Application returns the application of the bot.
func (c *REST) Application(ctx context.Context) (a Application, err error) {
	err = c.do(ctx, apiRequest{method: http.MethodGet, path: "/applications/@me", out: &a})
	return a, err
}

// Send writes a message into a channel. A repeated try does not post it twice.
func (c *REST) Send(ctx context.Context, channel string, m OutgoingMessage) (id string, err error) {
	p := m.payload()
	p.Nonce, p.EnforceNonce = rand.Text()[:25], true
	if m.ReplyTo != "" {
		p.Reference = &messageReference{MessageID: m.ReplyTo}
	}
	var out discordgo.Message
	err = c.do(ctx, apiRequest{
		method: http.MethodPost, path: "/channels/" + channel + "/messages", in: p, files: attachments(m.Files), out: &out,
	})
	return out.ID, err
}

// Edit changes a message of the bot.
func (c *REST) Edit(ctx context.Context, channel, id string, m OutgoingMessage) error {
	p, fs := m.edited()
	return c.do(ctx, apiRequest{
		method: http.MethodPatch, path: "/channels/" + channel + "/messages/" + id, in: p,
		files: fs,
	})
}

// StartThread creates a thread below a message, if there is none yet, and returns its id.
func (c *REST) StartThread(ctx context.Context, channel, message, name string) (id string, err error) {
	var out discordgo.Channel
	err = c.do(ctx, apiRequest{
		method: http.MethodPost, path: "/channels/" + channel + "/messages/" + message + "/threads",
		in: map[string]string{"name": name}, out: &out,
	})
	if IsCode(err, CodeThreadExists) {
		return message, nil // a thread has the id of its message
	}
	return out.ID, err
}

// Delete removes a message of the bot.
func (c *REST) Delete(ctx context.Context, channel, id string) error {
	return c.do(ctx, apiRequest{method: http.MethodDelete, path: "/channels/" + channel + "/messages/" + id})
}

// DeleteResponse removes the first answer to an interaction.
func (c *REST) DeleteResponse(ctx context.Context, i *discordgo.Interaction) error {
	return c.do(ctx, apiRequest{
		method: http.MethodDelete, path: interactionWebhook(i) + "/messages/@original",
		route: "/webhooks/…/messages/@original",
	})
}

// ResponseLaunchActivity opens the application's Activity for the user of the interaction.
const ResponseLaunchActivity discordgo.InteractionResponseType = 12

// Respond answers an interaction for the first time, with a response of kind.
func (c *REST) Respond(ctx context.Context, i *discordgo.Interaction, kind discordgo.InteractionResponseType,
	m OutgoingMessage,
) error {
	in := struct {
		Type discordgo.InteractionResponseType `json:"type"`
		Data *messagePayload                   `json:"data,omitempty"`
	}{Type: kind}
	switch kind {
	case discordgo.InteractionResponseDeferredMessageUpdate, ResponseLaunchActivity:
	case discordgo.InteractionResponseDeferredChannelMessageWithSource:
		p := m.payload()
		p.Flags &= discordgo.MessageFlagsEphemeral
		in.Data = &p
	default:
		p := m.payload()
		in.Data = &p
	}
	return c.callback(ctx, i, in)
}

// Complete responds to an autocomplete interaction with at most 25 choices.
func (c *REST) Complete(ctx context.Context, i *discordgo.Interaction, list []Choice) error {
	in := map[string]any{
		"type": discordgo.InteractionApplicationCommandAutocompleteResult,
		"data": map[string]any{"choices": append([]Choice{}, list...)},
	}
	return c.callback(ctx, i, in)
}

// Choice is one completion.
type Choice struct {
	Name  string `json:"name"` // as people read it, at most 100 characters
	Value string `json:"value"`
}

// Form is a window with fields for a person to fill in.
type Form struct {
	ID, Title string // Title has 45 characters at most
	Fields    []FormField
}

// FormField is a field of a [Form].
type FormField struct {
	ID, Label, Hint, Value string // Label has 45 characters at most, Hint 100
	Long                   bool   // several lines
	Max                    int    // characters, 4000 at most
	Optional               bool   // it may be left empty
}

// OpenForm answers an interaction with a form.
func (c *REST) OpenForm(ctx context.Context, i *discordgo.Interaction, f Form) error {
	rows := make([]discordgo.MessageComponent, len(f.Fields))
	for n, x := range f.Fields {
		style := discordgo.TextInputShort
		if x.Long {
			style = discordgo.TextInputParagraph
		}
		rows[n] = discordgo.ActionsRow{Components: []discordgo.MessageComponent{discordgo.TextInput{
			CustomID: x.ID, Label: x.Label, Placeholder: x.Hint, Value: x.Value, Style: style, Required: !x.Optional,
			MaxLength: x.Max,
		}}}
	}
	return c.callback(ctx, i, map[string]any{
		"type": discordgo.InteractionResponseModal, "data": map[string]any{
			"custom_id": f.ID, "title": f.Title,
			"components": rows,
		},
	})
}

// callback answers an interaction for the first time.
func (c *REST) callback(ctx context.Context, i *discordgo.Interaction, in any) error {
	err := c.do(ctx, apiRequest{
		method: http.MethodPost, path: "/interactions/" + i.ID + "/" + i.Token + "/callback",
		route: "/interactions/…/callback", in: in,
	})
	if IsCode(err, CodeAcknowledged) { // an earlier try got through
		return nil
	}
	return err
}

// EditResponse changes the first answer to an interaction, and returns its id.
func (c *REST) EditResponse(ctx context.Context, i *discordgo.Interaction, m OutgoingMessage) (id string, err error) {
	p, fs := m.edited()
	var out discordgo.Message
	err = c.do(ctx, apiRequest{
		method: http.MethodPatch, path: interactionWebhook(i) + "/messages/@original",
		route: "/webhooks/…/messages/@original",
		in:    p, files: fs, out: &out,
	})
	return out.ID, err
}

// FollowUp posts a further message for an interaction. Unlike [REST.Send], a retry may post it twice if Discord's
// response was lost: webhooks support no nonce.
func (c *REST) FollowUp(ctx context.Context, i *discordgo.Interaction, m OutgoingMessage) error {
	return c.do(ctx, apiRequest{
		method: http.MethodPost, path: interactionWebhook(i), route: "/webhooks/…", in: m.payload(),
		files: attachments(m.Files),
	})
}

func interactionWebhook(i *discordgo.Interaction) string {
	return "/webhooks/" + i.AppID + "/" + i.Token
}

// Typing shows for about ten seconds that the bot is writing.
func (c *REST) Typing(ctx context.Context, channel string) error {
	return c.do(ctx, apiRequest{method: http.MethodPost, path: "/channels/" + channel + "/typing"})
}

// DirectChannel returns the channel in which the bot and user talk privately.
func (c *REST) DirectChannel(ctx context.Context, user string) (string, error) {
	var ch discordgo.Channel
	err := c.do(ctx, apiRequest{
		method: http.MethodPost, path: "/users/@me/channels", in: map[string]string{"recipient_id": user}, out: &ch,
	})
	return ch.ID, err
}

// Messages returns up to n messages of a channel before the one with id before, newest first.
func (c *REST) Messages(ctx context.Context, channel, before string, n int) ([]*discordgo.Message, error) {
	var ms []*discordgo.Message
	path := fmt.Sprintf("/channels/%s/messages?limit=%d&before=%s", channel, n, url.QueryEscape(before))
	err := c.do(ctx, apiRequest{method: http.MethodGet, path: path, out: &ms})
	return ms, err
}

// MessagesSince returns the messages in a channel since a time, the oldest first, at most a hundred.
func (c *REST) MessagesSince(ctx context.Context, channel string, since time.Time) ([]*discordgo.Message, error) {
	const epoch = 1420070400000 // milliseconds of the first second of 2015, from which Discord's ids count
	after := strconv.FormatInt(max(0, since.UnixMilli()-epoch)<<22, 10)
	var ms []*discordgo.Message
	err := c.do(ctx, apiRequest{method: http.MethodGet, path: "/channels/" + channel + "/messages?limit=100&after=" +
		after, out: &ms})
	slices.Reverse(ms)
	return ms, err
}

// Guild returns a guild with its roles.
func (c *REST) Guild(ctx context.Context, id string) (*discordgo.Guild, error) {
	g := new(discordgo.Guild)
	err := c.do(ctx, apiRequest{method: http.MethodGet, path: "/guilds/" + id, out: g})
	return g, err
}

// Channel returns a channel with its permission overwrites.
func (c *REST) Channel(ctx context.Context, id string) (*discordgo.Channel, error) {
	ch := new(discordgo.Channel)
	err := c.do(ctx, apiRequest{method: http.MethodGet, path: "/channels/" + id, out: ch})
	return ch, err
}

// Member returns a user as the guild knows them, with the ids of their roles.
func (c *REST) Member(ctx context.Context, guild, user string) (*discordgo.Member, error) {
	m := new(discordgo.Member)
	err := c.do(ctx, apiRequest{method: http.MethodGet, path: "/guilds/" + guild + "/members/" + user, out: m})
	return m, err
}

// ActivityInstance is an Activity that is open in a channel. Guild is empty in a private conversation.
type ActivityInstance struct {
	Guild, Channel string
	Users          []string // the people in it
}

// ActivityInstance returns an Activity of the application. The error is an [*APIError] with status 404 if there is
// none.
func (c *REST) ActivityInstance(ctx context.Context, app, id string) (ActivityInstance, error) {
	var out struct {
		Location struct {
			Channel string `json:"channel_id"`
			Guild   string `json:"guild_id"`
		} `json:"location"`
		Users []string `json:"users"`
	}
	err := c.do(ctx, apiRequest{
		method: http.MethodGet, path: "/applications/" + app + "/activity-instances/" + url.PathEscape(id), out: &out,
	})
	return ActivityInstance{Guild: out.Location.Guild, Channel: out.Location.Channel, Users: out.Users}, err
}

// EntryPoint is the type of the command with which people open the application's Activity. Discord creates it when
// Activities are enabled, and accepts no list of commands without it.
const EntryPoint discordgo.ApplicationCommandType = 4

// Commands returns the commands of the application that exist everywhere.
func (c *REST) Commands(ctx context.Context, app string) ([]*discordgo.ApplicationCommand, error) {
	var cmds []*discordgo.ApplicationCommand
	err := c.do(ctx, apiRequest{
		method: http.MethodGet, path: "/applications/" + app + "/commands?with_localizations=true",
		out: &cmds,
	})
	return cmds, err
}

// PutCommands replaces all commands of the application that exist everywhere. An entry point is one that Discord
// handles.
func (c *REST) PutCommands(ctx context.Context, app string, cmds []*discordgo.ApplicationCommand) error {
	type command struct {
		*discordgo.ApplicationCommand

		Handler int `json:"handler,omitempty"`
	}
	list := make([]command, len(cmds))
	for i, cmd := range cmds {
		list[i].ApplicationCommand = cmd
		if cmd.Type == EntryPoint {
			list[i].Handler = 2 // Discord
		}
	}
	return c.do(ctx, apiRequest{method: http.MethodPut, path: "/applications/" + app + "/commands", in: list})
}
