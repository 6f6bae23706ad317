package conn

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

// router is a transport over a link that carries so many bytes a second and holds so many that wait for it; more is lost.
type router struct {
	Transport
	rate, hold float64 // bytes

	mu     sync.Mutex
	queued float64
	at     time.Time
	sent   []rtp.Packet
	times  []time.Time
	lost   int
}

// count returns how many packets have passed.
func (r *router) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sent)
}

func (r *router) Close() error { return nil }

func (r *router) Send(packet []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.queued = max(0, r.queued-now.Sub(r.at).Seconds()*r.rate)
	r.at = now
	if r.queued+float64(len(packet)) > r.hold {
		r.lost++
		return nil
	}
	r.queued += float64(len(packet))
	var p rtp.Packet
	if err := p.Unmarshal(bytes.Clone(packet)); err != nil {
		return err
	}
	r.sent, r.times = append(r.sent, p), append(r.times, now)
	return nil
}

// showing returns a connection that shows pictures of 8 a second over a router, with the goroutine that sends them.
func showing(t *testing.T, r *router) *Conn {
	t.Helper()
	c, _ := settledConn(t)
	c.paceWake = make(chan struct{}, 1)
	c.out.reset(time.Now())
	c.initPacer()
	c.session.ready.Streams = []stream{{SSRC: 6, RTX: 7}}
	c.session.transport = r
	c.ShowVideo(Format{Rate: 8})
	ctx, cancel := context.WithCancel(t.Context())
	var pacer sync.WaitGroup
	pacer.Go(func() { c.pace(ctx) })
	t.Cleanup(func() { cancel(); pacer.Wait() })
	return c
}

// pass lets time go by in a bubble.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of synctest
	synctest.Wait()
}

func picture(size int) []byte { return bytes.Repeat([]byte{0x10}, size) }

func TestALargePictureLeavesAtAPace(t *testing.T) {
	for _, size := range []int{500, 5 << 10, 60 << 10, 200 << 10} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &router{rate: 30e6 / 8, hold: 16 << 10}
				c := showing(t, r)
				began := time.Now()
				for range 3 {
					if err := c.SendVideo(picture(size), time.Now()); err != nil {
						t.Fatal(err)
					}
					if r.count() == 0 {
						t.Error("nothing had gone when SendVideo returned")
					}
					pass(time.Second / 8)
				}
				synctest.Wait()
				got, last := 0, 0
				for i, p := range r.sent {
					got += len(p.Payload) - 4 // the payload's descriptor
					if i > 0 && p.SequenceNumber != r.sent[i-1].SequenceNumber+1 {
						t.Fatalf("packet %d follows on %d", p.SequenceNumber, r.sent[i-1].SequenceNumber)
					}
					if took := r.times[i].Sub(began.Add(time.Duration(last) * time.Second / 8)); took > time.Second/16 {
						t.Errorf("picture %d took %s, which is more than half of the time to the next", last, took)
					}
					if p.Marker {
						last++
					}
				}
				if r.lost > 0 || last != 3 || got != 3*size {
					t.Errorf("%d pictures of %d bytes passed the router, and %d packets were lost there; want 3 of %d", last, got, r.lost, 3*size)
				}
			})
		})
	}
}

func TestWhatWaitsDoesNotOutliveThePictures(t *testing.T) {
	for name, end := range map[string]func(*Conn){"hidden": (*Conn).HideVideo, "another session": (*Conn).dropSession} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &router{rate: 1e12, hold: 1e12}
				c := showing(t, r)
				if err := c.SendVideo(picture(200<<10), time.Now()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				end(c)
				before := r.count()
				pass(time.Second)
				if got := r.count() - before; got > 0 {
					t.Errorf("%d packets went after the end", got)
				}
			})
		})
	}
}

// nack asks for packets again.
func (c *Conn) nack(ssrc uint32, numbers ...uint16) {
	p := rtcp.TransportLayerNack{SenderSSRC: 1, MediaSSRC: ssrc, Nacks: rtcp.NackPairsFromSequenceNumbers(numbers)}
	data, _ := p.Marshal() // of what was made here
	c.handleRTCP(c.session, data)
}

func TestWhatWasLostIsSentAgain(t *testing.T) {
	for name, rtx := range map[string]uint32{"by its own source": 7, "as it was": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &router{rate: 1e12, hold: 1e12}
				c := showing(t, r)
				c.session.ready.Streams[0].RTX = rtx
				if err := c.SendVideo(picture(5000), time.Now()); err != nil {
					t.Fatal(err)
				}
				pass(time.Second / 8)
				n := len(r.sent)
				lost := r.sent[n-1]
				c.nack(6, lost.SequenceNumber)
				pass(time.Millisecond)
				synctest.Wait()
				if len(r.sent) != n+1 {
					t.Fatalf("%d packets went, want one", len(r.sent)-n)
				}
				got, want := r.sent[n], lost
				if rtx != 0 {
					want.SSRC, want.PayloadType = rtx, typeVP8RTX
					want.Payload = append(binary.BigEndian.AppendUint16(nil, lost.SequenceNumber), lost.Payload...)
					want.SequenceNumber = got.SequenceNumber // which begins anywhere
				}
				a, errA := got.Marshal()
				b, errB := want.Marshal()
				if errA != nil || errB != nil || !bytes.Equal(a, b) {
					t.Errorf("sent again was\n%+v, want\n%+v", got.Header, want.Header)
				}
				if got := c.Stats(); got.Repeated != 1 || got.Sent != uint64(n) {
					t.Errorf("counted %d sent and %d repeated, want %d and 1", got.Sent, got.Repeated, n)
				}
			})
		})
	}
}

// itself is a transport that sends again by itself.
type itself struct{ *router }

func (itself) Sources() (video, rtx uint32) { return 0, 0 }

func TestWhatNobodyCanHaveLostIsNotSentAgain(t *testing.T) {
	for name, try := range map[string]func(*Conn, uint16){
		"of another source": func(c *Conn, next uint16) { c.nack(9, next-1); c.nack(5, next-1); c.nack(7, next-1) },
		"of what has ended": func(c *Conn, next uint16) { c.HideVideo(); c.nack(6, next-1) },
		"the transport's": func(c *Conn, next uint16) {
			c.session.transport = itself{c.session.transport.(*router)}
			c.nack(6, next-1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &router{rate: 1e12, hold: 1e12}
				c := showing(t, r)
				if err := c.SendVideo(picture(5000), time.Now()); err != nil {
					t.Fatal(err)
				}
				pass(time.Second / 8)
				try(c, r.sent[len(r.sent)-1].SequenceNumber+1)
				pass(time.Second)
				if got := c.Stats().Repeated; got != 0 {
					t.Errorf("%d packets were sent again", got)
				}
			})
		})
	}
}
