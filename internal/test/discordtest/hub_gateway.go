package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"clank/internal/test/discordtest/voicetest"

	"github.com/coder/websocket"
)

// Gateway opcodes.
const (
	opDispatch       = 0
	OpHeartbeat      = 1
	opIdentify       = 2
	opVoiceState     = 4
	opResume         = 6
	OpReconnect      = 7
	OpInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// Gateway close codes.
const (
	CloseUnknownOpcode     = 4001
	CloseDecodeError       = 4002
	CloseNotAuthenticated  = 4003
	CloseAuthFailed        = 4004
	CloseAlreadyAuthed     = 4005
	CloseInvalidSeq        = 4007
	CloseRateLimited       = 4008
	CloseSessionTimedOut   = 4009
	CloseInvalidShard      = 4010
	CloseShardingRequired  = 4011
	CloseInvalidVersion    = 4012
	CloseInvalidIntents    = 4013
	CloseDisallowedIntents = 4014
)

// Documented limits of what a client may send.
const (
	maxFrame      = 4096
	framesAMinute = 120
)

// Gateway is all connections and sessions. The server's lock guards it.
type Gateway struct {
	Conns    map[*Conn]bool
	Sessions map[string]*session
}

func newGateway() Gateway {
	return Gateway{Conns: map[*Conn]bool{}, Sessions: map[string]*session{}}
}

// Conn is one connection of a client. The server's lock guards its fields.
type Conn struct {
	*voicetest.Socket
	Session *session // nil before identify
	Bot     string
	sent    []time.Time // when the client sent, within the last minute
	silence *time.Timer // fires when no heartbeat comes
	Closing int         // the code the server closes with, 0 when it does not
}

// AcceptGateway serves a connection of the main gateway, from its first byte to its last.
func (s *hub) AcceptGateway(w http.ResponseWriter, r *http.Request) {
	c := &Conn{Socket: voicetest.Accept(w, r)}
	if c.Socket == nil || !s.addConn(c) {
		return
	}
	query := r.URL.Query()
	switch version := query.Get("v"); {
	case version != "9" && version != "10":
		s.closeConn(c, CloseInvalidVersion, "Invalid API version")
	case query.Get("encoding") != "" && query.Get("encoding") != "json":
		s.closeConn(c, CloseDecodeError, "Only JSON is spoken here")
	}
	c.Run(func(_ websocket.MessageType, data []byte) {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if c.Closing == 0 {
			s.receive(c, data)
		}
		s.Notify()
	}, func(code int) { s.removeConn(c, code) })
}

// addConn registers the connection and says hello.
func (s *hub) addConn(c *Conn) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Closed {
		c.Cut()
		return false
	}
	s.Conns[c] = true
	interval := s.Config.HeartbeatInterval
	c.silence = time.AfterFunc(s.silence(), func() { s.closeConn(c, CloseSessionTimedOut, "Session timed out") })
	s.SendOp(c, opHello, map[string]any{"heartbeat_interval": interval.Milliseconds(), "_trace": []string{"discordtest"}})
	return true
}

// removeConn forgets the connection. A client that says goodbye with 1000 or 1001
// gives up its session; any other end leaves it to be resumed.
func (s *hub) removeConn(c *Conn, code int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c.silence.Stop()
	delete(s.Conns, c)
	end := Disconnect{Code: code}
	if c.Closing != 0 {
		end.Code, end.ByServer = c.Closing, true
	}
	s.Disconnects = append(s.Disconnects, end)
	if c.Session != nil && c.Session.Conn == c {
		c.Session.Conn = nil
		goodbye := websocket.StatusCode(code) == websocket.StatusNormalClosure || websocket.StatusCode(code) == websocket.StatusGoingAway
		if goodbye && c.Closing == 0 {
			delete(s.Sessions, c.Session.id)
			s.LeaveCalls(c.Session)
		}
	}
	s.Notify()
}

// closeConn closes one connection with a code. The session stays.
func (s *hub) closeConn(c *Conn, code int, reason string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.CloseConn(c, code, reason)
}

// CloseConn closes c as closeConn does. The caller holds the lock.
func (s *hub) CloseConn(c *Conn, code int, reason string) {
	if c.Closing != 0 {
		return
	}
	c.Closing = code
	if c.Session != nil && c.Session.Conn == c {
		c.Session.Conn = nil
	}
	c.Close(code, reason)
}

// gatewayPayload is the envelope of all gateway messages.
type gatewayPayload struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type *string         `json:"t"`
}

// SendOp sends a message that is not an event.
func (s *hub) SendOp(c *Conn, op int, data any) {
	d, err := json.Marshal(data)
	if err != nil {
		return
	}
	s.sendPayload(c, gatewayPayload{Op: op, Data: d})
}

func (s *hub) sendPayload(c *Conn, p gatewayPayload) {
	text, err := json.Marshal(p)
	if err != nil {
		return
	}
	c.Send(websocket.MessageText, text)
}

// receive deals with one message of a client. The lock is held.
func (s *hub) receive(c *Conn, data []byte) {
	var p gatewayPayload
	if err := json.Unmarshal(data, &p); err != nil || len(data) > maxFrame {
		s.Frames = append(s.Frames, Frame{Op: -1})
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	s.Frames = append(s.Frames, Frame{p.Op, p.Data})
	if s.rateLimited(c) {
		s.CloseConn(c, CloseRateLimited, "You are being rate limited.")
		return
	}
	authenticated := c.Session != nil
	switch p.Op {
	case OpHeartbeat:
		c.silence.Reset(s.silence())
		if !s.WithholdACKs {
			s.SendOp(c, opHeartbeatAck, nil)
		}
	case opIdentify, opResume:
		switch {
		case authenticated:
			s.CloseConn(c, CloseAlreadyAuthed, "Already authenticated.")
		case p.Op == opIdentify:
			s.identify(c, p.Data)
		default:
			s.resume(c, p.Data)
		}
	case opVoiceState, opStreamCreate, opStreamDelete, opStreamPing, opStreamPause:
		s.command(c, p)
	default:
		s.CloseConn(c, CloseUnknownOpcode, "Unknown opcode.")
	}
}

// command deals with what only a signed-in client may send.
func (s *hub) command(c *Conn, p gatewayPayload) {
	if c.Session == nil {
		s.CloseConn(c, CloseNotAuthenticated, "Not authenticated.")
		return
	}
	var ok bool
	switch p.Op {
	case opVoiceState:
		ok = s.updateVoice(c.Session, p.Data)
	default:
		ok = s.streamCommand(c.Session, p.Op, p.Data)
	}
	if !ok {
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
	}
}

// rateLimited counts what the client sent within the last minute.
func (s *hub) rateLimited(c *Conn) bool {
	now := s.Now()
	c.sent = append(slices.DeleteFunc(c.sent, func(t time.Time) bool { return now.Sub(t) >= time.Minute }), now)
	return len(c.sent) > framesAMinute
}

// identifyData is op 2. Pointers tell what is missing.
type identifyData struct {
	Token      string          `json:"token"`
	Properties json.RawMessage `json:"properties"`
	Intents    *Intents        `json:"intents"`
	Shard      *[2]int         `json:"shard"`
}

func (s *hub) identify(c *Conn, data json.RawMessage) {
	var d identifyData
	if err := json.Unmarshal(data, &d); err != nil || d.Properties == nil {
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	if d.Shard == nil {
		d.Shard = &[2]int{0, 1}
	}
	bot := s.accountForToken(d.Token)
	if d.Intents == nil && bot != nil && !bot.User.Bot {
		everything := Defined
		d.Intents = &everything // people hear of all
	}
	switch {
	case d.Intents == nil:
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
	case bot == nil:
		s.CloseConn(c, CloseAuthFailed, "Authentication failed.")
	case *d.Intents&^Defined != 0:
		s.CloseConn(c, CloseInvalidIntents, "Invalid intent(s).")
	case *d.Intents&bot.Forbidden != 0:
		s.CloseConn(c, CloseDisallowedIntents, "Disallowed intent(s).")
	case d.Shard[0] < 0 || d.Shard[0] >= d.Shard[1]:
		s.CloseConn(c, CloseInvalidShard, "Invalid shard.")
	case d.Shard[1] < bot.fewestShards:
		s.CloseConn(c, CloseShardingRequired, "Sharding required.")
	case s.tooSoon(bot, d.Shard[0]):
		s.SendOp(c, OpInvalidSession, false)
	default:
		s.startSession(c, bot, d)
	}
}

// tooSoon reports whether the bucket of the shard has begun a session just now, and otherwise notes that it does.
func (s *hub) tooSoon(bot *Account, shard int) bool {
	bucket := shard % max(1, bot.atOnce)
	if s.Now().Sub(bot.begun[bucket]) < s.Config.IdentifyInterval {
		return true
	}
	if bot.begun == nil {
		bot.begun = make(map[int]time.Time)
	}
	bot.begun[bucket] = s.Now()
	return false
}

// accountForToken finds the account for a token as the gateway is given it: a bot's may
// come without the word "Bot".
func (s *hub) accountForToken(token string) *Account {
	if a := s.AccountWith(token); a != nil {
		return a
	}
	return s.AccountWith("Bot " + token)
}

func (s *hub) resume(c *Conn, data json.RawMessage) {
	var d struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int64  `json:"seq"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	bot := s.accountForToken(d.Token)
	found := s.Sessions[d.SessionID]
	switch {
	case bot == nil:
		s.CloseConn(c, CloseAuthFailed, "Authentication failed.")
	case found == nil || found.Bot != bot:
		s.SendOp(c, OpInvalidSession, false)
	case d.Seq > found.seq || d.Seq < 0:
		delete(s.Sessions, found.id)
		s.CloseConn(c, CloseInvalidSeq, "Invalid seq.")
	default:
		s.replay(c, found, d.Seq)
	}
}

// session is what survives a lost connection.
type session struct {
	id      string
	Bot     *Account
	Intents Intents
	seq     int64
	backlog []gatewayPayload // all dispatches, for resuming
	Conn    *Conn            // nil while nobody is connected

	shard, shards int
}

// hears reports whether the session's shard is that of the guild; direct messages are of the first.
func (s *session) hears(guild string) bool {
	return int(SnowflakeNumber(guild)>>22)%s.shards == s.shard
}

// startSession makes a session and sends READY and the guilds.
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
		return ses.Intents&need != need || !ses.hears(ch.GuildID) || s.Permissions(ch, ses.Bot.User.ID)&ViewChannel == 0
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
		if ses.Intents&need == need && ses.hears(g.ID) && g.Member(ses.Bot.User.ID) != nil {
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

// Intents is what a gateway session asks to hear of.
type Intents int

// Intents that matter here, with Discord's numbers.
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

	// defined are the bits that Discord knows; others are refused with 4013.
	Defined Intents = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25
)

// IntentFor returns the intents that a session needs to be sent the event, 0 for none.
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
