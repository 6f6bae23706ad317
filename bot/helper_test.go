package bot_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/bot"
	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// stage is a guild with a room, three people and a bot.
type stage struct {
	*discordtest.Server
	t             *testing.T
	account       discordtest.Bot
	ada, bob, mod discordtest.User
	guild         discordtest.Guild
	room          discordtest.Channel
	bot           *bot.Bot
	tasks         *tasks
	replier       *replier
	scopes        *cancel.Scopes
	desk          *approval.Queue
	host          *host
	patience      time.Duration // of a wait: 15 s
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return newStageOn(t, discordtest.Config{})
}

func newStageOn(t *testing.T, cfg discordtest.Config) *stage {
	t.Helper()
	d, err := discordtest.Start(cfg)
	check.Must(t, err)
	t.Cleanup(func() {
		check.Must(t, d.Close())
	})
	t.Parallel()
	s := &stage{
		Server: d, t: t, account: d.CreateBot("clank", "secret"), ada: d.CreateUser("ada"), bob: d.CreateUser("bob"),
		mod:   d.CreateUser("mod"),
		tasks: newTasks(), replier: &replier{}, scopes: new(cancel.Scopes), desk: new(approval.Queue), host: new(host),
	}
	s.guild = d.CreateGuild("home", d.CreateUser("owner"))
	d.AddMember(s.guild, s.ada)
	d.AddMember(s.guild, s.bob)
	d.AddMember(s.guild, s.mod, d.CreateRole(s.guild, "moderators", discordtest.ManageMessages))
	d.AddMember(s.guild, s.account.User)
	s.room = d.CreateChannel(s.guild, "general")
	s.bot = s.newBot()
	return s
}

// newBot returns a bot that is not connected yet.
func (s *stage) newBot() *bot.Bot {
	return &bot.Bot{
		Token: "secret", Files: &shelf{dir: s.t.TempDir()}, Tasks: s.tasks, Assistant: s.replier, Scopes: s.scopes,
		Questions: s.desk, Host: s.host,
		Base: s.URL, HTTPClient: &http.Client{Transport: s.Transport()},
		Logger:      slog.New(slog.NewTextHandler(testWriter{s.t}, nil)),
		OpenTimeout: 10 * time.Second, EditInterval: time.Millisecond, RetryWait: 5 * time.Millisecond,
	}
}

// host knows of people and settings what the test tells it.
type host struct {
	anyone      func() bool
	disabled    func(o sessions.Origin) string
	served      func() (guilds, channels []string)
	threadAfter func() time.Duration
	left        chan string // servers that the bot has left; nil: nobody wants to know
}

func (h *host) IsStop(message string) bool { return cancel.IsStop(message) }

func (h *host) AnyoneMayStop() bool { return h.anyone != nil && h.anyone() }

func (h *host) Disabled(_ context.Context, o sessions.Origin) string {
	if h.disabled == nil {
		return ""
	}
	return h.disabled(o)
}

func (h *host) Served() (guilds, channels []string) {
	if h.served == nil {
		return nil, nil
	}
	return h.served()
}

func (h *host) ThreadAfter() time.Duration {
	if h.threadAfter == nil {
		return 0
	}
	return h.threadAfter()
}

func (h *host) HandleLeave(_ context.Context, guild string) {
	if h.left != nil {
		h.left <- guild
	}
}

func (h *host) HandleRequest(context.Context, sessions.Origin)                           {}
func (h *host) HandleServers(context.Context, string, []string, func(guild string) bool) {}
func (h *host) HandleDispatch(string, json.RawMessage)                                   {}

// testWriter sends the log to the test's output while the test runs.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	if testing.Verbose() {
		w.t.Logf("%s", bytes.TrimSpace(b))
	}
	return len(b), nil
}

// openStage returns a stage whose bot is connected.
func openStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.open()
	return s
}

// open connects the bot and closes it when the test ends.
func (s *stage) open() {
	s.t.Helper()
	if err := s.bot.Open(s.ctx()); err != nil {
		s.t.Fatalf("Open: %v", err)
	}
	s.t.Cleanup(s.close)
}

func (s *stage) close() {
	ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	if err := s.bot.Close(ctx); err != nil {
		s.t.Errorf("Close: %v", err)
	}
}

func (s *stage) ctx() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), cmp.Or(s.patience, 15*time.Second))
	s.t.Cleanup(cancel)
	return ctx
}

func (s *stage) command(user discordtest.User, name string, args discordtest.Args) discordtest.Interaction {
	s.t.Helper()
	it, err := s.SlashCommand(s.room, user, "clank "+name, args)
	check.Must(s.t, err)
	return it
}

func (s *stage) browse(user discordtest.User, args discordtest.Args) discordtest.Interaction {
	s.t.Helper()
	return s.command(user, "browse", args)
}

// lamps begins a task of ada's.
func (s *stage) lamps() (discordtest.Interaction, *task) {
	s.t.Helper()
	return s.browse(s.ada, discordtest.Args{"task": "lamps"}), s.next()
}

// answer waits until the answer to it has text.
func (s *stage) answer(it discordtest.Interaction, text string) discordtest.Interaction {
	s.t.Helper()
	got, err := s.WaitInteraction(s.ctx(), it, func(i discordtest.Interaction) bool {
		return strings.Contains(i.Text(), text)
	})
	if err != nil {
		now, _ := s.Interaction(it.ID)
		s.t.Fatalf("%v; it says %q, want %q", err, now.Text(), text)
	}
	return got
}

// message waits for a message of the bot with text in a channel.
func (s *stage) message(in discordtest.Channel, text string) discordtest.Message {
	s.t.Helper()
	got, err := s.WaitMessage(s.ctx(), in, func(m discordtest.Message) bool {
		return m.Author.ID == s.account.ID && strings.Contains(m.Content, text)
	})
	if err != nil {
		for _, m := range s.Messages(in) {
			s.t.Logf("%s: %s", m.Author.Username, m.Content)
		}
		s.t.Fatalf("no message with %q: %v", text, err)
	}
	return got
}

func (s *stage) say(in discordtest.Channel, who discordtest.User, text string) discordtest.Message {
	s.t.Helper()
	m, err := s.SendMessage(in, who, text)
	check.Must(s.t, err)
	return m
}

// unseen checks that the bot has not written text in a channel; what it would
// have reacted to came before something it has answered since.
func (s *stage) unseen(in discordtest.Channel, text string) {
	s.t.Helper()
	for _, m := range s.MessagesFor(in, s.ada) {
		if m.Author.ID == s.account.ID && strings.Contains(m.Content, text) {
			s.t.Errorf("the bot wrote %q", m.Content)
		}
	}
}

// tasks is a browser agent whose tasks the test plays.
type tasks struct {
	begun chan *task
	spent float64 // if not 0, what tasks have cost that the end of the program interrupts

	mu       sync.Mutex
	sessions []sessions.Session
	records  []sessions.TaskRecord
	closed   []cancel.Actor // who has closed a session
	say      func(id string, from sessions.Origin, text string) (string, error)
}

func (f *tasks) SendNote(_ context.Context, id string, from sessions.Origin, text string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.say == nil {
		return "", fmt.Errorf("no task here: %w", sessions.ErrNotFound)
	}
	return f.say(id, from, text)
}

// task is one that runs.
type task struct {
	sessions.Task
	ctx   context.Context
	watch func(sessions.Event)
	end   chan ending
	n     atomic.Int32
}

type ending struct {
	rec sessions.TaskRecord
	err error
}

func newTasks() *tasks { return &tasks{begun: make(chan *task, 100)} }

func (f *tasks) Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.TaskRecord, error) {
	k := &task{Task: t, ctx: ctx, watch: watch, end: make(chan ending, 1)}
	f.begun <- k
	select {
	case e := <-k.end:
		return e.rec, e.err
	case <-ctx.Done():
		rec := sessions.TaskRecord{
			Task: sessions.Task{SessionID: "s1"}, State: sessions.TaskStopped, Reason: context.Cause(ctx).Error(),
			Steps: int(k.n.Load()),
		}
		if c := cancel.CauseOf(ctx, nil); f.spent > 0 && c != nil && c.Reason == cancel.ShuttingDown {
			rec.State, rec.Task, rec.Started, rec.Usage.USD = sessions.TaskInterrupted, t, time.Now(), f.spent
			rec.SessionID = "s1"
		}
		return rec, nil
	}
}

func (f *tasks) LastSession(_ context.Context, o sessions.Origin) (sessions.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		if s.Origin.User == o.User && s.Origin.Channel == o.Channel {
			return s, nil
		}
	}
	return sessions.Session{}, fmt.Errorf("no session here: %w", sessions.ErrNotFound)
}

func (f *tasks) Sessions(_ context.Context, q sessions.SessionQuery) ([]sessions.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []sessions.Session
	for _, s := range f.sessions {
		if s.Origin.User == q.Of.User && s.Origin.Channel == q.Of.Channel && len(list) < q.Limit {
			list = append(list, s)
		}
	}
	return list, nil
}

func (f *tasks) Session(_ context.Context, id string) (sessions.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.sessions {
		if s.ID == id {
			return s, nil
		}
	}
	return sessions.Session{}, fmt.Errorf("no such session: %w", sessions.ErrNotFound)
}

func (f *tasks) Task(_ context.Context, id string) (sessions.TaskRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.records {
		if r.ID == id {
			return r, nil
		}
	}
	return sessions.TaskRecord{}, fmt.Errorf("no such task: %w", sessions.ErrNotFound)
}

func (f *tasks) CloseSession(_ context.Context, id string, by cancel.Actor) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = append(f.closed, by)
	for i := range f.sessions {
		if f.sessions[i].ID == id {
			f.sessions[i].State = sessions.SessionClosed
		}
	}
	return nil
}

// next returns the next task that has begun.
func (s *stage) next() *task {
	s.t.Helper()
	select {
	case k := <-s.tasks.begun:
		return k
	case <-s.ctx().Done():
		s.t.Fatal("no task began")
		return nil
	}
}

// step reports that the task has done something.
func (k *task) step(label string, view *llm.Image) {
	n := int(k.n.Add(1))
	k.watch(sessions.Event{
		Record: sessions.TaskRecord{Task: k.Task, State: sessions.TaskRunning, Steps: n},
		Step: &sessions.Step{
			N: n, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: label, View: view, URL: "https://shop.example/lamps",
			Title: "Lamps",
		},
	})
}

func (k *task) queued(place int) {
	k.watch(sessions.Event{Record: sessions.TaskRecord{Task: k.Task, State: sessions.TaskQueued, Position: place}})
}

func (k *task) done(answer string, images ...llm.Image) {
	k.end <- ending{rec: sessions.TaskRecord{
		Task: sessions.Task{SessionID: "s1"}, State: sessions.TaskDone, Answer: answer, Images: images,
		Steps: int(k.n.Load()),
	}}
}

// replier is a brain that says what the test tells it to.
type replier struct {
	reply func(ctx context.Context, t assistant.Turn, watch func(assistant.Progress)) (assistant.Answer, error)
}

func (r *replier) Reply(ctx context.Context, t assistant.Turn,
	watch func(assistant.Progress),
) (assistant.Answer, error) {
	return r.reply(ctx, t, watch)
}

// plainBrain makes the bot use the real brain, without a model.
func (s *stage) plainBrain() {
	s.bot.Assistant = &assistant.Assistant{Tasks: s.tasks, Host: sessionstest.AssistantHost{}}
}

// picture returns a small PNG that differs for each shade.
func picture(shade byte) llm.Image {
	im := image.NewGray(image.Rect(0, 0, 4, 4))
	im.Pix[0] = shade
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		panic(err)
	}
	return llm.Image{MediaType: "image/png", Data: b.Bytes()}
}

func scopeOf(s *stage) cancel.Scope { return cancel.Scope{Guild: s.guild.ID, Channel: s.room.ID} }
