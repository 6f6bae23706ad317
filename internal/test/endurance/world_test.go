package endurance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/endurance"
	"clank/voice"
	"clank/voice/discord"
	"clank/voice/discord/conn"
	"clank/voice/speech/playout"
	"clank/voice/speech/vad"
)

// bad is the network in these tests.
var bad = voicetest.NetworkFaults{
	Loss: 0.02, Duplicate: 0.01, Reorder: 0.02, Delay: 20 * time.Millisecond, Jitter: 40 * time.Millisecond, Dress: true,
}

// spoken are Opus packets of somebody who speaks: a tone that comes and goes as syllables do.
var spoken = sync.OnceValue(func() [][]byte {
	enc, err := voice.NewOpusEncoder(voice.RateSpeech)
	if err != nil {
		panic(err) // no test can run
	}
	var list [][]byte
	for f := range 200 {
		samples := make([]int16, voice.RateSpeech/50)
		for i := range samples {
			t := float64(f*len(samples)+i) / voice.RateSpeech
			samples[i] = int16(8000 * max(0, math.Sin(2*math.Pi*3*t)) * math.Sin(2*math.Pi*180*t))
		}
		opus, err := enc.Encode(samples)
		if err != nil {
			panic(err) // as above
		}
		list = append(list, opus)
	}
	return list
})()

// world is a voice server, the calls on it, and we in all of them.
type world struct {
	t      testing.TB
	net    *endurance.Network
	voice  *voicetest.Server
	hall   *mainGateway
	joiner *discord.Joiner
	towns  []*testGuild
	life   context.Context // of all that runs in a test
	stop   context.CancelCauseFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	notes map[string]int
}

// note counts what was strange.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if w.notes[text]++; w.notes[text] == 1 && len(w.notes) < 40 {
		w.t.Log(time.Now().Format("15:04:05.000"), text)
	}
}

// testGuild is a guild with two voice channels.
type testGuild struct {
	world *world
	guild string
	rooms [2]string
	line  *discord.Line
	ear   *vad.Detector
	mouth *playout.Player
	stays []*person // one in each room, all the time

	mu       sync.Mutex
	people   map[string]*person
	voices   map[string]*speaker // what our ear had of whom
	breaks   []change
	gaps     []gap
	outage   time.Duration // the longest gap around a move to another server
	said     int           // utterances
	heard    time.Duration
	packets  int // of ours that went out
	visitors int
	events   map[string]int
}

// speaker is what our ear last had of somebody.
type speaker struct {
	burst int
	at    time.Time
}

// gap is a silence where somebody was speaking.
type gap struct {
	who, of  string
	from, to time.Time
	packets  int // that are missing
}

func (g gap) String() string {
	return fmt.Sprintf("%s hears nothing of %s for %v at %s, %d packets missing", g.who, g.of, g.to.Sub(g.from),
		g.from.Format("15:04:05.000"), g.packets)
}

// gap takes a gap. One in which we changed the server or the channel is the network's.
func (t *testGuild) gap(g gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed, elsewhere := false, false
	for _, b := range t.breaks {
		if !b.at.Before(g.from.Add(-100*time.Millisecond)) && !b.at.After(g.to) {
			changed, elsewhere = true, elsewhere || b.away
		}
	}
	switch {
	case !changed:
		t.gaps = append(t.gaps, g)
	case !elsewhere:
		t.outage = max(t.outage, g.to.Sub(g.from))
	}
}

// change is a time at which we were taken to another server, or away into another channel.
type change struct {
	at   time.Time
	away bool
}

func newWorld(tb testing.TB, towns int) *world {
	tb.Helper()
	network := endurance.NewNetwork()
	w := &world{t: tb, net: network, notes: map[string]int{}}
	s, err := voicetest.Start(voicetest.Config{
		DAVE: 1, Seed: 7, Listen: network.Listen,
		ListenPacket: network.ListenPacket,
	})
	check.Must(tb, err)
	s.SetNetwork(bad)
	w.voice, w.hall = s, newMainGateway(s)
	w.joiner = &discord.Joiner{
		Send: w.hall.send, Transport: conn.NewUDPWithDialer(w.net.Dial),
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: w.net.Dial, DisableKeepAlives: true}},
	}
	w.joiner.Dispatch("READY", json.RawMessage(`{"user":{"id":"`+us+`"}}`))
	w.hall.joiner = w.joiner
	ctx, stop := context.WithCancelCause(context.Background())
	w.life, w.stop = ctx, stop
	for i := range towns {
		check.Must(tb, w.build(ctx, 10*(i+1)))
	}
	return w
}

// build makes a town, its people and our part in its call.
func (w *world) build(ctx context.Context, id int) error {
	tn := &testGuild{
		world: w, guild: strconv.Itoa(id), rooms: [2]string{strconv.Itoa(id + 1), strconv.Itoa(id + 2)},
		people: map[string]*person{}, voices: map[string]*speaker{}, events: map[string]int{},
	}
	w.towns = append(w.towns, tn)
	if err := w.hall.open(tn.guild); err != nil {
		return err
	}
	for i, room := range tn.rooms {
		p, err := tn.enter(ctx, room, tn.guild+strconv.Itoa(i)+"1")
		if err != nil {
			return err
		}
		tn.people[p.user] = p
		tn.stays = append(tn.stays, p)
		w.wg.Go(func() { p.live(ctx) })
	}
	line, err := w.joiner.Join(ctx, tn.guild, tn.rooms[0])
	if err != nil {
		return err
	}
	tn.line, tn.mouth = line, &playout.Player{Line: line}
	tn.ear = &vad.Detector{}
	w.wg.Go(func() { _ = tn.ear.Run(ctx, tn) }) // no error, since its rate is good
	w.wg.Go(func() { _ = tn.mouth.Run(ctx) })   // never fails
	w.wg.Go(tn.attend)
	w.wg.Go(func() { tn.talk(ctx) })
	return nil
}

// Ended, Paused and Speaking are of [vad.Listener], as Sound is.
func (t *testGuild) Ended(voice.Utterance)              { t.add(func() { t.said++ }) }
func (*testGuild) Paused(voice.Utterance)               {}
func (*testGuild) Speaking(string, time.Duration, bool) {}

func (t *testGuild) add(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do()
}

// attend takes what happens in our call until it ends.
func (t *testGuild) attend() {
	for e := range t.line.Events() {
		switch e.Kind {
		case voice.PacketReceived:
			t.ear.Write(e.Packet)
		case voice.Left:
			t.ear.Forget(e.Person.ID)
		}
	}
	if err := t.line.Err(); err != nil {
		t.world.note("the call of %s ended: %v", t.guild, err)
		t.add(func() { t.events["ended"]++ })
	}
}

// sound takes what our ear makes of packets, and looks for gaps.
func (t *testGuild) Sound(s voice.Sound) {
	now := time.Now()
	t.mu.Lock()
	t.heard += time.Duration(len(s.Samples)) * time.Second / time.Duration(s.Rate)
	p, last := t.people[s.From], t.voices[s.From]
	t.mu.Unlock()
	if p == nil {
		return // they have just left
	}
	burst := p.saying()
	if last != nil && burst == last.burst && burst%2 == 1 && now.Sub(last.at) > tooLong {
		t.gap(gap{who: us, of: s.From, from: last.at, to: now})
	}
	t.add(func() { t.voices[s.From] = &speaker{burst, now} })
}

// talk says three sentences, one right after the other, then nothing for two seconds, and so on.
func (t *testGuild) talk(ctx context.Context) {
	const sentence = 100
	for speech := 1; ; speech++ {
		var last *playout.QueuedSentence
		for n := range 3 {
			last = t.mouth.Play(func(context.Context) iter.Seq2[[]byte, error] {
				return func(yield func([]byte, error) bool) {
					for i := range sentence {
						if !yield(mark(speech, n*sentence+i), nil) {
							return
						}
					}
				}
			})
		}
		if err := last.Wait(ctx); err != nil && ctx.Err() == nil {
			t.world.note("after %v something could not be said: %v", last.Played(), err)
			t.add(func() { t.events["unsaid"]++ })
		}
		t.add(func() { t.packets += 3 * sentence })
		if !rest(ctx, 2*time.Second) {
			return
		}
	}
}

func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// trouble makes something happen every now and then, until ctx ends. Whoever came meanwhile has left when it returns.
func (t *testGuild) trouble(ctx context.Context, every time.Duration, dice *rand.Rand) {
	var visits sync.WaitGroup
	defer visits.Wait()
	seat := seatOf(t.guild, us)
	for rest(ctx, every/2+time.Duration(dice.Int64N(int64(every)))) {
		what := ""
		switch n := dice.IntN(100); {
		case n < 44:
			what = "visit"
			stay := every/2 + time.Duration(dice.Int64N(int64(4*every)))
			room := t.world.hall.where(t.guild)
			visits.Go(func() { t.visit(ctx, room, stay) })
		case n < 60:
			what = "drop"
			_ = t.world.voice.Drop(seat) // between two connections there is nothing to drop
		case n < 76:
			what = "resume"
			_ = t.world.voice.CloseSeat(seat, 4015, "crashed") // as above
		case n < 88:
			what = "relocate"
			t.add(func() { t.breaks = append(t.recent(), change{at: time.Now()}) })
			t.world.hall.relocate(t.guild)
		default:
			what = "move"
			to := t.rooms[0]
			if t.world.hall.where(t.guild) == to {
				to = t.rooms[1]
			}
			t.add(func() { t.breaks = append(t.recent(), change{time.Now(), true}) })
			t.world.hall.move(t.guild, to)
		}
		t.add(func() { t.events[what]++ })
	}
}

// recent returns the changes that a gap may still be about. The lock is held.
func (t *testGuild) recent() []change {
	old := time.Now().Add(-10 * time.Minute)
	return slices.DeleteFunc(t.breaks, func(b change) bool { return b.at.Before(old) })
}

// visit brings somebody into our call for a while.
func (t *testGuild) visit(ctx context.Context, room string, stay time.Duration) {
	t.mu.Lock()
	t.visitors++
	user := fmt.Sprintf("%s9%06d", t.guild, t.visitors)
	t.mu.Unlock()
	join, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	p, err := t.enter(join, room, user)
	if err != nil {
		t.world.note("%s could not come: %v", user, err)
		return
	}
	t.add(func() { t.people[user] = p })
	here, leave := context.WithTimeoutCause(ctx, stay, errOver)
	defer leave()
	p.live(here)
	rest(context.WithoutCancel(ctx), time.Second) // for packets that are under way
	for _, other := range t.stays {
		other.forget(user)
	}
	t.add(func() {
		delete(t.people, user)
		delete(t.voices, user)
	})
}

// close leaves all calls and ends everything.
func (w *world) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	w.stop(errOver)
	err := w.joiner.Close(ctx)
	for _, t := range w.towns {
		err = errors.Join(err, t.line.Close(ctx))
	}
	w.wg.Wait()
	if err := errors.Join(err, w.voice.Close()); err != nil {
		w.t.Error(err)
	}
}

func seatOf(guild, user string) voicetest.ClientID {
	return voicetest.ClientID{Server: guild, User: user}
}
