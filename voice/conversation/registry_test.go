package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"

	"github.com/google/go-cmp/cmp"
)

// session is a call that lasts until it is ended, or breaks.
type session struct{ breaks chan error }

func (s session) Run(ctx context.Context) error {
	select {
	case err := <-s.breaks:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// house is a registry and what happens in it.
type house struct {
	*conversation.CallRegistry

	policy  conversation.CallPolicy
	in      map[string]string // voice channel by user
	breaks  chan error
	begin   func(ctx context.Context) error // before a call is joined
	movedTo string                          // the channel in which our call is now; empty: where it was joined

	mu   sync.Mutex
	news []string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{
		policy: conversation.CallPolicy{Enabled: true}, in: map[string]string{"ada": "v", "bob": "w"},
		breaks: make(chan error, 1),
	}
	h.CallRegistry = &conversation.CallRegistry{Host: h}
	t.Cleanup(func() {
		check.Must(t, h.Close(context.WithoutCancel(t.Context()), &cancel.Cause{Reason: cancel.ShuttingDown}))
	})
	return h
}

func (h *house) StartCall(ctx context.Context, _ conversation.CallInfo) (conversation.CallRunner, error) {
	if h.begin != nil {
		if err := h.begin(ctx); err != nil {
			return nil, err
		}
	}
	return session{h.breaks}, nil
}

func (h *house) ChannelOf(_, user string) (string, bool) { c, ok := h.in[user]; return c, ok }

func (h *house) CurrentChannel(string) (string, bool) { return h.movedTo, h.movedTo != "" }

func (h *house) CallPolicy() conversation.CallPolicy { return h.policy }

func (h *house) CallChanged(c conversation.CallInfo, open bool, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if open {
		h.news = append(h.news, "open "+c.Channel)
	} else {
		h.news = append(h.news, "closed "+c.Channel+": "+why.Error())
	}
}

func (h *house) join(t *testing.T, user string) {
	t.Helper()
	check.Must(t, check.Err(h.Join(t.Context(), by(user), "")))
}

func by(user string) sessions.Origin {
	return sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "text", User: user, UserName: user}
}

// denied returns why a call was denied; "" if it was not.
func denied(t *testing.T, err error) (why conversation.DeniedError) {
	t.Helper()
	if err != nil && !errors.As(err, &why) {
		t.Fatalf("error %v is no denial", err)
	}
	if why != "" && !strings.HasSuffix(string(why), ".") {
		t.Errorf("%q is no sentence", why)
	}
	return why
}

func TestACallIsJoinedWhereThePersonIsAndLeftWhenAsked(t *testing.T) {
	h := newHouse(t)
	got, err := h.Join(t.Context(), by("ada"), "")
	check.Must(t, err)
	want := conversation.CallInfo{Guild: "g", Channel: "v", TextChannel: "text", RequesterID: "ada", Since: got.Since}
	check.Diff(t, "open", h.ActiveCalls(), []conversation.CallInfo{want})
	check.Equal(t, "somebody in another channel", denied(t, h.Leave(t.Context(), by("bob"))),
		conversation.ErrNotAllowedToLeave)
	check.Must(t, h.Leave(t.Context(), by("ada")))
	if got := denied(t, h.Leave(t.Context(), by("ada"))); got != conversation.ErrNotInCall || len(h.ActiveCalls()) != 0 {
		t.Errorf("after leaving: %q, open %v", got, h.ActiveCalls())
	}
	check.Diff(t, "news", h.news, []string{"open v", "closed v: stopped by ada"})
}

func TestWhoMaySendUsAway(t *testing.T) {
	moderator := func(channel string) sessions.Origin {
		return sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: channel, User: "bob", Moderator: true}
	}
	for name, tc := range map[string]struct {
		o    sessions.Origin
		want conversation.DeniedError
	}{
		"who asked, gone meanwhile": {by("ada"), ""},
		"who is in the call":        {by("eve"), ""},
		"somebody else":             {by("bob"), conversation.ErrNotAllowedToLeave},
		"a moderator there":         {moderator("v"), ""},
		"a moderator elsewhere":     {moderator("memes"), conversation.ErrNotAllowedToLeave},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.join(t, "ada")
			h.in = map[string]string{"eve": "v", "bob": "w"}
			check.Equal(t, "Leave", denied(t, h.Leave(t.Context(), tc.o)), tc.want)
		})
	}
}

func TestWhyACallIsNotJoined(t *testing.T) {
	for want, set := range map[conversation.DeniedError]func(*house){
		conversation.ErrVoiceDisabled:       func(h *house) { h.policy.Enabled = false },
		conversation.ErrRequesterNotInVoice: func(h *house) { delete(h.in, "ada") },
		conversation.ErrChannelBlocked:      func(h *house) { h.policy.BlockedChannels = []string{"v"} },
		conversation.ErrChannelNotAllowed:   func(h *house) { h.policy.AllowedChannels = []string{"w"} },
		"Set OPENAI_API_KEY.":               func(h *house) { h.policy.MissingSetup = "Set OPENAI_API_KEY." },
		conversation.ErrAlreadyInChannel: func(h *house) {
			h.in["eve"] = "v"
			_, _ = h.Join(context.Background(), by("eve"), "")
		},
		conversation.ErrInOtherChannel: func(h *house) { _, _ = h.Join(context.Background(), by("bob"), "") },
		conversation.ErrTooManyCalls: func(h *house) {
			h.policy.Max = 1
			_, _ = h.Join(context.Background(), sessions.Origin{Guild: "other", User: "bob"}, "")
		},
	} {
		t.Run(string(want), func(t *testing.T) {
			h := newHouse(t)
			set(h)
			before := len(h.ActiveCalls())
			_, err := h.Join(t.Context(), by("ada"), "")
			if got := denied(t, err); got != want {
				t.Errorf("Join = %q (%v), want %q", got, err, want)
			}
			check.Equal(t, "calls open", len(h.ActiveCalls()), before)
		})
	}
}

func TestWhatGoesWrongWhileJoiningIsTold(t *testing.T) {
	h := newHouse(t)
	h.begin = func(context.Context) error { return errors.New("no answer from Discord") }
	_, err := h.Join(t.Context(), by("ada"), "")
	if err == nil || err.Error() != "I could not join the call: no answer from Discord" || len(h.ActiveCalls()) != 0 {
		t.Errorf("Join = %v, and %d calls are open", err, len(h.ActiveCalls()))
	}
}

func TestYesterdaysCallsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.policy.PerDay = 1
		for range 3 {
			h.join(t, "ada")
			check.Must(t, h.Leave(t.Context(), by("ada")))
			time.Sleep(25 * time.Hour) //nolint:forbidigo // of synctest's clock
		}
	})
}

func TestADaysCallsAreLimitedForEachPersonAndEachServerAlsoOverARestart(t *testing.T) {
	const next = " The next one can begin in 1 hour."
	const person = "You have brought me into as many calls within a day as one person may (3)." + next
	const server = "I have been in as many calls on this server within a day as one server may have (4)." + next
	for name, c := range map[string]struct {
		before string // an hour less than a day ago: server and person
		want   conversation.DeniedError
	}{
		"some":                {"g/ada g/ada g/bob", ""},
		"hers":                {"g/ada h/ada h/ada", person},
		"those of the server": {"g/bob g/bob g/cy g/ada", server},
		"those of another":    {"h/bob h/bob h/cy h/cy", ""},
	} {
		h := newHouse(t)
		h.policy.PerDay, h.policy.PerDayAndUser = 4, 3
		for call := range strings.FieldsSeq(c.before) {
			guild, user, _ := strings.Cut(call, "/")
			p := voice.PastCall{Guild: guild, User: user, At: time.Now().Add(-23 * time.Hour)}
			h.PreviousCalls = append(h.PreviousCalls, p)
			p.At = time.Now().Add(-25 * time.Hour) // these count no more
			h.PreviousCalls = append(h.PreviousCalls, p)
		}
		_, err := h.Join(t.Context(), by("ada"), "")
		if got := denied(t, err); got != c.want {
			t.Errorf("%s: Join = %q (%v), want %q", name, got, err, c.want)
		}
	}
}

func TestOfManyWhoAskAtOnceOneOpensTheCall(t *testing.T) {
	h := newHouse(t)
	h.in["eve"] = "v"
	var wg sync.WaitGroup
	var mu sync.Mutex
	joined := 0
	for i := range 8 {
		wg.Go(func() {
			_, err := h.Join(t.Context(), by([]string{"ada", "eve"}[i%2]), "")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				joined++
			}
		})
	}
	wg.Wait()
	if joined != 1 || len(h.ActiveCalls()) != 1 {
		t.Errorf("%d joined, %d open; want 1 and 1", joined, len(h.ActiveCalls()))
	}
}

func TestJoiningCanBeGivenUp(t *testing.T) {
	wait := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	synctest.Test(t, func(t *testing.T) { // by time
		h := newHouse(t)
		h.begin = wait
		if _, err := h.Join(t.Context(), by("ada"), ""); denied(t, err) != conversation.ErrJoinTimedOut {
			t.Errorf("Join = %v", err)
		}
	})
	for name, give := range map[string]func(h *house, cancelled context.CancelCauseFunc, c *cancel.Cause) error{
		"by who asked": func(_ *house, give context.CancelCauseFunc, c *cancel.Cause) error { give(c); return nil },
		"by the program": func(h *house, _ context.CancelCauseFunc, c *cancel.Cause) error {
			return h.Close(context.Background(), c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			begun := make(chan struct{})
			h.begin = func(ctx context.Context) error { close(begun); return wait(ctx) }
			ctx, cancelled := context.WithCancelCause(t.Context())
			got := make(chan error)
			go func() { _, err := h.Join(ctx, by("ada"), ""); got <- err }()
			<-begun
			c := &cancel.Cause{Reason: cancel.ShuttingDown}
			check.Must(t, give(h, cancelled, c))
			check.Fails(t, <-got, c)
			if len(h.ActiveCalls()) != 0 {
				t.Error("the call is open")
			}
		})
	}
}

func TestACallThatBreaksIsOpenNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.join(t, "ada")
		h.breaks <- errors.New("kicked")
		synctest.Wait()
		if diff := cmp.Diff([]string{"open v", "closed v: kicked"}, h.news); diff != "" || len(h.ActiveCalls()) != 0 {
			t.Errorf("%d open; news (-want +got):\n%s", len(h.ActiveCalls()), diff)
		}
		check.Must(t, check.Err(h.Join(t.Context(), by("ada"), ""))) // join again
	})
}

func TestWeFollowOnlyWhereThatIsWanted(t *testing.T) {
	h := newHouse(t)
	if h.Follow(t.Context(), by("ada")) {
		t.Error("followed without the policy")
	}
	h.policy.AutoJoin = true
	if h.Follow(t.Context(), by("eve")) || !h.Follow(t.Context(), by("ada")) || h.Follow(t.Context(), by("ada")) {
		t.Errorf("open: %v", h.ActiveCalls())
	}
}

func TestTheModelJoinsAndLeavesForThePersonWhoAsks(t *testing.T) {
	h := newHouse(t)
	tools := h.Tools(t.Context(), by("ada"))
	if len(tools) != 2 || tools[0].Name != "join_voice_channel" || tools[1].Name != "leave_voice_channel" {
		t.Fatalf("tools = %+v", tools)
	}
	join, leave := tools[0].Call, tools[1].Call
	if _, _, err := join(t.Context(), by("eve"), nil); denied(t, err) != conversation.ErrRequesterNotInVoice {
		t.Errorf("eve, who is nowhere: %v", err)
	}
	if text, _, err := join(t.Context(), by("ada"), nil); err != nil || !strings.Contains(text, "<#v>") {
		t.Errorf("ada: %q, %v", text, err)
	}
	if text, _, err := leave(t.Context(), by("ada"), nil); err != nil || !strings.Contains(text, "left") {
		t.Errorf("leave: %q, %v", text, err)
	}
	h.policy.Enabled = false
	if got := h.Tools(t.Context(), by("ada")); got != nil {
		t.Errorf("tools where calls are off: %+v", got)
	}
}

func TestACallThatWasMovedIsWhereItIs(t *testing.T) {
	h := newHouse(t)
	h.join(t, "ada")
	h.movedTo, h.in["eve"] = "w", "v"
	if got := h.ActiveCalls(); len(got) != 1 || got[0].Channel != "w" {
		t.Errorf("open: %+v, want the call in w", got)
	}
	check.Equal(t, "somebody where the call was", denied(t, h.Leave(t.Context(), by("eve"))),
		conversation.ErrNotAllowedToLeave)
	if _, err := h.Join(t.Context(), by("bob"), ""); denied(t, err) != conversation.ErrAlreadyInChannel {
		t.Errorf("joining where it is: %v", err)
	}
	check.Must(t, h.Leave(t.Context(), by("bob"))) // somebody in the call
}

func TestACallStaysOnlyWhereTheOperatorLetsIt(t *testing.T) {
	h := newHouse(t)
	h.policy.BlockedChannels = []string{"secret"}
	for _, tc := range []struct {
		channel string
		allowed []string
		want    conversation.DeniedError
	}{
		{"v", nil, ""},
		{"secret", nil, conversation.ErrChannelBlocked},
		{"v", []string{"w"}, conversation.ErrChannelNotAllowed},
		{"secret", []string{"w"}, conversation.ErrChannelBlocked},
		{"w", []string{"w"}, ""},
	} {
		h.policy.AllowedChannels = tc.allowed
		check.Equal(t, fmt.Sprintf("%s where %v are allowed", tc.channel, tc.allowed),
			denied(t, h.CheckChannel(tc.channel)), tc.want)
	}
}
