package discord_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
)

const shardCount = 5

// sharded is a bot on a server of each shard.
type sharded struct {
	town
	shards *discord.Shards
	rooms  [shardCount]discordtest.Channel
	heard  chan heard
}

func openShards(t *testing.T) *sharded {
	t.Helper()
	const wait = 10 * time.Millisecond
	w := &sharded{town: newTown(t, discordtest.Config{IdentifyInterval: 5 * wait * 4 / 5}), heard: make(chan heard, 1000)}
	t.Parallel()
	w.SetShards(w.bot, shardCount, 2, shardCount)
	rest := discord.REST{Token: w.bot.Token, Base: w.URL}
	w.shards = &discord.Shards{
		Token: w.bot.Token, Intents: 1 | 1<<7 | 1<<9 | 1<<15, Ask: rest.Gateway, MinWait: wait,
		OnDispatch: func(_ int, kind string, data json.RawMessage) { w.heard <- heard{kind, string(data)} },
	}
	for found := 0; found < shardCount; {
		w.Advance(time.Millisecond) // ids of servers count milliseconds, and shards are chosen by them
		g := w.CreateGuild("server", w.ada)
		if at := shardOf(g.ID); w.rooms[at].ID == "" {
			w.AddMember(g, w.bot.User)
			w.rooms[at] = w.CreateChannel(g, "general")
			found++
		}
	}
	check.Must(t, w.shards.Open(voicetest.Deadline(t)))
	check.Must(t, w.Wait(voicetest.Deadline(t), "all shards", func() bool { return len(w.Shards(w.bot)) == shardCount }))
	t.Cleanup(func() { check.Must(t, w.shards.Close(context.Background())) })
	return w
}

func shardOf(guild string) int { return int(discordtest.SnowflakeNumber(guild)>>22) % shardCount }

func TestEachShardHearsOfItsServersOnce(t *testing.T) {
	w := openShards(t)
	if got := w.Shards(w.bot); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("connected are %v", got)
	}
	if gone := w.Disconnects(); len(gone) > 0 {
		t.Errorf("sessions were begun too fast: %v", gone)
	}
	for n, room := range w.rooms {
		if got := w.shards.Of(room.GuildID); got != n {
			t.Errorf("server %s is said to be of shard %d, not %d", room.GuildID, got, n)
		}
		_, err := w.SendMessage(room, w.ada, "to "+room.ID)
		check.Must(t, err)
		awaitMessage(t, w.heard, "to "+room.ID)
		check.Must(t, w.shards.Send(t.Context(), opVoiceState, map[string]any{
			"guild_id": room.GuildID, "channel_id": nil, "self_mute": false, "self_deaf": false,
		}))
	}
	check.Must(t, check.Err(w.WaitReceived(voicetest.Deadline(t), opVoiceState, shardCount-1)))
	if gone := w.Disconnects(); len(gone) > 0 {
		t.Errorf("something was sent over the shard of another server: %v", gone)
	}
	for n, s := range w.shards.States() {
		if s.Shard != n || !s.Connected || s.Err != nil || s.Since.IsZero() {
			t.Errorf("state of shard %d: %+v", n, s)
		}
	}
	check.Must(t, w.shards.Close(voicetest.Deadline(t)))
	for len(w.heard) > 0 {
		if h := <-w.heard; h.kind == "MESSAGE_CREATE" {
			t.Errorf("heard twice: %s", h.data)
		}
	}
}

func TestAShardThatIsLostComesBackAlone(t *testing.T) {
	w := openShards(t)
	hold := w.HoldNext(discordtest.RouteGatewayBot)
	check.Must(t, w.CloseShard(w.bot, 3, discordtest.CloseSessionTimedOut))
	select {
	case <-hold.Arrived():
	case <-voicetest.Deadline(t).Done():
		t.Fatal("it does not come back")
	}
	for n, s := range w.shards.States() {
		if s.Connected != (n != 3) || (s.Err != nil) != (n == 3) {
			t.Errorf("meanwhile: state of shard %d: %+v", n, s)
		}
	}
	_, err := w.SendMessage(w.rooms[1], w.ada, "meanwhile")
	check.Must(t, err)
	awaitMessage(t, w.heard, "meanwhile")
	hold.Release()
	check.Must(t, w.Wait(voicetest.Deadline(t), "the shard", func() bool { return len(w.Shards(w.bot)) == shardCount }))
	_, err = w.SendMessage(w.rooms[3], w.ada, "again")
	check.Must(t, err)
	awaitMessage(t, w.heard, "again")
	if gone := w.Disconnects(); len(gone) != 1 {
		t.Errorf("others were disconnected, too: %v", gone)
	}
}
