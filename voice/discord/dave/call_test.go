package dave_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/delivery"
	"clank/internal/test/npm"
	"clank/voice/discord/dave"
)

const channel = 1100000000000000001

// person is somebody in a call: a session of ours, or a peer of other hands.
type person interface {
	member
	Encrypt(c dave.Codec, frame []byte) ([]byte, error)
	Decrypt(from uint64, c dave.Codec, frame []byte) ([]byte, error)
	PrivacyCode() string
	Epoch() uint64
}

// member is whom the gateway tells about a call.
type member interface {
	Select(version int) error        // op 4
	handle(m delivery.Message) error // what the gateway sends
	Connected(users ...uint64)       // op 11
	Disconnected(user uint64)        // op 13
}

// said is what somebody sends to the gateway.
type said struct {
	op         byte
	payload    []byte
	transition uint16
}

// call is a call on a delivery service. Messages wait in line until settle, so that a test can look at them on the way.
type call struct {
	t        *testing.T
	service  *delivery.Service
	people   map[uint64]person
	order    []uint64
	toPeople []delivery.Message
	toServer []envelope
	problems []error                        // what people made of messages
	refused  []error                        // what the service made of messages
	pass     func(user uint64, s said) bool // false keeps a message to the server back; nil passes all
	sent     map[uint64]map[byte]int        // messages to the server by opcode
	clock    *clock
	required bool // ours send nothing without encryption
}

type envelope struct {
	from uint64
	said
}

type clock struct{ now time.Time }

func newCall(t *testing.T) *call {
	t.Helper()
	c := &call{
		t: t, people: make(map[uint64]person), sent: make(map[uint64]map[byte]int),
		clock: &clock{now: time.Unix(1_800_000_000, 0)},
	}
	service, err := delivery.New(channel, func(m delivery.Message) { c.toPeople = append(c.toPeople, m) })
	check.Must(t, err)
	c.service = service
	return c
}

// callOf returns a call of sessions of ours, for a test that runs beside others.
func callOf(t *testing.T, users ...uint64) *call {
	t.Helper()
	t.Parallel()
	c := newCall(t)
	for _, user := range users {
		c.ours(user)
	}
	return c
}

func (c *call) session(user uint64) *ours { return c.people[user].(*ours) }

// say puts what somebody sends in line.
func (c *call) say(from uint64, s said) {
	if c.sent[from] == nil {
		c.sent[from] = make(map[byte]int)
	}
	c.sent[from][s.op]++
	c.toServer = append(c.toServer, envelope{from, s})
}

// join brings somebody in as the gateway does, without settling.
func (c *call) join(user uint64, p person, version int) {
	c.t.Helper()
	for _, other := range c.order {
		c.people[other].Connected(user)
	}
	p.Connected(c.order...)
	c.people[user] = p
	c.order = append(c.order, user)
	if err := p.Select(c.service.Join(user, version)); err != nil {
		c.t.Error(err)
	}
	c.service.Selected(user)
}

// ours brings in a session of ours, and settles.
func (c *call) ours(user uint64) *ours {
	c.t.Helper()
	p := newOurs(c, user)
	c.join(user, p, 1)
	c.settle()
	return p
}

// leave takes somebody out, and settles.
func (c *call) leave(user uint64) {
	c.t.Helper()
	delete(c.people, user)
	var order []uint64
	for _, other := range c.order {
		if other != user {
			order = append(order, other)
			c.people[other].Disconnected(user)
		}
	}
	c.order = order
	c.service.Leave(user)
	c.settle()
}

// settle passes messages on until there are none.
func (c *call) settle() {
	c.t.Helper()
	for n := 0; len(c.toPeople)+len(c.toServer) > 0; n++ {
		if n > 2000 {
			c.t.Fatal("the call does not come to rest")
		}
		if len(c.toPeople) > 0 {
			m := c.toPeople[0]
			c.toPeople = c.toPeople[1:]
			if p := c.people[m.To]; p != nil {
				if err := p.handle(m); err != nil {
					c.problems = append(c.problems, err)
				}
			}
			continue
		}
		e := c.toServer[0]
		c.toServer = c.toServer[1:]
		if c.people[e.from] == nil || c.pass != nil && !c.pass(e.from, e.said) {
			continue
		}
		var err error
		switch e.op {
		case dave.OpKeyPackage:
			err = c.service.KeyPackage(e.from, e.payload)
		case dave.OpCommitWelcome:
			err = c.service.Commit(e.from, e.payload)
		case dave.OpTransitionReady:
			c.service.Ready(e.from, e.transition)
		case dave.OpInvalid:
			c.service.Invalid(e.from, e.transition)
		}
		if err != nil {
			c.refused = append(c.refused, err)
		}
	}
}

// release lets the service have the commits that it held, in an order, and settles.
func (c *call) release(order ...int) {
	c.t.Helper()
	if err := c.service.Release(order...); err != nil {
		c.refused = append(c.refused, err)
	}
	c.settle()
}

// breakWelcome changes a byte of the next Welcome, and counts those that it changed.
func (c *call) breakWelcome() *int {
	broken := new(int)
	c.service.Tamper = func(m delivery.Message) []delivery.Message {
		if m.Op == delivery.OpWelcome && *broken == 0 {
			*broken++
			m.Payload = bytes.Clone(m.Payload)
			m.Payload[len(m.Payload)/2] ^= 1
		}
		return []delivery.Message{m}
	}
	return broken
}

// together checks that all are in one group, with the same code, and that each hears each other.
func (c *call) together() {
	c.t.Helper()
	if !c.service.Settled() {
		c.t.Fatalf("not everybody is in the group; problems %v, refused %v", c.problems, c.refused)
	}
	code := c.people[c.order[0]].PrivacyCode()
	if len(c.order) > 1 && len(code) != 35 {
		c.t.Fatalf("code is %q, want six groups of five digits", code)
	}
	for _, from := range c.order {
		if got := c.people[from].PrivacyCode(); got != code {
			c.t.Errorf("%d has code %q, and %d has %q", from, got, c.order[0], code)
		}
		if got, want := c.people[from].Epoch(), c.service.Epoch(); len(c.order) > 1 && got != want {
			c.t.Errorf("%d is at epoch %d, want %d", from, got, want)
		}
		for _, to := range c.order {
			if from != to {
				c.hears(to, from)
			}
		}
	}
}

// hears checks that one hears the other, with Opus and with VP8, and that what is sent is not readable.
func (c *call) hears(to, from uint64) {
	c.t.Helper()
	for codec, frame := range frames {
		sent, err := c.people[from].Encrypt(codec, frame)
		if err != nil {
			c.t.Errorf("%d encrypts: %v", from, err)
			continue
		}
		if string(sent[:len(frame)]) == string(frame) {
			c.t.Errorf("%d sends %v in clear", from, codec)
		}
		got, err := c.people[to].Decrypt(from, codec, sent)
		if err != nil {
			c.t.Errorf("%d does not hear %d (codec %v): %v", to, from, codec, err)
			continue
		}
		if string(got) != string(frame) {
			c.t.Errorf("%d hears %x of %d, want %x", to, got, from, frame)
		}
	}
}

var frames = map[dave.Codec][]byte{
	dave.Opus: []byte("\x78opus: what was said in the channel"),
	dave.VP8:  []byte("\x10\x02\x00\x9d\x01\x2a\x00\x05\xd0\x02vp8: a key frame of the page that is shown"),
}

// quiet checks that nobody found anything wrong.
func (c *call) quiet() {
	c.t.Helper()
	if len(c.problems) > 0 {
		c.t.Errorf("people found problems: %v", c.problems)
	}
}

// ours is a session of ours in a call.
type ours struct {
	*dave.Session
	id uint64
	c  *call
}

func newOurs(c *call, user uint64) *ours {
	c.t.Helper()
	session, err := dave.New(dave.Options{
		UserID: user, GroupID: channel,
		SendBinary:        func(op byte, payload []byte) { c.say(user, said{op: op, payload: payload}) },
		SendJSON:          func(op int, d any) { c.say(user, said{op: byte(op), transition: d.(dave.Transition).ID}) },
		Now:               func() time.Time { return c.clock.now },
		RequireEncryption: c.required,
		Logger:            slog.New(slog.NewTextHandler(c.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	check.Must(c.t, err)
	return &ours{Session: session, id: user, c: c}
}

func (o *ours) handle(m delivery.Message) error {
	if m.Data == nil {
		return o.HandleBinary(m.Op, m.Payload)
	}
	d, err := json.Marshal(m.Data)
	if err != nil {
		return err
	}
	return o.HandleJSON(int(m.Op), d)
}

// daveys makes members of davey. All are in one process.
type daveys struct{ *npm.Davey }

// startDaveys starts the process, which ends with the test.
func startDaveys(t *testing.T) daveys {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("davey is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	d, err := npm.StartDavey(t.Context(), t.TempDir(), t.Output())
	check.Must(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return daveys{d}
}

// stranger is one member of davey.
type stranger struct {
	all daveys
	c   *call
	id  uint64
}

type request struct {
	What    string   `json:"what"`
	User    string   `json:"user"`
	Channel string   `json:"channel"`
	Version int      `json:"version"`
	Op      int      `json:"op,omitempty"`
	Users   []string `json:"users,omitempty"`
	Codec   int      `json:"codec,omitempty"`
	Payload []byte   `json:"payload,omitempty"`
	D       any      `json:"d,omitempty"`
}

// ask does one thing, puts what the member sends in line, and gives what it answers.
func (p *stranger) ask(r request, into any) error {
	r.User, r.Channel = id(p.id), id(channel)
	return p.all.Request(r, into, func(s npm.DaveyMessage) {
		p.c.say(p.id, said{op: s.Op, payload: s.Payload, transition: s.Transition})
	})
}

func id(user uint64) string { return strconv.FormatUint(user, 10) }

func (p *stranger) Select(version int) error {
	return p.ask(request{What: "choose", Version: version}, nil)
}

func (p *stranger) handle(m delivery.Message) error {
	if m.Data == nil {
		return p.ask(request{What: "binary", Op: int(m.Op), Payload: m.Payload}, nil)
	}
	return p.ask(request{What: "json", Op: int(m.Op), D: m.Data}, nil)
}

func (p *stranger) Connected(users ...uint64) {
	var ids []string
	for _, u := range users {
		ids = append(ids, id(u))
	}
	if err := p.ask(request{What: "here", Users: append(ids, id(p.id))}, nil); err != nil {
		p.c.t.Error(err)
	}
}

func (p *stranger) Disconnected(user uint64) {
	if err := p.ask(request{What: "gone", Users: []string{id(user)}}, nil); err != nil {
		p.c.t.Error(err)
	}
}

// Their numbers of codecs.
var daveyCodec = map[dave.Codec]int{dave.Opus: 1, dave.VP8: 2}

func (p *stranger) Encrypt(c dave.Codec, frame []byte) (sent []byte, err error) {
	err = p.ask(request{What: "encrypt", Codec: daveyCodec[c], Payload: frame}, &sent)
	return sent, err
}

func (p *stranger) Decrypt(from uint64, c dave.Codec, frame []byte) (got []byte, err error) {
	err = p.ask(request{What: "decrypt", Users: []string{id(from)}, Codec: daveyCodec[c], Payload: frame}, &got)
	return got, err
}

type daveyState struct {
	Code  string `json:"code"`
	Epoch uint64 `json:"epoch"`
}

func (p *stranger) state() (s daveyState) {
	if err := p.ask(request{What: "state"}, &s); err != nil {
		p.c.t.Error(err)
	}
	return s
}

// PrivacyCode returns their code with spaces as in ours.
func (p *stranger) PrivacyCode() string {
	var groups []string
	for rest := p.state().Code; rest != ""; rest = rest[min(5, len(rest)):] {
		groups = append(groups, rest[:min(5, len(rest))])
	}
	return strings.Join(groups, " ")
}

func (p *stranger) Epoch() uint64 { return p.state().Epoch }

// mixed makes a call with people in the order of the pattern: o is ours, d is davey.
func (d daveys) mixed(t *testing.T, pattern string) (*call, []uint64) {
	t.Helper()
	c := newCall(t)
	users := []uint64{ada, bob, cyd, dot, dot + 1, dot + 2}[:len(pattern)]
	for i, kind := range pattern {
		d.bring(c, users[i], kind)
	}
	return c, users
}

func (d daveys) bring(c *call, user uint64, kind rune) {
	if kind == 'o' {
		c.ours(user)
		return
	}
	c.join(user, &stranger{all: d, c: c, id: user}, 1)
	c.settle()
}

func TestDaveyIsInTheSameGroup(t *testing.T) {
	t.Parallel()
	d := startDaveys(t)
	for _, pattern := range []string{"od", "do", "odo", "dod", "ood", "ddo", "oodd", "ddoo", "odododd"[:6]} {
		t.Run("join "+pattern, func(t *testing.T) {
			c := newCall(t)
			for i, kind := range pattern {
				d.bring(c, ada+uint64(i), kind)
				c.together()
			}
			c.quiet()
		})
	}
	for pattern, gone := range map[string]int{"odod": 1, "dodo": 0, "oddo": 3, "odd": 0, "doo": 0} {
		t.Run("leave "+pattern, func(t *testing.T) {
			c, users := d.mixed(t, pattern)
			c.leave(users[gone])
			c.together()
			d.bring(c, users[gone], 'd')
			c.together()
			c.quiet()
		})
	}
	t.Run("alone again", func(t *testing.T) {
		for _, pattern := range []string{"od", "do"} {
			c, users := d.mixed(t, pattern)
			c.leave(users[1])
			d.bring(c, cyd, rune(pattern[1]))
			c.together()
			c.quiet()
		}
	})
	t.Run("commits race", func(t *testing.T) {
		for _, pattern := range []string{"od", "do", "odo", "dod", "oodd"} {
			for order := range len(pattern) {
				c := newCall(t)
				for i, kind := range pattern[:len(pattern)-1] {
					d.bring(c, ada+uint64(i), kind)
				}
				c.service.Hold = true
				d.bring(c, ada+uint64(len(pattern)-1), rune(pattern[len(pattern)-1]))
				if held := c.service.Held(); order < held {
					c.release(append([]int{order}, others(held, order)...)...)
				} else {
					c.release()
				}
				c.settle()
				c.together()
				c.quiet()
			}
		}
	})
	t.Run("removed and added at once", func(t *testing.T) {
		for _, pattern := range []string{"odod", "dodo", "ooodd", "odddo"} {
			for winner := range len(pattern) - 1 {
				c, users := d.mixed(t, pattern)
				c.service.Hold = true
				c.leave(users[1])
				d.bring(c, dot+7, 'd')
				d.bring(c, users[1], 'o')
				d.bring(c, dot+8, 'o')
				before := c.service.Epoch()
				settleBy(c, winner)
				c.together()
				if got := c.service.Epoch(); got != before+1 {
					t.Errorf("%d epochs for what is one commit", got-before)
				}
				c.leave(users[0]) // its commit goes along the path that the one before made
				c.together()
				c.quiet()
			}
		}
	})
	t.Run("broken Welcome", func(t *testing.T) {
		for _, pattern := range []string{"odo", "dod", "oddo", "ooo"} {
			c, _ := d.mixed(t, pattern[:len(pattern)-1])
			broken := c.breakWelcome()
			d.bring(c, dot+3, rune(pattern[len(pattern)-1]))
			c.together()
			if *broken != 1 || len(c.problems) == 0 {
				t.Errorf("%d Welcomes broken, problems %v; want it noticed", *broken, c.problems)
			}
		}
	})
	t.Run("downgrade and upgrade", func(t *testing.T) {
		for _, pattern := range []string{"od", "dod"} {
			c, _ := d.mixed(t, pattern)
			old := newOurs(c, dot+4)
			c.join(dot+4, old, 0)
			c.settle()
			for _, from := range c.order {
				got, err := c.people[from].Encrypt(dave.Opus, frames[dave.Opus])
				if err != nil || !bytes.Equal(got, frames[dave.Opus]) {
					t.Errorf("%d sends %x, %v after the downgrade", from, got, err)
				}
				for _, to := range c.order {
					if heard, err := c.people[to].Decrypt(from, dave.Opus, got); to != from &&
						(err != nil || !bytes.Equal(heard, got)) {
						t.Errorf("%d hears %x of %d, %v", to, heard, from, err)
					}
				}
			}
			c.leave(dot + 4)
			c.together()
			c.quiet()
		}
	})
	t.Run("any coming and going", func(t *testing.T) {
		for seed := range uint64(2) {
			wander(newCall(t), seed, 20, func(c *call, user uint64) {
				kind := 'o'
				if user%2 == 0 {
					kind = 'd'
				}
				d.bring(c, user, kind)
			})
		}
	})
}

// settleBy goes on until nothing is held, letting the n-th of each round's commits be the first.
func settleBy(c *call, n int) {
	for c.service.Held() > 0 {
		held := c.service.Held()
		first := held - 1 - min(n, held-1) // later ones have all proposals
		c.release(append([]int{first}, others(held, first)...)...)
		c.settle()
	}
}

func others(n, but int) (rest []int) {
	for i := range n {
		if i != but {
			rest = append(rest, i)
		}
	}
	return rest
}
