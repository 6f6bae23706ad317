package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
)

// session is the state that survives a lost connection.
type session struct {
	id      string
	Bot     *Account
	Intents Intents
	seq     int64
	backlog []gatewayPayload // all dispatches, for resuming
	Conn    *Conn            // nil while disconnected

	shard, shards int
}

// hears reports whether the session's shard is responsible for the guild; direct messages go to the first shard.
func (s *session) hears(guild string) bool {
	return int(SnowflakeNumber(guild)>>22)%s.shards == s.shard
}

// startSession creates a session and sends READY and the guilds.
func (s *hub) startSession(c *Conn, bot *Account, d identifyData) {
	ses := &session{id: "s" + s.NewID(), Bot: bot, Intents: *d.Intents, Conn: c, shard: d.Shard[0], shards: d.Shard[1]}
	s.Sessions[ses.id] = ses
	c.Session, c.Bot = ses, bot.User.ID
	guilds := []map[string]any{}
	ours := slices.DeleteFunc(s.GuildsOf(bot.User.ID), func(g *GuildState) bool { return !ses.hears(g.ID) })
	for _, g := range ours {
		guilds = append(guilds, map[string]any{"id": g.ID, "unavailable": true})
	}
	ready := map[string]any{
		"v": 9, "user": bot.User, "guilds": guilds, "session_id": ses.id, "resume_gateway_url": s.GatewayURL(),
		"application":      map[string]any{"id": bot.User.ID, "flags": 0},
		"private_channels": []any{},
	}
	if d.Shard[1] > 1 {
		ready["shard"] = d.Shard
	}
	s.Dispatch(ses, "READY", ready)
	for _, g := range ours {
		s.SendGuild(ses, g)
	}
}

// replay sends the missed events, then RESUMED.
func (s *hub) replay(c *Conn, ses *session, seq int64) {
	if old := ses.Conn; old != nil {
		old.Session = nil
		old.Cut()
	}
	c.Session, c.Bot, ses.Conn = ses, ses.Bot.User.ID, c
	for _, p := range ses.backlog {
		if *p.Seq > seq {
			s.sendPayload(c, p)
		}
	}
	s.Dispatch(ses, "RESUMED", map[string]any{"_trace": []string{"discordtest"}})
}

// Dispatch numbers an event, stores it for resuming and sends it.
func (s *hub) Dispatch(ses *session, event string, data any) {
	d, err := json.Marshal(data)
	if err != nil {
		return
	}
	s.DispatchRaw(ses, event, d)
}

// DispatchRaw dispatches an event with encoded data.
func (s *hub) DispatchRaw(ses *session, event string, d json.RawMessage) {
	ses.seq++
	seq := ses.seq
	p := gatewayPayload{Op: opDispatch, Data: d, Seq: &seq, Type: &event}
	ses.backlog = append(ses.backlog, p)
	if ses.Conn != nil {
		s.sendPayload(ses.Conn, p)
	}
}

// SessionsInOrder returns the sessions in a stable order.
func (s *hub) SessionsInOrder() []*session {
	list := make([]*session, 0, len(s.Sessions))
	for _, ses := range s.Sessions {
		list = append(list, ses)
	}
	slices.SortFunc(list, func(a, b *session) int { return strings.Compare(a.id, b.id) })
	return list
}

// DispatchIn sends an event to the sessions that see the channel and have the required intents.
func (s *hub) DispatchIn(ch *Channel, event string, data any) {
	for _, ses := range s.audience(ch, event) {
		s.Dispatch(ses, event, data)
	}
}

func (s *hub) audience(ch *Channel, event string) []*session {
	return slices.DeleteFunc(s.SessionsInOrder(), func(ses *session) bool {
		need := IntentFor(event, ch.GuildID != "")
		return ses.Intents&need != need || !ses.hears(ch.GuildID) || s.Permissions(ch, ses.Bot.User.ID)&ViewChannel == 0
	})
}

// DispatchMessage sends a message event, to each bot with the content it may read.
func (s *hub) DispatchMessage(event string, r *MessageRecord) {
	ch := s.Channels[r.ChannelID]
	for _, ses := range s.audience(ch, event) {
		out := s.AsSent(r)
		out.Message = out.ReadableBy(ses.Bot.User.ID, r.GuildID, ses.Intents&MessageContent != 0)
		s.Dispatch(ses, event, out)
	}
}

// DispatchGuild sends an event to the sessions of bots in the guild.
func (s *hub) DispatchGuild(g *GuildState, event string, data any) {
	need := IntentFor(event, true)
	for _, ses := range s.SessionsInOrder() {
		if ses.Intents&need == need && ses.hears(g.ID) && g.Member(ses.Bot.User.ID) != nil {
			s.Dispatch(ses, event, data)
		}
	}
}

// GuildsOf returns the guilds of a user, sorted by id.
func (s *hub) GuildsOf(user string) []*GuildState {
	var list []*GuildState
	for _, g := range s.Guilds {
		if g.Member(user) != nil {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b *GuildState) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// SendGuild sends GUILD_CREATE. Members other than the bot need the intent.
func (s *hub) SendGuild(ses *session, g *GuildState) {
	if ses.Intents&Guilds == 0 {
		return
	}
	members := g.Members
	if ses.Intents&GuildMembers == 0 {
		members = []*Member{g.Member(ses.Bot.User.ID)}
	}
	states := []VoiceState{}
	for _, v := range g.Voice {
		states = append(states, v)
	}
	d := GuildObject(g)
	d["joined_at"], d["large"], d["unavailable"], d["member_count"] = g.Joined, false, false, len(g.Members)
	d["members"], d["channels"], d["threads"] = members, s.ChannelsOf(g, false), s.ChannelsOf(g, true)
	d["voice_states"], d["presences"], d["stage_instances"] = states, []any{}, []any{}
	d["guild_scheduled_events"], d["soundboard_sounds"] = []any{}, []any{}
	s.Dispatch(ses, "GUILD_CREATE", d)
}

// Intents are the gateway intents of a session.
type Intents int

// Supported intents, with Discord's numbers.
const (
	Guilds           Intents = 1 << 0
	GuildMembers     Intents = 1 << 1 // privileged
	GuildVoiceStates Intents = 1 << 7
	GuildPresences   Intents = 1 << 8 // privileged
	GuildMessages    Intents = 1 << 9
	GuildReactions   Intents = 1 << 10
	GuildTyping      Intents = 1 << 11
	DirectMessages   Intents = 1 << 12
	DirectReactions  Intents = 1 << 13
	DirectTyping     Intents = 1 << 14
	MessageContent   Intents = 1 << 15 // privileged

	Privileged = GuildMembers | GuildPresences | MessageContent

	// Defined are the intents that Discord knows; others are rejected with 4013.
	Defined Intents = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

// IntentFor returns the intents required for an event, 0 for none.
func IntentFor(event string, inGuild bool) Intents {
	pick := func(guild, direct Intents) Intents {
		if inGuild {
			return guild
		}
		return direct
	}
	switch {
	case strings.HasPrefix(event, "MESSAGE_REACTION_"):
		return pick(GuildReactions, DirectReactions)
	case strings.HasPrefix(event, "MESSAGE_"):
		return pick(GuildMessages, DirectMessages)
	case event == "TYPING_START":
		return pick(GuildTyping, DirectTyping)
	case event == "VOICE_STATE_UPDATE":
		return GuildVoiceStates
	case strings.HasPrefix(event, "GUILD_MEMBER_"):
		return GuildMembers
	case strings.HasPrefix(event, "GUILD_"), strings.HasPrefix(event, "CHANNEL_"), strings.HasPrefix(event, "THREAD_"):
		return Guilds
	default:
		return 0
	}
}
