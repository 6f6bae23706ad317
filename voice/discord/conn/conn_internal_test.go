package conn

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"clank/internal/test/check"
	"clank/voice/discord/dave"
)

// idle is a transport that leads nowhere.
type idle struct{ Transport }

func (idle) Send([]byte) error { return nil }
func (idle) Close() error      { return nil }

// settledConn returns a connection that has a session but no socket.
func settledConn(tb testing.TB) (*Conn, *link) {
	tb.Helper()
	l := &link{
		queue: make(chan message, maxQueue), usable: true, onUsable: func() {}, timer: time.NewTimer(time.Hour),
		end: func(error) {},
	}
	c := &Conn{Target: Target{UserID: "1"}, self: 1, link: l, Video: true}
	s, err := dave.New(dave.Options{UserID: 1, GroupID: 2, SendBinary: c.sendBinary, SendJSON: c.sendJSON})
	check.Must(tb, err)
	check.Must(tb, s.Select(0))
	c.session = &session{ready: Ready{SSRC: 5}, described: true, transport: idle{}, dave: s, senders: NewSenderTable()}
	tb.Cleanup(func() { l.timer.Stop() })
	return c, l
}

func FuzzGatewayMessages(f *testing.F) {
	for _, text := range []string{
		`{"op":5,"d":{"ssrc":1,"user_id":"2","speaking":1},"seq":3}`, `{"op":11,"d":{"user_ids":["2","3"]}}`,
		`{"op":13,"d":{"user_id":"2"}}`,
		`{"op":15,"d":{"any":100,"5":50}}`, `{"op":14,"d":{"video_codec":"VP8"}}`, `{"op":6,"d":{"t":1}}`,
		`{"op":9,"d":null}`,
		`{"op":24,"d":{"epoch":1,"protocol_version":1}}`, `{"op":21,"d":{"transition_id":0,"protocol_version":1}}`,
		`{"op":22,"d":{"transition_id":1}}`,
		`{"op":4,"d":{"secret_key":[1,2,256]}}`, `{"op":2,"d":{}}`, `{"op":99}`,
	} {
		f.Add(false, []byte(text))
	}
	f.Add(true, []byte{0, 1, 25, 2, 3})
	f.Add(true, []byte{0, 1, 27, 0, 0})
	f.Add(true, []byte{0, 1, 30, 0, 1})
	f.Fuzz(func(t *testing.T, binary bool, data []byte) {
		c, l := settledConn(t)
		l.hasHeartbeat = true // no goroutines here
		if binary {
			c.handleBinary(l, data)
			return
		}
		_ = c.handleText(t.Context(), l, data) // an error ends the socket
	})
}

func TestNobodyKeepsUsFromHearingOthers(t *testing.T) {
	c, l := settledConn(t)
	heard := map[string]int{}
	c.Handle = func(e Event) {
		if e.Kind == PacketReceived {
			heard[e.Packet.From]++
		}
	}
	feed := func(text string) {
		check.Must(t, c.handleText(t.Context(), l, []byte(text)))
	}
	packet := func(ssrc uint32, n int) []byte {
		p := binary.BigEndian.AppendUint32([]byte{0x80, typeOpus, byte(n >> 8), byte(n), 0, 0, 0, 0}, ssrc)
		return append(p, 0x78, byte(n))
	}
	feed(`{"op":11,"d":{"user_ids":["2","3"]}}`)
	feed(`{"op":5,"d":{"ssrc":1,"user_id":"3","speaking":1}}`)
	for ssrc := range uint32(5000) { // one person, thousands of sources
		feed(fmt.Sprintf(`{"op":5,"d":{"ssrc":%d,"user_id":"2","speaking":1}}`, ssrc+2))
		c.handlePacket(c.session, packet(ssrc+2, 1))
	}
	const maxBurst = 20000 // packets of one person that are read at once
	for n := range 2 * maxBurst {
		c.handlePacket(c.session, packet(2, n+2))
	}
	c.handlePacket(c.session, packet(1, 1))
	if heard["2"] > 3*maxBurst/2 || heard["3"] != 1 {
		t.Errorf("heard %v, want no more than %d at once of one person, and the other", heard, maxBurst)
	}
	feed(`{"op":5,"d":{"ssrc":9999,"user_id":"3","speaking":1}}`)
	c.handlePacket(c.session, packet(9999, 1))
	if heard["3"] != 2 {
		t.Error("who begins to speak after a flood of sources is not heard")
	}
	for op := 100; op < 5000; op++ {
		feed(fmt.Sprintf(`{"op":%d,"d":{}}`, op))
	}
	if n := len(c.reportedOps); n > maxReportedOps {
		t.Errorf("%d strange kinds of message are remembered", n)
	}
}

func FuzzDiscoveryAnswer(f *testing.F) {
	f.Add(append(discoveryRequest(7), 0))
	answer := discoveryRequest(7)
	answer[1] = 2
	copy(answer[8:], "192.0.2.1")
	binary.BigEndian.PutUint16(answer[72:], 50000)
	f.Add(answer)
	f.Fuzz(func(t *testing.T, data []byte) {
		if seen, ok := discoveryAnswer(data, 7); ok && !seen.IsValid() {
			t.Errorf("%x was read as %v", data, seen)
		}
	})
}

func TestDiscoveryAnswersAreChecked(t *testing.T) {
	answer := discoveryRequest(7)
	answer[1] = 2
	copy(answer[8:], "192.0.2.1")
	binary.BigEndian.PutUint16(answer[72:], 50000)
	if seen, ok := discoveryAnswer(answer, 7); !ok || seen.String() != "192.0.2.1:50000" {
		t.Errorf("got %v, %v", seen, ok)
	}
	for name, bad := range map[string]func([]byte) []byte{
		"our own question": func(a []byte) []byte { a[1] = 1; return a },
		"another's":        func(a []byte) []byte { a[7]++; return a },
		"no address":       func(a []byte) []byte { a[8] = 'x'; return a },
		"no port":          func(a []byte) []byte { a[72], a[73] = 0, 0; return a },
		"too short":        func(a []byte) []byte { return a[:73] },
	} {
		if seen, ok := discoveryAnswer(bad(append([]byte(nil), answer...)), 7); ok {
			t.Errorf("%s was read as %v", name, seen)
		}
	}
}

func TestNumbersOfMessagesWrap(t *testing.T) {
	l := &link{resumed: true}
	l.seq.Store(65534)
	for _, step := range []struct {
		seq int
		new bool
	}{{65534, false}, {65535, true}, {65535, false}, {0, true}, {0, false}, {1, true}} {
		check.Equal(t, fmt.Sprintf("message %d is new", step.seq), l.advance(step.seq), step.new)
	}
}

// a server that answers keep-alives, until it is told not to.
func TestASilentTransportIsNoticed(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check.Must(t, err)
	defer server.Close()
	conn, err := net.DialUDP("udp4", nil, server.LocalAddr().(*net.UDPAddr))
	check.Must(t, err)
	failed := make(chan error, 1)
	u := NewUDP(func([]byte) {}, func(err error) { failed <- err }).(*udp)
	u.conn, u.mode, u.every = conn, ModeAES256GCM, 5*time.Millisecond
	check.Must(t, u.Start(t.Context(), Description{Mode: ModeAES256GCM, Key: make([]byte, 32)}))
	defer u.Close()
	buf := make([]byte, 100)
	for range 3 {
		n, from, err := server.ReadFromUDP(buf)
		if err != nil || n != pingSize {
			t.Fatalf("%d bytes, %v", n, err)
		}
		check.Must(t, check.Err(server.WriteToUDP(buf[:n], from)))
	}
	select {
	case err := <-failed:
		check.Fails(t, err, nil, "does not answer over UDP any more")
	case <-time.After(30 * time.Second):
		t.Error("the silence was not noticed")
	}
}

func BenchmarkPacketOut(b *testing.B) {
	c, _ := settledConn(b)
	c.out.reset(time.Now())
	opus := make([]byte, 160)
	for b.Loop() {
		check.Must(b, c.SendAudio(opus))
	}
}

func BenchmarkPacketIn(b *testing.B) {
	c, _ := settledConn(b)
	c.Handle = func(Event) {}
	c.assignSource(9, "2")
	packet := append([]byte{0x80, typeOpus, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}, make([]byte, 160)...)
	for n := 1; b.Loop(); n++ {
		if n%10000 == 0 { // faster than anybody speaks
			c.session.senders.RemoveUser("2")
			c.assignSource(9, "2")
		}
		binary.BigEndian.PutUint16(packet[2:], binary.BigEndian.Uint16(packet[2:])+1)
		c.handlePacket(c.session, packet)
	}
	if c.Stats().Received == 0 {
		b.Fatal("nothing was heard")
	}
}

// router is a transport over a link that carries so many bytes a second and holds so many that wait for it; more is
// lost.
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
					check.Must(t, c.SendVideo(picture(size), time.Now()))
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
					t.Errorf("%d pictures of %d bytes passed the router, and %d packets were lost there; want 3 of %d", last, got,
						r.lost, 3*size)
				}
			})
		})
	}
}

func TestWhatWaitsDoesNotOutliveTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &router{rate: 1e12, hold: 1e12}
		c := showing(t, r)
		check.Must(t, c.SendVideo(picture(200<<10), time.Now()))
		synctest.Wait()
		c.dropSession()
		before := r.count()
		pass(time.Second)
		if got := r.count() - before; got > 0 {
			t.Errorf("%d packets went after the end", got)
		}
	})
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
				check.Must(t, c.SendVideo(picture(5000), time.Now()))
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
		"of what has ended": func(c *Conn, next uint16) { c.out.pacer.Clear(); c.nack(6, next-1) },
		"the transport's": func(c *Conn, next uint16) {
			c.session.transport = itself{c.session.transport.(*router)}
			c.nack(6, next-1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &router{rate: 1e12, hold: 1e12}
				c := showing(t, r)
				check.Must(t, c.SendVideo(picture(5000), time.Now()))
				pass(time.Second / 8)
				try(c, r.sent[len(r.sent)-1].SequenceNumber+1)
				pass(time.Second)
				check.Equal(t, "packets were sent again", c.Stats().Repeated, 0)
			})
		})
	}
}

func TestARepeatedPacketIsDroppedAndNoOtherIs(t *testing.T) {
	c, err := NewCipher(ModeAES256GCM, make([]byte, 32))
	check.Must(t, err)
	type packet struct{ sealed, plain []byte }
	// made is a packet of a source with a nonce; said is what tells it from others with the same.
	made := func(ssrc, n, said uint32, nonce [4]byte) packet {
		plain := binary.BigEndian.AppendUint16([]byte{0x80, typeOpus}, uint16(65000+n))
		plain = binary.BigEndian.AppendUint32(plain, n*960)
		plain = binary.BigEndian.AppendUint32(plain, ssrc)
		plain = binary.BigEndian.AppendUint32(plain, said)
		whole := make([]byte, c.aead.NonceSize())
		copy(whole, nonce[:])
		return packet{append(c.aead.Seal(bytes.Clone(plain[:12]), whole, plain[12:], plain[:12]), nonce[:]...), plain}
	}
	little := func(n uint32) (b [4]byte) { binary.LittleEndian.PutUint32(b[:], n); return b }
	big := func(n uint32) (b [4]byte) { binary.BigEndian.PutUint32(b[:], n); return b }
	stream := func(ssrc, said uint32, count func(uint32) [4]byte) (all []packet) {
		for n := range uint32(2000) { // over the end of the sequence numbers
			all = append(all, made(ssrc, n, said, count(n)))
		}
		return all
	}
	late := stream(1, 0, big)
	for from := 0; from+65 <= len(late); from += 65 {
		slices.Reverse(late[from : from+65])
	}
	report := []byte{0x81, 201, 0, 1, 0, 0, 0, 1}
	control := packet{append(bytes.Clone(report), 9, 9, 0, 0, 0, 1), report}
	const anew = "a server that begins anew with the same numbers"
	for name, all := range map[string][]packet{
		"counted in one order of bytes": stream(1, 0, little),
		"counted in the other":          stream(1, 0, big),
		"counted to the end":            stream(1, 0, func(n uint32) [4]byte { return big(n - 1000) }),
		"counted at random":             stream(1, 0, func(n uint32) [4]byte { return big(n * 2654435761) }),
		"late by 64":                    late,
		"each source counted by itself": append(stream(1, 0, big), stream(2, 0, big)...),
		"control beside sound":          append(stream(1, 0, big), control),
		anew:                            append(stream(1, 0, big), stream(1, 1, big)...),
	} {
		g, lost := new(replayGuard), 0
		for _, p := range all {
			if g.repeated(p.sealed, p.plain) {
				lost++
			}
		}
		if lost > len(all)/100 || lost > 0 && name != anew {
			t.Errorf("%s: %d of %d packets are dropped that came once", name, lost, len(all))
		}
		for i, p := range all {
			if !g.repeated(p.sealed, p.plain) {
				t.Fatalf("%s: packet %d is taken twice", name, i)
			}
		}
		if g = new(replayGuard); g.repeated(all[0].sealed, all[0].plain) {
			t.Errorf("%s: a new key does not begin anew", name)
		}
	}
	g, all := new(replayGuard), stream(1, 0, big)
	for n := range uint32(maxRemembered + 10) { // the first are forgotten in the end, and nothing grows without it
		p := made(2, n, 0, big(n))
		g.repeated(p.sealed, p.plain)
	}
	if g.repeated(all[0].sealed, all[0].plain) || len(g.recent) > maxRemembered || len(g.before) != maxRemembered {
		t.Errorf("%d and %d packets are remembered", len(g.recent), len(g.before))
	}
}
