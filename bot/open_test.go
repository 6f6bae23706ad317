package bot_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/bot"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*stage)
		want  string
	}{
		"no token":       {func(s *stage) { s.bot.Token = "" }, "DISCORD_TOKEN"},
		"wrong token":    {func(s *stage) { s.bot.Token = "wrong" }, "does not accept the token"},
		"too few shards": {func(s *stage) { s.SetShards(s.account, 1, 1, 2) }, "more servers than"},
		"nobody answers": {func(s *stage) {
			s.bot.HTTPClient = &http.Client{Transport: unreachable{}}
			s.bot.OpenTimeout = 500 * time.Millisecond
		}, "no connection to Discord in time; the last try failed: ask where the gateway is"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			tc.spoil(s)
			err := s.bot.Open(s.ctx())
			check.Fails(t, err, nil, tc.want)
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the token: %v", err)
			}
			s.close()
		})
	}
}

func TestTheBotKnowsWhoItIsOnceItIsOpen(t *testing.T) {
	s := newStage(t)
	if id, name := s.bot.UserID(), s.bot.UserName(); id != "" || name != "" {
		t.Errorf("before Open it is %q, %q", id, name)
	}
	s.open()
	if id, name := s.bot.UserID(), s.bot.UserName(); id != s.account.ID || name != "clank" {
		t.Errorf("it is %q, %q, want %q, clank", id, name, s.account.ID)
	}
}

type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route")
}

func TestCommandsAreRegisteredOnlyWhenTheyChange(t *testing.T) {
	s := newStage(t)
	s.bot.Runtimes = []string{"local_browser_agent", "openai_computer_use"}
	s.open()
	s.close()
	if got := s.Commands(s.account); len(got) != 3 || got[0].Name != "clank" || len(got[0].Options) != 3 {
		t.Fatalf("commands = %+v", got)
	}
	again := func(runtimes ...string) {
		b := &bot.Bot{
			Token: "secret", Host: s.host, Files: s.bot.Files, Scopes: s.scopes, Base: s.URL,
			HTTPClient: s.bot.HTTPClient, Runtimes: runtimes,
		}
		check.Must(t, b.Open(s.ctx()))
		check.Must(t, b.Close(s.ctx()))
	}
	again(s.bot.Runtimes...)
	check.Equal(t, "times written", len(s.RequestsTo(discordtest.RouteSetCommands)), 1)
	again("one", "two")
	check.Equal(t, "times written after a change", len(s.RequestsTo(discordtest.RouteSetCommands)), 2)
}

func TestAFailureToRegisterDoesNotKeepTheBotAway(t *testing.T) {
	s := newStage(t)
	s.FailNext(discordtest.RouteSetCommands, http.StatusForbidden)
	s.open()
	if !s.Connected(s.account) {
		t.Error("not connected")
	}
}

func TestTheBotSurvivesWhatAGatewayCanSay(t *testing.T) {
	s := newStage(t)
	s.plainBrain()
	s.open()
	alive := func(what string) {
		t.Helper()
		if err := s.WaitConnected(s.ctx(), s.account); err != nil {
			t.Fatalf("after %s: %v", what, err)
		}
		s.say(s.room, s.ada, s.account.Mention()+" "+what)
		k := s.next()
		if k.Prompt != what {
			t.Fatalf("prompt = %q, want %q", k.Prompt, what)
		}
		k.done("alive after " + what)
		s.message(s.room, "alive after "+what)
	}
	for what, event := range map[string][2]string{
		"no message":          {"MESSAGE_CREATE", "null"},
		"a message of nobody": {"MESSAGE_CREATE", `{"content":"stop"}`},
		"a broken message":    {"MESSAGE_CREATE", `{"author":"ada","content":7}`},
		"no interaction":      {"INTERACTION_CREATE", "null"},
		"an unknown kind": {
			"INTERACTION_CREATE",
			`{"id":"1","token":"t","type":99,"member":{"user":{"id":"1"}},"data":{}}`,
		},
		"an interaction by none": {"INTERACTION_CREATE", `{"id":"1","token":"t","type":2,"data":{"name":"clank"}}`},
		"a command of nothing": {
			"INTERACTION_CREATE",
			`{"id":"1","token":"t","type":2,"user":{"id":"1"},"data":{"name":"clank","options":[null]}}`,
		},
		"options of any type": {
			"INTERACTION_CREATE",
			`{"id":"1","token":"t","type":3,"user":{"id":"1"},"data":{"custom_id":"clank:stop:"}}`,
		},
		"no guild":             {"GUILD_CREATE", "null"},
		"a guild of nulls":     {"GUILD_CREATE", `{"id":"1","channels":[null],"roles":[null],"members":[null]}`},
		"a role of nothing":    {"GUILD_ROLE_UPDATE", `{"guild_id":"1","role":null}`},
		"an event of tomorrow": {"THING_HAPPENED", "[]"},
	} {
		check.Must(t, s.Dispatch(s.account, event[0], event[1]))
		alive(what)
	}
	for what, raw := range map[string]string{"null": "null", "garbage": "{", "an unknown operation": `{"op":77,"d":{}}`} {
		check.Must(t, s.SendRaw(s.account, raw))
		alive(what)
	}
}

func TestARevokedTokenEndsTheBotWithAReason(t *testing.T) {
	s := openStage(t)
	s.RevokeToken(s.account)
	select {
	case <-s.bot.Done():
	case <-s.ctx().Done():
		t.Fatal("the bot goes on")
	}
	check.Fails(t, s.bot.Err(), nil, "does not accept the token")
}

func TestCloseSaysGoodbyeAndStopsTheWork(t *testing.T) {
	s := openStage(t)
	it := s.browse(s.ada, discordtest.Args{"task": "lamps"})
	s.next()
	s.close()
	check.Contains(t, s.answer(it, "").Text(), "Shutting down.")
	check.Must(t, s.Wait(s.ctx(), "the goodbye", func() bool { return len(s.Disconnects()) == 1 }))
	if got := s.Disconnects()[0]; got.Code != 1000 || got.ByServer {
		t.Errorf("disconnect = %+v, want code 1000 from the bot", got)
	}
	check.Must(t, s.bot.Err())
	check.Must(t, s.bot.Close(context.Background())) // second Close
}
