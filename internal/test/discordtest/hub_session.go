package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
)

// session is what survives a lost connection.
type session struct {
	id      string
	Bot     *Account
	Intents Intents
	seq     int64
	backlog []gatewayPayload // all dispatches, for resuming
	Conn    *Conn            // nil while nobody is connected
}

// startSession makes a session and sends READY and the guilds.
func (s *hub) startSession(c *Conn, bot *Account, d identifyData) {
	ses := &session{id: "s" + s.NewID(), Bot: bot, Intents: *d.Intents, Conn: c}
	s.Sessions[ses.id] = ses
	c.Session, c.Bot = ses, bot.User.ID
	guilds := []map[string]any{}
	for _, g := range s.GuildsOf(bot.User.ID) {
		guilds = append(guilds, map[string]any{"id": g.ID, "unavailable": true})
	}
	ready := map[string]any{
		"v": 9, "user": bot.User, "guilds": guilds, "session_id": ses.id, "resume_gateway_url": s.GatewayURL(),
		"application":      map[string]any{"id": bot.User.ID, "flags": 0},
		"private_channels": []any{},
	}
	if d.Shard != nil {
		ready["shard"] = d.Shard
	}
	s.Dispatch(ses, "READY", ready)
	for _, g := range s.GuildsOf(bot.User.ID) {
		s.SendGuild(ses, g)
	}
}

// replay sends what the client has missed, then RESUMED.
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

// Dispatch numbers an event, keeps it for resuming and sends it.
func (s *hub) Dispatch(ses *session, event string, data any) {
	d, err := json.Marshal(data)
	if err != nil {
		return
	}
	s.DispatchRaw(ses, event, d)
}

// DispatchRaw sends an event whose data is written already.
func (s *hub) DispatchRaw(ses *session, event string, d json.RawMessage) {
	ses.seq++
	seq := ses.seq
	p := gatewayPayload{Op: opDispatch, Data: d, Seq: &seq, Type: &event}
	ses.backlog = append(ses.backlog, p)
	if ses.Conn != nil {
		s.sendPayload(ses.Conn, p)
	}
}

// SessionsInOrder gives a stable order to what has none.
func (s *hub) SessionsInOrder() []*session {
	list := make([]*session, 0, len(s.Sessions))
	for _, ses := range s.Sessions {
		list = append(list, ses)
	}
	slices.SortFunc(list, func(a, b *session) int { return strings.Compare(a.id, b.id) })
	return list
}

// DispatchIn sends an event to the sessions that see the channel and have asked
// for such events.
func (s *hub) DispatchIn(ch *Channel, event string, data any) {
	for _, ses := range s.audience(ch, event) {
		s.Dispatch(ses, event, data)
	}
}

func (s *hub) audience(ch *Channel, event string) []*session {
	return slices.DeleteFunc(s.SessionsInOrder(), func(ses *session) bool {
		need := IntentFor(event, ch.GuildID != "")
		return ses.Intents&need != need || s.Permissions(ch, ses.Bot.User.ID)&ViewChannel == 0
	})
}

// DispatchMessage sends a message event, to each bot as far as it may read.
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
		if ses.Intents&need == need && g.Member(ses.Bot.User.ID) != nil {
			s.Dispatch(ses, event, data)
		}
	}
}

// GuildsOf lists the guilds that a user is in, in the order of their ids.
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
