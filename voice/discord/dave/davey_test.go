package dave_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/discordtest/delivery"
	"clank/voice/discord/dave"
)

const daveyVersion = "0.1.12"

// daveys runs members that are made of davey, which nobody here wrote: another MLS, another frame transform. All are in one process.
type daveys struct {
	t  *testing.T
	mu sync.Mutex
	in io.Writer
	br *bufio.Reader
}

// startDaveys installs davey and starts its process, which ends with the test.
func startDaveys(t *testing.T) *daveys {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("davey is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	modules := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=0",
		"--prefix", modules, "@snazzah/davey@"+daveyVersion)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("davey cannot be installed (it needs Node.js with npm): %v\n%s", err, out)
	}
	node := exec.CommandContext(t.Context(), "node", "testdata/davey.mjs", filepath.Join(modules, "node_modules/@snazzah/davey"))
	node.Stderr = t.Output()
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = node.Wait()
	})
	return &daveys{t: t, in: in, br: bufio.NewReaderSize(out, 1<<20)}
}

// davey is one member.
type davey struct {
	all *daveys
	c   *call
	id  uint64
}

func (d *daveys) member(c *call, user uint64) *davey { return &davey{all: d, c: c, id: user} }

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
func (p *davey) ask(r request, into any) error {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	r.User, r.Channel = id(p.id), id(channel)
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := p.all.in.Write(append(line, '\n')); err != nil {
		return err
	}
	answer, err := p.all.br.ReadBytes('\n')
	if err != nil {
		return err
	}
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
		Out    []struct {
			Op         byte   `json:"op"`
			Payload    []byte `json:"payload"`
			Transition uint16 `json:"transition"`
		} `json:"out"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return err
	}
	for _, o := range reply.Out {
		p.c.say(p.id, said{op: o.Op, payload: o.Payload, transition: o.Transition})
	}
	switch {
	case reply.Error != "":
		return errors.New("davey: " + reply.Error)
	case into == nil:
		return nil
	}
	return json.Unmarshal(reply.Result, into)
}

func id(user uint64) string { return strconv.FormatUint(user, 10) }

func (p *davey) choose(version int) {
	if err := p.ask(request{What: "choose", Version: version}, nil); err != nil {
		p.c.t.Error(err)
	}
}

func (p *davey) handle(m delivery.Message) error {
	if m.Data == nil {
		return p.ask(request{What: "binary", Op: int(m.Op), Payload: m.Payload}, nil)
	}
	return p.ask(request{What: "json", Op: int(m.Op), D: m.Data}, nil)
}

func (p *davey) here(users ...uint64) {
	var ids []string
	for _, u := range users {
		ids = append(ids, id(u))
	}
	if err := p.ask(request{What: "here", Users: append(ids, id(p.id))}, nil); err != nil {
		p.c.t.Error(err)
	}
}

func (p *davey) gone(user uint64) {
	if err := p.ask(request{What: "gone", Users: []string{id(user)}}, nil); err != nil {
		p.c.t.Error(err)
	}
}

// Their numbers of codecs.
var daveyCodec = map[dave.Codec]int{dave.Opus: 1, dave.VP8: 2, dave.H264: 4}

func (p *davey) encrypt(c dave.Codec, frame []byte) (sent []byte, err error) {
	err = p.ask(request{What: "encrypt", Codec: daveyCodec[c], Payload: frame}, &sent)
	return sent, err
}

func (p *davey) decrypt(from uint64, c dave.Codec, frame []byte) (got []byte, err error) {
	err = p.ask(request{What: "decrypt", Users: []string{id(from)}, Codec: daveyCodec[c], Payload: frame}, &got)
	return got, err
}

type daveyState struct {
	Code          string `json:"code"`
	Epoch         uint64 `json:"epoch"`
	Authenticator string `json:"authenticator"`
	Ready         bool   `json:"ready"`
}

func (p *davey) state() (s daveyState) {
	if err := p.ask(request{What: "state"}, &s); err != nil {
		p.c.t.Error(err)
	}
	return s
}

// code is theirs with ours' spaces.
func (p *davey) code() string {
	var groups []string
	for rest := p.state().Code; rest != ""; rest = rest[min(5, len(rest)):] {
		groups = append(groups, rest[:min(5, len(rest))])
	}
	return strings.Join(groups, " ")
}

func (p *davey) epoch() uint64 { return p.state().Epoch }

// mixed makes a call with people in the order of the pattern: o is ours, d is davey.
func (d *daveys) mixed(t *testing.T, pattern string) (*call, []uint64) {
	t.Helper()
	c := newCall(t)
	users := []uint64{ada, bob, cyd, dot, dot + 1, dot + 2}[:len(pattern)]
	for i, kind := range pattern {
		d.bring(c, users[i], kind)
	}
	return c, users
}

func (d *daveys) bring(c *call, user uint64, kind rune) {
	if kind == 'o' {
		c.ours(user)
		return
	}
	c.join(user, d.member(c, user), 1)
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
			broken := 0
			c.service.Tamper = func(m delivery.Message) []delivery.Message {
				if m.Op == delivery.OpWelcome && broken == 0 {
					broken++
					m.Payload = bytes.Clone(m.Payload)
					m.Payload[len(m.Payload)/2] ^= 1
				}
				return []delivery.Message{m}
			}
			d.bring(c, dot+3, rune(pattern[len(pattern)-1]))
			c.together()
			if broken != 1 || len(c.problems) == 0 {
				t.Errorf("%d Welcomes broken, problems %v; want it noticed", broken, c.problems)
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
				got, err := c.people[from].encrypt(dave.Opus, frames[dave.Opus])
				if err != nil || !bytes.Equal(got, frames[dave.Opus]) {
					t.Errorf("%d sends %x, %v after the downgrade", from, got, err)
				}
				for _, to := range c.order {
					if heard, err := c.people[to].decrypt(from, dave.Opus, got); to != from && (err != nil || !bytes.Equal(heard, got)) {
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
	t.Run("code of two", func(t *testing.T) {
		c, users := d.mixed(t, "od")
		var theirs string
		if err := c.people[users[1]].(*davey).ask(request{What: "verify", Users: []string{id(users[0])}}, &theirs); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(c.people[users[0]].(*ours).VerificationCode(users[1]), " ", ""); got != theirs {
			t.Errorf("ours %q, theirs %q", got, theirs)
		}
	})
	t.Run("H264", func(t *testing.T) {
		c, users := d.mixed(t, "od")
		for n := range 200 {
			frame := h264Frame(n)
			for i, from := range users {
				to := users[1-i]
				sent, err := c.people[from].encrypt(dave.H264, frame)
				if err != nil {
					t.Fatalf("%d encrypts: %v", from, err)
				}
				got, err := c.people[to].decrypt(from, dave.H264, sent)
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
