package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
)

// session is what survives a lost connection.
type session struct {
	id       string
	bot      *account
	intents  Intents
	compress bool
	seq      int64
	backlog  []payload // all dispatches, for resuming
	conn     *conn     // nil while nobody is connected
}

// begin makes a session and sends READY and the guilds.
func (s *Server) begin(c *conn, bot *account, d identifyData) {
	ses := &session{id: "s" + s.newID(), bot: bot, intents: *d.Intents, compress: d.Compress, conn: c}
	s.sessions[ses.id] = ses
	c.session, c.bot = ses, bot.user.ID
	guilds := []map[string]any{}
	for _, g := range s.guildsOf(bot.user.ID) {
		guilds = append(guilds, map[string]any{"id": g.ID, "unavailable": true})
	}
	ready := map[string]any{
		"v": 9, "user": bot.user, "guilds": guilds, "session_id": ses.id, "resume_gateway_url": s.gatewayURL(),
		"application":      map[string]any{"id": bot.user.ID, "flags": 0},
		"private_channels": []any{},
	}
	if d.Shard != nil {
		ready["shard"] = d.Shard
	}
	s.dispatch(ses, "READY", ready)
	for _, g := range s.guildsOf(bot.user.ID) {
		s.sendGuild(ses, g)
	}
}

// replay sends what the client has missed, then RESUMED.
func (s *Server) replay(c *conn, ses *session, seq int64) {
	if old := ses.conn; old != nil {
		old.session = nil
		old.cut()
	}
	c.session, c.bot, ses.conn = ses, ses.bot.user.ID, c
	for _, p := range ses.backlog {
		if *p.Seq > seq {
			s.sendPayload(c, p)
		}
	}
	s.dispatch(ses, "RESUMED", map[string]any{"_trace": []string{"discordtest"}})
}

// dispatch numbers an event, keeps it for resuming and sends it.
func (s *Server) dispatch(ses *session, event string, data any) {
	d, err := json.Marshal(data)
	if err != nil {
		return
	}
	s.dispatchRaw(ses, event, d)
}

func (s *Server) dispatchRaw(ses *session, event string, d json.RawMessage) {
	ses.seq++
	seq := ses.seq
	p := payload{Op: opDispatch, Data: d, Seq: &seq, Type: &event}
	ses.backlog = append(ses.backlog, p)
	if ses.conn != nil {
		s.sendPayload(ses.conn, p)
	}
}

// sessionsInOrder gives a stable order to what has none.
func (s *Server) sessionsInOrder() []*session {
	list := make([]*session, 0, len(s.sessions))
	for _, ses := range s.sessions {
		list = append(list, ses)
	}
	slices.SortFunc(list, func(a, b *session) int { return strings.Compare(a.id, b.id) })
	return list
}

// dispatchIn sends an event to the sessions that see the channel and have asked
// for such events.
func (s *Server) dispatchIn(ch *Channel, event string, data any) {
	for _, ses := range s.audience(ch, event) {
		s.dispatch(ses, event, data)
	}
}

func (s *Server) audience(ch *Channel, event string) []*session {
	return slices.DeleteFunc(s.sessionsInOrder(), func(ses *session) bool {
		need := intentFor(event, ch.GuildID != "")
		return ses.intents&need != need || s.permissions(ch, ses.bot.user.ID)&ViewChannel == 0
	})
}

// dispatchMessage sends a message event, to each bot as far as it may read.
func (s *Server) dispatchMessage(event string, r *record) {
	ch := s.channels[r.ChannelID]
	for _, ses := range s.audience(ch, event) {
		out := s.asSent(r)
		out.Message = out.readableBy(ses.bot.user.ID, r.guildID, ses.intents&MessageContent != 0)
		s.dispatch(ses, event, out)
	}
}

// dispatchGuild sends an event to the sessions of bots in the guild.
func (s *Server) dispatchGuild(g *guild, event string, data any) {
	need := intentFor(event, true)
	for _, ses := range s.sessionsInOrder() {
		if ses.intents&need == need && g.member(ses.bot.user.ID) != nil {
			s.dispatch(ses, event, data)
		}
	}
}

func (s *Server) guildsOf(user string) []*guild {
	var list []*guild
	for _, g := range s.guilds {
		if g.member(user) != nil {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b *guild) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// sendGuild sends GUILD_CREATE. Members other than the bot need the intent.
func (s *Server) sendGuild(ses *session, g *guild) {
	if ses.intents&Guilds == 0 {
		return
	}
	members := g.members
	if ses.intents&GuildMembers == 0 {
		members = []*Member{g.member(ses.bot.user.ID)}
	}
	states := []VoiceState{}
	for _, v := range g.voice {
		states = append(states, v)
	}
	d := guildObject(g)
	d["joined_at"], d["large"], d["unavailable"], d["member_count"] = g.joined, false, false, len(g.members)
	d["members"], d["channels"], d["threads"] = members, s.channelsOf(g, false), s.channelsOf(g, true)
	d["voice_states"], d["presences"], d["stage_instances"] = states, []any{}, []any{}
	d["guild_scheduled_events"], d["soundboard_sounds"] = []any{}, []any{}
	s.dispatch(ses, "GUILD_CREATE", d)
}
