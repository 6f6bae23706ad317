package dave_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"clank/internal/test/discordtest/delivery"
	"clank/internal/test/npm"
	"clank/voice/discord/dave"
)

// daveys makes members of davey. All are in one process.
type daveys struct{ *npm.Davey }

// startDaveys starts the process, which ends with the test.
func startDaveys(t *testing.T) daveys {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("davey is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	d, err := npm.StartDavey(t.Context(), t.TempDir(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
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
	return p.all.Request(r, into, func(s npm.DaveyMessage) { p.c.say(p.id, said{op: s.Op, payload: s.Payload, transition: s.Transition}) })
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
var daveyCodec = map[dave.Codec]int{dave.Opus: 1, dave.VP8: 2, dave.H264: 4}

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
					if heard, err := c.people[to].Decrypt(from, dave.Opus, got); to != from && (err != nil || !bytes.Equal(heard, got)) {
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
	t.Run("H264", func(t *testing.T) {
		c, users := d.mixed(t, "od")
		for n := range 200 {
			frame := h264Frame(n)
			for i, from := range users {
				to := users[1-i]
				sent, err := c.people[from].Encrypt(dave.H264, frame)
				if err != nil {
					t.Fatalf("%d encrypts: %v", from, err)
				}
				got, err := c.people[to].Decrypt(from, dave.H264, sent)
				if err != nil || !bytes.Equal(got, frame) {
					t.Fatalf("%d hears %x of %d, %v; want %x", to, got, from, err, frame)
				}
			}
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
