package endurance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"clank/internal/test/discordtest/voicetest"
	"clank/voice/discord"
)

// us is the account that the calls are about.
const us = "900"

// mainGateway is the main gateway, as far as calls need one: who is where, and which voice server is for them.
type mainGateway struct {
	voice  *voicetest.Server
	joiner *discord.Joiner

	mu       sync.Mutex
	count    int
	rooms    map[string]string   // our channel by guild
	gateways map[string][]string // of a guild's calls; the first is in use
}

func newMainGateway(voice *voicetest.Server) *mainGateway {
	return &mainGateway{voice: voice, rooms: map[string]string{}, gateways: map[string][]string{}}
}

// ticket lets somebody into a channel.
func (h *mainGateway) ticket(guild, channel, user string) voicetest.Credentials {
	h.mu.Lock()
	h.count++
	n := strconv.Itoa(h.count)
	h.mu.Unlock()
	group, _ := strconv.ParseUint(channel, 10, 64) // the tests' own
	t := voicetest.Credentials{
		ClientID: voicetest.ClientID{Server: guild, User: user}, Room: channel, Session: "s" + n, Token: "t" + n,
		Group: group, NoVideo: true,
	}
	h.voice.Admit(t)
	return t
}

// send takes op 4 of ours.
func (h *mainGateway) send(_ context.Context, _ int, d any) error {
	m, _ := d.(map[string]any)
	guild, _ := m["guild_id"].(string)
	to, _ := m["channel_id"].(*string)
	if to == nil {
		h.place(guild, "", "")
		h.voice.Revoke(voicetest.ClientID{Server: guild, User: us}, 4014, "Disconnected.")
		return nil
	}
	h.assign(guild, *to)
	return nil
}

// gateway returns the gateway of a guild's calls.
func (h *mainGateway) gateway(guild string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gateways[guild][0]
}

// open gives a guild's calls two gateways to be moved between.
func (h *mainGateway) open(guild string) error {
	for range 2 {
		at, err := h.voice.Endpoint()
		if err != nil {
			return err
		}
		h.gateways[guild] = append(h.gateways[guild], at)
	}
	return nil
}

// assign gives us a place in a channel, and tells of its voice server.
func (h *mainGateway) assign(guild, channel string) {
	t := h.ticket(guild, channel, us)
	h.place(guild, channel, t.Session)
	h.tell(guild, t.Token)
}

func (h *mainGateway) place(guild, channel, session string) {
	h.mu.Lock()
	h.rooms[guild] = channel
	h.mu.Unlock()
	h.dispatch("VOICE_STATE_UPDATE", map[string]any{
		"guild_id": guild, "channel_id": channel, "user_id": us, "session_id": session,
	})
}

func (h *mainGateway) tell(guild, token string) {
	h.dispatch("VOICE_SERVER_UPDATE", map[string]any{"guild_id": guild, "token": token, "endpoint": "ws://" +
		h.gateway(guild)})
}

// person tells of somebody else.
func (h *mainGateway) person(guild, channel, user string) {
	h.dispatch("VOICE_STATE_UPDATE", map[string]any{
		"guild_id": guild, "channel_id": channel, "user_id": user,
		"member": map[string]any{"user": map[string]any{"id": user, "username": "person " + user}},
	})
}

// where returns our channel in a guild.
func (h *mainGateway) where(guild string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[guild]
}

// move moves us to another channel, as a moderator does.
func (h *mainGateway) move(guild, channel string) {
	h.voice.Revoke(voicetest.ClientID{Server: guild, User: us}, 4014, "Disconnected.")
	h.assign(guild, channel)
}

// relocate gives the guild's calls another voice server.
func (h *mainGateway) relocate(guild string) {
	h.mu.Lock()
	slices.Reverse(h.gateways[guild])
	h.mu.Unlock()
	h.dispatch("VOICE_SERVER_UPDATE", map[string]any{"guild_id": guild, "token": "", "endpoint": nil})
	h.voice.Revoke(voicetest.ClientID{Server: guild, User: us}, 4014, "The server is going away.")
	h.assign(guild, h.where(guild))
}

func (h *mainGateway) dispatch(kind string, d any) {
	data, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("write a dispatch: %v", err)) // of the tests' own making
	}
	h.joiner.Dispatch(kind, data)
}
