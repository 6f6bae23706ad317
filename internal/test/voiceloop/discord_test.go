package voiceloop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/running"
	"clank/internal/test/voiceloop"
	"clank/sessions"
)

// patience is for waits of which nobody expects that they take so long.
const patience = 45 * time.Second

// testGuild is an emulated Discord, the real program in it, and a site on which it works.
type testGuild struct {
	t       *testing.T
	discord *discordtest.Server
	bot     discordtest.Bot
	clank   *running.Clank
	page    *api.Client
	site    *httptest.Server

	mu   sync.Mutex
	hits map[string]time.Time // the last request of each browse
	news chan struct{}        // closed and made anew at each request
}

// slow is how long each page of the site takes.
const slow = 400 * time.Millisecond

func newTestGuild(t *testing.T, bin string) *testGuild {
	t.Helper()
	d, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1, Seed: 6}})
	check.Must(t, err)
	t.Cleanup(func() { d.Close() })
	d.Voice.SetNetwork(voicetest.NetworkFaults{Loss: 0.05})
	w := &testGuild{
		t: t, discord: d, bot: d.CreateBot("clank", "secret"), hits: map[string]time.Time{},
		news: make(chan struct{}),
	}
	w.site = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.site.Close)
	trust := filepath.Join(t.TempDir(), "voice.pem")
	check.Must(t, os.WriteFile(trust, d.Voice.Certificate(), 0o600))
	w.clank, err = running.Start(t.Context(), bin, "DISCORD_TOKEN="+w.bot.Token, "CLANK_DISCORD_API="+d.URL,
		"SSL_CERT_FILE="+trust)
	check.Must(t, err)
	t.Cleanup(func() {
		if err := w.clank.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(w.clank.Log())
		}
	})
	check.Must(t, d.WaitConnected(w.waiting(), w.bot))
	w.configure()
	return w
}

// configure lets the program be in six calls at once and begin many browses.
func (w *testGuild) configure() {
	w.t.Helper()
	for key, value := range map[string]string{
		"agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour": "600",
		"agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask":       "30",
		"interaction.tasks.maxPerHourPerGuild":                                     "600",
		"interaction.tasks.maxAtOnce":                                              "8",
		"interaction.voice.maxConcurrent":                                          "6",
	} {
		cmd := exec.CommandContext(w.t.Context(), w.clank.Bin, "config", "set", key, value)
		cmd.Env = w.clank.Environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("set %s: %v: %s", key, err, out)
		}
	}
	var place struct{ URL, Secret string }
	data, err := os.ReadFile(filepath.Join(w.clank.Home, "server.json"))
	if err == nil {
		err = json.Unmarshal(data, &place)
	}
	check.Must(w.t, err)
	w.page = &api.Client{Base: place.URL, Token: place.Secret}
}

func (w *testGuild) waiting() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	return ctx
}

// serve answers /browse/step after a while.
func (w *testGuild) serve(rw http.ResponseWriter, r *http.Request) {
	browse, _, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok {
		return
	}
	w.mu.Lock()
	w.hits[browse] = time.Now()
	close(w.news)
	w.news = make(chan struct{})
	w.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-r.Context().Done():
	}
	rw.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(rw, "<title>%s</title><p>Page %s", browse, r.URL.Path)
}

// lastHit returns when the browser last asked for something of a browse.
func (w *testGuild) lastHit(browse string) (at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits[browse]
}

// awaitHit waits for the first request of a browse.
func (w *testGuild) awaitHit(ctx context.Context, browse string) error {
	for {
		w.mu.Lock()
		hit, news := !w.hits[browse].IsZero(), w.news
		w.mu.Unlock()
		if hit {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("the page of %s was never asked for: %w", browse, context.Cause(ctx))
		}
	}
}

// call is a call in a guild of its own, with one person in it.
type call struct {
	*testGuild
	id     string
	person discordtest.User
	room   discordtest.Channel
	voice  voiceloop.Voice
	member *voicetest.Member
	begun  time.Time

	runs chan struct{} // holds a token while a browse runs
	mu   sync.Mutex
	ends []time.Duration // when browses were stopped, in the time of the take
}

func (w *testGuild) call(id string, v voiceloop.Voice) (*call, error) {
	d := w.discord
	c := &call{testGuild: w, id: id, voice: v, person: d.CreateUser(id), begun: time.Now(), runs: make(chan struct{}, 1)}
	guild := d.CreateGuild("guild "+id, c.person)
	d.AddMember(guild, w.bot.User)
	c.room = d.CreateVoiceChannel(guild, "call "+id)
	var err error
	if c.member, err = d.EnterCall(w.waiting(), c.room, c.person,
		voicetest.MemberOptions{Privacy: voicetest.NewDAVESession}); err != nil {
		return nil, err
	}
	it, err := d.SlashCommand(c.room, c.person, "clank join", nil)
	if err != nil {
		return nil, err
	}
	if _, err := d.WaitMessage(w.waiting(), c.room, func(m discordtest.Message) bool {
		return strings.Contains(m.Content, "I have joined the call")
	}); err != nil {
		return nil, fmt.Errorf("%w: /clank join says %v", err, it.Original)
	}
	return c, c.member.Wait(w.waiting(), "keys", func() bool {
		return c.member.Private().(*voicetest.DAVESession).Ready()
	})
}

// leave ends the call.
func (c *call) leave() error {
	it, err := c.discord.SlashCommand(c.room, c.person, "clank leave", nil)
	if err == nil {
		_, err = c.discord.WaitInteraction(c.waiting(), it, func(it discordtest.Interaction) bool {
			return it.Original != nil && strings.Contains(it.Original.Content, "I have left the call")
		})
	}
	if err != nil {
		return fmt.Errorf("%w: /clank leave says %v", err, it.Original)
	}
	return c.member.Close()
}

// play has the person say a text while browses run, one after the other, and returns what was said and which browses
// were stopped.
func (c *call) play(ctx context.Context, lines []voiceloop.SpeechLine,
	seed uint64,
) (voiceloop.Recording, []time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	microphone := &voiceloop.Microphone{To: c.member, Seed: seed}
	var work sync.WaitGroup
	failed := make(chan error, 2)
	work.Go(func() { failed <- microphone.Run(ctx) })
	work.Go(func() { failed <- c.browse(ctx) })
	take := voiceloop.Recording{Voice: c.voice}
	err := c.say(ctx, microphone, lines, rand.New(rand.NewPCG(seed, 1)), &take)
	cancel()
	work.Wait()
	err = errors.Join(err, <-failed, <-failed)
	c.mu.Lock()
	defer c.mu.Unlock()
	return take, c.ends, err
}

func (c *call) say(ctx context.Context, m *voiceloop.Microphone, lines []voiceloop.SpeechLine, random *rand.Rand,
	take *voiceloop.Recording,
) error {
	for _, l := range lines {
		if err := m.Pause(ctx, voiceloop.RandomPause(random)); err != nil {
			return err
		}
		select {
		case <-c.runs:
			c.runs <- struct{}{}
		case <-time.After(patience):
			return fmt.Errorf("%s: no browse runs", c.voice)
		}
		start, end, err := m.Say(ctx, l.Samples)
		if err != nil {
			return err
		}
		take.Said = append(take.Said, voiceloop.SpokenLine{
			Text: l.Text, Order: l.Order, Start: start.Sub(c.begun),
			End: end.Sub(c.begun),
		})
	}
	return m.Pause(ctx, 2*time.Second)
}

// browse keeps a browse running until ctx ends.
func (c *call) browse(ctx context.Context) error {
	var err error
	for n := 0; err == nil; n++ {
		err = c.oneBrowse(ctx, fmt.Sprintf("%s-%d", c.id, n))
	}
	if ctx.Err() != nil { // which is why it failed
		err = nil
	}
	return err
}

func (c *call) oneBrowse(ctx context.Context, browse string) error {
	steps := make([]string, 28)
	for i := range steps {
		steps[i] = fmt.Sprintf("open %s/%s/%d", c.site.URL, browse, i)
	}
	it, err := c.discord.SlashCommand(c.room, c.person, "clank browse",
		discordtest.Args{"task": strings.Join(steps, ", ")})
	if err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if it, err = c.discord.WaitAnswer(soon, it); err != nil {
		return err
	}
	if err := c.awaitHit(soon, browse); err != nil {
		return err
	}
	c.runs <- struct{}{}
	long, cancelLong := context.WithTimeout(ctx, 2*patience)
	defer cancelLong()
	_, err = c.discord.WaitEdit(long, it.Original.ID, func(m discordtest.Message) bool {
		return m.Flags&discordtest.FlagLoading == 0 && !m.HasButton("Stop")
	})
	<-c.runs
	if err != nil {
		return err
	}
	return c.note(soon, browse)
}

// note writes down when a browse was stopped: that is when it was over, and its last request if that came later.
func (c *call) note(ctx context.Context, browse string) error {
	tasks, err := c.page.Tasks(context.WithoutCancel(ctx), url.Values{"limit": {"100"}})
	if err != nil {
		return err
	}
	for _, v := range tasks {
		if !strings.Contains(v.Task.Prompt, "/"+browse+"/") {
			continue
		}
		if v.Task.State != sessions.TaskStopped {
			return nil
		}
		at := v.Task.Ended
		if hit := c.lastHit(browse); hit.After(at) {
			at = hit
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ends = append(c.ends, at.Sub(c.begun))
		return nil
	}
	return fmt.Errorf("there is no task of the browse %s", browse)
}
