package discordtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// CreateUser creates a person.
func (s *Server) CreateUser(name string) User {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	u := User{ID: s.hub.NewID(), Username: name, Discriminator: "0"}
	s.hub.Users[u.ID] = u
	return u
}

// CreateBot creates an application with a bot that authenticates with the token. All privileged intents are on; see
// ForbidIntents.
func (s *Server) CreateBot(name, token string) Bot {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	u := User{ID: s.hub.NewID(), Username: name, Discriminator: "0000", Bot: true}
	s.hub.Users[u.ID] = u
	s.hub.Accounts[u.ID] = &Account{User: u, Token: token}
	return Bot{User: u, Token: token}
}

// ForbidIntents turns privileged intents off in the bot's settings. Requesting them closes the connection with 4014.
func (s *Server) ForbidIntents(bot Bot, intents Intents) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Accounts[bot.ID].Forbidden = intents & Privileged
}

// SetShards sets the recommended number of shards of the bot, how many of them may identify at the same time, and the
// least number that is accepted.
func (s *Server) SetShards(bot Bot, shards, atOnce, least int) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	a := s.hub.Accounts[bot.ID]
	a.shards, a.atOnce, a.fewestShards = shards, atOnce, least
}

// Shards lists the shards of the bot that are connected and ready.
func (s *Server) Shards(bot Bot) []int {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	var list []int
	for _, ses := range s.hub.SessionsInOrder() {
		if ses.Bot.User.ID == bot.ID && ses.Conn != nil && ses.Conn.Closing == 0 {
			list = append(list, ses.shard)
		}
	}
	slices.Sort(list)
	return list
}

// CloseShard closes the connection of one shard of the bot with a code.
func (s *Server) CloseShard(bot Bot, shard, code int) error {
	return s.eachConn(bot, func(c *Conn) {
		if c.Session != nil && c.Session.shard == shard {
			s.hub.CloseConn(c, code, "as asked")
		}
	})
}

// RevokeToken invalidates the bot's token, like a reset in the developer portal, and closes its connections with
// 4004.
func (s *Server) RevokeToken(bot Bot) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Accounts[bot.ID].Token = "revoked-" + s.hub.NewID()
	for c := range s.hub.Conns {
		if c.Bot == bot.ID {
			s.hub.CloseConn(c, CloseAuthFailed, "Authentication failed.")
		}
	}
}

// CreateGuild creates a guild with its owner as a member.
func (s *Server) CreateGuild(name string, owner User) Guild {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := &GuildState{
		Guild:  Guild{ID: s.hub.NewID(), Name: name, OwnerID: owner.ID},
		Joined: s.hub.Now().UTC(), Voice: map[string]VoiceState{},
	}
	g.Roles = []*Role{{ID: g.ID, Name: "@everyone", Permissions: Everyday}}
	s.hub.Guilds[g.ID] = g
	s.findVoiceServer(g)
	s.addMember(g, owner)
	return g.Guild
}

// SetLocale changes the preferred locale of a guild.
func (s *Server) SetLocale(in Guild, locale string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	g.Locale = locale
	s.hub.DispatchGuild(g, "GUILD_UPDATE", GuildObject(g))
	s.hub.Notify()
}

// AddMember adds a user to the guild. A connected bot receives the guild, others the member.
func (s *Server) AddMember(in Guild, user User, roles ...Role) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if g := s.hub.Guilds[in.ID]; g != nil && g.Member(user.ID) == nil {
		s.addMember(g, user, roles...)
	}
}

func (s *Server) addMember(g *GuildState, user User, roles ...Role) {
	m := &Member{User: user, Roles: []string{}, JoinedAt: s.hub.Now().UTC()}
	for _, r := range roles {
		m.Roles = append(m.Roles, r.ID)
	}
	g.Members = append(g.Members, m)
	for _, ses := range s.hub.SessionsInOrder() {
		if ses.Bot.User.ID == user.ID && ses.hears(g.ID) {
			s.hub.SendGuild(ses, g)
		}
	}
	s.hub.DispatchGuild(g, "GUILD_MEMBER_ADD", memberObject{m, g.ID})
	s.hub.Notify()
}

type memberObject struct {
	*Member
	GuildID string `json:"guild_id"`
}

// RemoveMember removes a user from the guild.
func (s *Server) RemoveMember(from Guild, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[from.ID]
	if v, ok := g.Voice[user.ID]; ok {
		s.hub.SetVoice(g, VoiceState{GuildID: g.ID, UserID: user.ID, SessionID: v.SessionID})
	}
	g.Members = slices.DeleteFunc(g.Members, func(m *Member) bool { return m.User.ID == user.ID })
	for _, ses := range s.hub.SessionsInOrder() {
		if ses.Bot.User.ID == user.ID && ses.Intents&Guilds != 0 && ses.hears(g.ID) {
			s.hub.Dispatch(ses, "GUILD_DELETE", map[string]any{"id": g.ID})
		}
	}
	s.hub.DispatchGuild(g, "GUILD_MEMBER_REMOVE", map[string]any{"guild_id": g.ID, "user": user})
	s.hub.Notify()
}

// RemoveRoles removes all roles from a member.
func (s *Server) RemoveRoles(in Guild, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	m := g.Member(user.ID)
	m.Roles = []string{}
	s.hub.DispatchGuild(g, "GUILD_MEMBER_UPDATE", memberObject{m, g.ID})
}

// CreateRole creates a role in the guild.
func (s *Server) CreateRole(in Guild, name string, has Permissions) Role {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	r := &Role{ID: s.hub.NewID(), Name: name, Permissions: has, Position: len(g.Roles)}
	g.Roles = append(g.Roles, r)
	s.hub.DispatchGuild(g, "GUILD_ROLE_CREATE", map[string]any{"guild_id": g.ID, "role": r})
	return *r
}

// CreateChannel creates a text channel.
func (s *Server) CreateChannel(in Guild, name string) Channel {
	return s.create(in, name, TextChannel)
}

// CreateVoiceChannel creates a voice channel.
func (s *Server) CreateVoiceChannel(in Guild, name string) Channel {
	return s.create(in, name, VoiceChannel)
}

// CreateThread creates a public thread in a channel.
func (s *Server) CreateThread(of Channel, name string) Channel {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := &Channel{ID: s.hub.NewID(), Type: PublicThread, GuildID: of.GuildID, ParentID: &of.ID, Name: name}
	s.hub.AddChannel(ch)
	return *ch
}

func (s *Server) create(in Guild, name string, kind ChannelType) Channel {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := &Channel{ID: s.hub.NewID(), Type: kind, GuildID: in.ID, Name: name, Position: len(s.hub.Guilds[in.ID].Channels)}
	s.hub.AddChannel(ch)
	return *ch
}

// DeleteChannel deletes a channel of a guild.
func (s *Server) DeleteChannel(which Channel) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := s.hub.Channels[which.ID]
	s.hub.DispatchIn(ch, "CHANNEL_DELETE", ch)
	g := s.hub.Guilds[ch.GuildID]
	for _, v := range maps.Clone(g.Voice) {
		if *v.ChannelID == ch.ID {
			s.hub.SetVoice(g, VoiceState{GuildID: g.ID, UserID: v.UserID, SessionID: v.SessionID})
		}
	}
	g.Channels = slices.DeleteFunc(g.Channels, func(id string) bool { return id == ch.ID })
	delete(s.hub.Channels, ch.ID)
	s.hub.Notify()
}

// Overwrite changes the permissions of a member or a role in one channel; exactly one of the two is given, the other
// is zero. If both are zero it applies to everyone.
func (s *Server) Overwrite(in Channel, user User, role Role, allow, deny Permissions) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := s.hub.Channels[in.ID]
	o := Overwrite{ID: cmp.Or(user.ID, role.ID, ch.GuildID), Allow: allow, Deny: deny}
	if user.ID != "" {
		o.Type = 1
	}
	ch.Overwrites = append(slices.DeleteFunc(slices.Clone(ch.Overwrites), func(x Overwrite) bool { return x.ID == o.ID }),
		o)
	s.hub.DispatchIn(ch, "CHANNEL_UPDATE", ch)
	s.hub.Notify()
}

// OpenDM returns the direct message channel of a person and a bot.
func (s *Server) OpenDM(user User, bot Bot) Channel {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return *s.hub.DMChannel(bot.ID, user)
}

// CloseDMs makes a person refuse direct messages.
func (s *Server) CloseDMs(user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.ClosedDMs[user.ID] = true
}

// SetBoostTier sets the boost tier of a guild, 0 to 3, and notifies its members.
func (s *Server) SetBoostTier(of Guild, tier int) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[of.ID]
	g.BoostTier = tier
	s.hub.DispatchGuild(g, "GUILD_UPDATE", GuildObject(g))
	s.hub.Notify()
}

// ForgetInteraction makes an interaction unknown: each response to it fails with 10062 or 10015.
func (s *Server) ForgetInteraction(id string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if it := s.hub.Interactions[id]; it != nil {
		it.Forgotten = true
	}
}

// Interaction returns the current state of an interaction.
func (s *Server) Interaction(id string) (Interaction, bool) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	it := s.hub.Interactions[id]
	if it == nil {
		return Interaction{}, false
	}
	return s.hub.InteractionState(it), true
}

// checkArgument checks an argument against its option.
func checkArgument(o CommandOption, v any) error {
	chosen := func(c OptionChoice) bool { return fmt.Sprint(c.Value) == fmt.Sprint(v) }
	fits := len(o.Choices) == 0 || slices.ContainsFunc(o.Choices, chosen)
	switch v := v.(type) {
	case string:
		fits = fits && o.Type == StringOption && within(len([]rune(v)), o.MinLength, o.MaxLength)
	case User:
		fits = o.Type == UserOption
	case givenFile:
		fits = o.Type == AttachmentOption
	case bool:
		fits = fits && o.Type == BooleanOption
	case int:
		fits = fits && (o.Type == IntegerOption || o.Type == NumberOption) && within(float64(v), o.MinValue, o.MaxValue)
	case float64:
		fits = fits && o.Type == NumberOption && within(v, o.MinValue, o.MaxValue)
	default:
		fits = false
	}
	if !fits {
		return fmt.Errorf("%T %v does not fit", v, v)
	}
	return nil
}

func within[N int | float64](n N, least, most *N) bool {
	return (least == nil || n >= *least) && (most == nil || n <= *most)
}

// A Post is a message by a person. Mentions are in the text, as written by User.Mention.
type Post struct {
	Text    string
	Reply   *Message // the message it replies to
	Forward *Message // the message that is forwarded; a post has nothing else then
	Files   []File
}

// A File is a file that a person attaches.
type File struct {
	Name        string
	ContentType string
	Data        []byte
}

// SendMessage sends a message as a user, person or bot. It fails where Discord would refuse it.
func (s *Server) SendMessage(in Channel, author User, text string, files ...File) (Message, error) {
	return s.Send(in, author, Post{Text: text, Files: files})
}

// Send is like SendMessage, with all the parts of a post.
func (s *Server) Send(in Channel, author User, p Post) (Message, error) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := s.hub.Channels[in.ID]
	if ch == nil {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, ErrUnknownChannel)
	}
	if s.hub.Permissions(ch, author.ID)&SendMessages == 0 {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, ErrMissingPerms)
	}
	r := s.hub.NewMessage(ch, author)
	if p.Reply != nil {
		if err := s.hub.SetReference(r, Reference{MessageID: p.Reply.ID}); err != nil {
			return Message{}, fmt.Errorf("send a reply as %s: %w", author.Username, err)
		}
	}
	if f := p.Forward; f != nil {
		r.Reference = &Reference{Type: ForwardReference, MessageID: f.ID, ChannelID: f.ChannelID}
		r.Snapshots = []Snapshot{{SnapshotMessage{
			f.Content, f.Timestamp, f.Mentions, f.Attachments, f.Type, f.Flags,
		}}}
	}
	uploads := make([]UploadedFile, 0, len(p.Files))
	for _, f := range p.Files {
		uploads = append(uploads, UploadedFile{Name: f.Name, ContentType: f.ContentType, Data: f.Data})
	}
	if err := s.hub.Fill(r, MessageBody{Content: &p.Text}, uploads); err != nil {
		return Message{}, fmt.Errorf("send a message as %s: %w", author.Username, err)
	}
	s.hub.Post(r)
	return CopyMessage(r.Message), nil
}

// DeleteMessage deletes a message, as its author or a moderator.
func (s *Server) DeleteMessage(m Message) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if r := s.hub.Messages[m.ID]; r != nil && !r.Deleted {
		s.hub.DeleteRecord(r)
	}
}

// Messages returns the messages that everyone in the channel sees, oldest first.
func (s *Server) Messages(in Channel) []Message { return s.MessagesFor(in, User{}) }

// MessagesFor returns the messages that one person sees, including ephemeral messages to that person.
func (s *Server) MessagesFor(in Channel, viewer User) []Message {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	var list []Message
	for _, id := range s.hub.MessagesOf[in.ID] {
		r := s.hub.Messages[id]
		if r.ViewerID == "" || r.ViewerID == viewer.ID {
			list = append(list, CopyMessage(r.Message))
		}
	}
	return list
}

// Message returns the current version of a message, and false if there is none (any more).
func (s *Server) Message(id string) (Message, bool) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	r := s.hub.Messages[id]
	if r == nil || r.Deleted {
		return Message{}, false
	}
	return CopyMessage(r.Message), true
}

// History returns all versions of a message, oldest first; the first is the one that was sent. It includes deleted
// messages.
func (s *Server) History(id string) []Message {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if r := s.hub.Messages[id]; r != nil {
		return slices.Clone(r.Versions)
	}
	return nil
}

// Typing returns the typing indicators in the channel, oldest first.
func (s *Server) Typing(in Channel) []Typing {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.hub.Typing), func(t Typing) bool { return t.ChannelID != in.ID })
}
