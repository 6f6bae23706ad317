package discord

import (
	"cmp"
	"encoding/json"
	"slices"

	"clank/voice"
)

// guildState is what the main gateway has reported about one guild's calls. It is guarded by Joiner.mu.
type guildState struct {
	present  map[string]presence // by user
	limits   map[string]int      // user limits of channels that have one
	session  voiceSession
	changed  chan struct{} // closed and replaced when seat changes
	line     *Line         // nil while we are in no call
	joinTurn chan struct{} // one join at a time
}

type presence struct {
	channel string
	person  voice.Person
	roles   []string
}

// voiceSession is our own voice state. The counters distinguish updates from earlier state.
type voiceSession struct {
	channel, sessionID string // empty channel: in none
	stateUpdates       int
	mutedReason        string // why Discord lets nobody hear us, for people; empty if it does not mute us
	token, endpoint    string // empty endpoint: there will be another
	serverUpdates      int
	resets             int // how often the main gateway has begun a new session
}

func (r *guildState) announce() {
	close(r.changed)
	r.changed = make(chan struct{})
}

type member struct {
	User *struct {
		ID         string `json:"id"`
		Username   string `json:"username"`
		GlobalName string `json:"global_name"`
		Bot        bool   `json:"bot"`
	} `json:"user"`
	Nick  string   `json:"nick"`
	Roles []string `json:"roles"`
}

func (m *member) person(id string) voice.Person {
	p := voice.Person{ID: id}
	if m != nil && m.User != nil {
		p.Name, p.Bot = cmp.Or(m.Nick, m.User.GlobalName, m.User.Username), m.User.Bot
	}
	return p
}

func (m *member) roleIDs() []string {
	if m == nil {
		return nil
	}
	return m.Roles
}

type voiceState struct {
	GuildID   string  `json:"guild_id"`
	ChannelID string  `json:"channel_id"`
	UserID    string  `json:"user_id"`
	SessionID string  `json:"session_id"`
	Mute      bool    `json:"mute"`     // by a moderator
	Suppress  bool    `json:"suppress"` // in the audience of a stage
	Member    *member `json:"member"`
}

// mutedReason returns, for people, why someone in this state is not heard.
func (s voiceState) mutedReason() string {
	switch {
	case s.ChannelID == "":
		return ""
	case s.Mute:
		return "a moderator has muted clank; they can unmute it in the list of the channel's people"
	case s.Suppress:
		return "clank is in the audience of this stage; a moderator can invite it to speak"
	}
	return ""
}

type voiceServer struct {
	GuildID  string `json:"guild_id"`
	Token    string `json:"token"`
	Endpoint string `json:"endpoint"`
}

type guildCreate struct {
	ID          string       `json:"id"`
	Unavailable bool         `json:"unavailable"`
	States      []voiceState `json:"voice_states"`
	Members     []*member    `json:"members"`
	Channels    []channel    `json:"channels"`
}

type channel struct {
	ID      string `json:"id"`
	GuildID string `json:"guild_id"`
	Limit   int    `json:"user_limit"` // 0 is none
}

// Dispatch handles the main gateway's dispatches in order; it does not block. Those that do not concern calls are
// ignored.
func (j *Joiner) Dispatch(kind string, data json.RawMessage) {
	var err error
	switch kind {
	case "READY":
		err = decodeDispatch(data, j.handleReady)
	case "GUILD_CREATE":
		err = decodeDispatch(data, j.handleGuildCreate)
	case "GUILD_DELETE":
		err = decodeDispatch(data, j.handleGuildDelete)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE":
		err = decodeDispatch(data, j.handleChannelUpdate)
	case "VOICE_STATE_UPDATE":
		err = decodeDispatch(data, j.handleVoiceState)
	case "VOICE_SERVER_UPDATE":
		err = decodeDispatch(data, j.handleVoiceServer)
	}
	if err != nil {
		j.logger().Warn("dispatch about calls could not be read", "kind", kind, "error", err)
	}
}

func decodeDispatch[T any](data json.RawMessage, then func(T)) error {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	then(v)
	return nil
}

// handleReady handles a new session of the main gateway: we are in no calls any more, and all voice states follow.
func (j *Joiner) handleReady(d struct {
	User struct {
		ID string `json:"id"`
	} `json:"user"`
},
) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.selfID = cmp.Or(d.User.ID, j.selfID)
	for _, r := range j.guilds {
		clear(r.present)
		r.session.resets++
		r.announce()
	}
}

func (j *Joiner) handleGuildCreate(d guildCreate) {
	if d.ID == "" || d.Unavailable {
		return
	}
	members := make(map[string]*member, len(d.Members))
	for _, m := range d.Members {
		if m != nil && m.User != nil {
			members[m.User.ID] = m
		}
	}
	j.mu.Lock()
	r := j.guildState(d.ID)
	clear(r.present)
	for _, s := range d.States {
		if s.ChannelID != "" {
			m := s.Member
			if m == nil {
				m = members[s.UserID]
			}
			r.present[s.UserID] = presence{s.ChannelID, m.person(s.UserID), m.roleIDs()}
		}
	}
	clear(r.limits)
	for _, c := range d.Channels {
		r.setLimit(c)
	}
	line := r.line
	j.mu.Unlock()
	if line != nil {
		line.syncPeople()
	}
}

func (j *Joiner) handleChannelUpdate(d channel) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.guilds[d.GuildID]; r != nil {
		r.setLimit(d)
	}
}

func (r *guildState) setLimit(c channel) {
	delete(r.limits, c.ID)
	if c.Limit > 0 {
		r.limits[c.ID] = c.Limit
	}
}

// channelFull reports whether a channel has reached its user limit.
func (j *Joiner) channelFull(r *guildState, channel string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for user, p := range r.present {
		if p.channel == channel && user != j.selfID {
			n++
		}
	}
	limit := r.limits[channel]
	return limit > 0 && n >= limit
}

func (j *Joiner) handleGuildDelete(d guildCreate) {
	if d.Unavailable {
		return // an outage of Discord's; the guild comes back
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.guilds[d.ID]; r != nil {
		clear(r.present)
		r.session.channel = ""
		r.session.stateUpdates++
		r.announce()
	}
}

func (j *Joiner) handleVoiceState(d voiceState) {
	if d.GuildID == "" || d.UserID == "" {
		return // a call between two people
	}
	j.mu.Lock()
	r := j.guildState(d.GuildID)
	before := r.present[d.UserID]
	now := presence{d.ChannelID, d.Member.person(d.UserID), d.Member.roleIDs()}
	if now.person.Name == "" {
		now.person, now.roles = before.person, before.roles
		now.person.ID = d.UserID
	}
	if d.ChannelID == "" {
		delete(r.present, d.UserID)
	} else {
		r.present[d.UserID] = now
	}
	if d.UserID == j.selfID {
		r.session.channel, r.session.sessionID = d.ChannelID, cmp.Or(d.SessionID, r.session.sessionID)
		r.session.mutedReason = d.mutedReason()
		r.session.stateUpdates++
		r.announce()
	}
	line := r.line
	own := d.UserID == j.selfID
	j.mu.Unlock()
	if line != nil && !own {
		line.handlePresence(before, now)
	}
}

func (j *Joiner) handleVoiceServer(d voiceServer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if d.GuildID == "" {
		return
	}
	r := j.guildState(d.GuildID)
	r.session.token, r.session.endpoint = d.Token, d.Endpoint
	r.session.serverUpdates++
	r.announce()
}

// guildState returns the state of a guild. The caller holds mu.
func (j *Joiner) guildState(guild string) *guildState {
	if j.guilds == nil {
		j.guilds = map[string]*guildState{}
	}
	r := j.guilds[guild]
	if r == nil {
		r = &guildState{
			present: map[string]presence{}, limits: map[string]int{}, changed: make(chan struct{}),
			joinTurn: make(chan struct{}, 1),
		}
		j.guilds[guild] = r
	}
	return r
}

// ChannelOf returns the voice channel in which a user is; ok is false if they are in none that we can see.
func (j *Joiner) ChannelOf(guild, user string) (channel string, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.guilds[guild]; r != nil {
		p, ok := r.present[user]
		return p.channel, ok
	}
	return "", false
}

// People returns the people in a voice channel, without ourselves, sorted by id.
func (j *Joiner) People(guild, channel string) []voice.Person {
	j.mu.Lock()
	defer j.mu.Unlock()
	var people []voice.Person
	if r := j.guilds[guild]; r != nil {
		for user, p := range r.present {
			if p.channel == channel && user != j.selfID {
				people = append(people, p.person)
			}
		}
	}
	slices.SortFunc(people, func(a, b voice.Person) int { return cmp.Compare(a.ID, b.ID) })
	return people
}

// Roles returns the ids of the roles that a user had in Discord's latest voice state of them.
func (j *Joiner) Roles(guild, user string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.guilds[guild]; r != nil {
		return r.present[user].roles
	}
	return nil
}

func (j *Joiner) person(guild, user string) voice.Person {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.guilds[guild]; r != nil {
		if p, ok := r.present[user]; ok {
			return p.person
		}
	}
	return voice.Person{ID: user}
}
