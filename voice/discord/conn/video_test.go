package conn_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pion/rtcp"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/delivery"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	"clank/voice/discord/conn"
)

// stream opens a connection that shows pictures, and brings somebody who watches.
func (h hall) stream(t *testing.T) (*conn.Conn, *events, *voicetest.Member) {
	t.Helper()
	c, e := h.open(t, func(c *conn.Conn) {
		c.Video, c.SpeakingFlags, c.ReportEvery = true, conn.SpeakingSoundshare, 30*time.Millisecond
	})
	m := h.join(t, ada, func(o *voicetest.MemberOptions) { o.Video = true })
	return c, e, m
}

func TestPicturesArriveWhole(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	c, e, m := h.stream(t)
	codec, at := e.kind(t, 0, conn.CodecChosen)
	check.Equal(t, "the codec", codec.Text, "VP8")
	frame := bytes.Repeat([]byte{0x10, 2, 3, 4, 5, 6, 7}, 1000) // bit 0 is a key frame's
	check.Fails(t, c.SendVideo(frame, time.Now()), voice.ErrUnavailable)
	c.ShowVideo(conn.Format{Width: 1280, Height: 720, Rate: 8, Bitrate: 4_000_000})
	m.RequestQuality(100)
	want, at := e.kind(t, at, conn.QualityWanted)
	for want.Quality != 100 {
		want, at = e.kind(t, at, conn.QualityWanted)
	}
	taken := time.Now()
	for i := range 2 {
		check.Must(t, c.SendVideo(frame, taken.Add(time.Duration(i)*125*time.Millisecond)))
	}
	var first uint32
	for i := range 2 {
		f := voicetest.NextFrame(t, m)
		if !f.Video || f.From != self || f.Payload != 105 || !bytes.Equal(f.Data, frame) {
			t.Errorf("picture %d: %d bytes of type %d from %s, want %d of type 105", i, len(f.Data), f.Payload, f.From,
				len(frame))
		}
		if i == 0 {
			first = f.Timestamp
		} else if got := f.Timestamp - first; got < 11249 || got > 11251 {
			t.Errorf("an eighth of a second is %d ticks, want 11250", got)
		}
	}
	if got := masks(t, h, 1); !cmp.Equal(got, []int{conn.SpeakingSoundshare}) {
		t.Errorf("we spoke as %v, want the sound of something shared", got)
	}
	if got := h.Violations(); len(got) > 0 {
		t.Errorf("violations %v", got)
	}
}

func TestPicturesAreAnnouncedAgainAfterAReconnect(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	c, e, _ := h.stream(t)
	c.ShowVideo(conn.Format{Width: 640, Height: 480})
	list := func() (ours []voicetest.Message) {
		for _, m := range h.Received(voicetest.OpVideo) {
			if m.Seat == seat {
				ours = append(ours, m)
			}
		}
		return ours
	}
	_, at := e.kind(t, 0, conn.Up)
	h.await(t, "announcement", func() bool { return len(list()) == 2 })
	check.Must(t, h.CloseSeat(seat, voicetest.CloseTimeout, ""))
	e.next(t, at, "Up", func(ev conn.Event) bool { return ev.Kind == conn.Up })
	h.await(t, "announcements", func() bool { return len(list()) == 3 }) // empty, shown, shown again
	var last struct {
		VideoSSRC uint32 `json:"video_ssrc"`
		Streams   []struct {
			MaxResolution struct{ Width, Height int } `json:"max_resolution"`
		}
	}
	messages := list()
	check.Must(t, json.Unmarshal(messages[len(messages)-1].Data, &last))
	now, _ := h.Client(seat)
	if last.VideoSSRC == 0 || last.VideoSSRC != now.Video || len(last.Streams) != 1 ||
		last.Streams[0].MaxResolution.Width != 640 {
		t.Errorf("announced %s, want source %d", messages[len(messages)-1].Data, now.Video)
	}
}

func TestLostPicturesAreAskedFor(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	_, e, m := h.stream(t)
	now, _ := h.Client(seat)
	pli, err := (&rtcp.PictureLossIndication{SenderSSRC: 1, MediaSSRC: now.Video}).Marshal()
	check.Must(t, err)
	check.Must(t, m.SendRTCP(pli))
	e.kind(t, 0, conn.KeyFrameWanted)
}

func TestAnotherCodecIsTold(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	_, e, _ := h.stream(t)
	h.ChooseVideoCodec("H264")
	e.next(t, 0, "H264", func(ev conn.Event) bool { return ev.Kind == conn.CodecChosen && ev.Text == "H264" })
}

func TestFramesHaveASize(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	c, _, _ := h.stream(t)
	for _, frame := range [][]byte{nil, make([]byte, 3<<20)} {
		if err := c.SendVideo(frame, time.Now()); err == nil || errors.Is(err, voice.ErrUnavailable) {
			t.Errorf("SendVideo of %d bytes = %v", len(frame), err)
		}
	}
}

func TestSendersAndReceiversReport(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	c, e, m := h.stream(t)
	m.Speak(conn.SpeakingMicrophone)
	for i := range byte(3) {
		check.Must(t, errors.Join(m.Send([]byte{i}), c.SendAudio([]byte{i})))
	}
	e.kind(t, 0, conn.PacketReceived)
	theirs, _ := m.SSRC()
	us, _ := h.Client(seat)
	var sender *rtcp.SenderReport
	var block *rtcp.ReceptionReport
	h.await(t, "reports", func() bool {
		for _, control := range h.RTCP() {
			packets, err := rtcp.Unmarshal(control.Packet)
			if err != nil || control.Seat != seat {
				t.Errorf("control %x of %v: %v", control.Packet, control.Seat, err)
			}
			for _, p := range packets {
				switch p := p.(type) {
				case *rtcp.SenderReport:
					sender = p
				case *rtcp.ReceiverReport:
					block = &p.Reports[0]
				}
			}
		}
		return sender != nil && sender.PacketCount == 3 && block != nil
	})
	if at := time.Unix(int64(sender.NTPTime>>32)-2208988800, 0); time.Since(at).Abs() > time.Minute ||
		sender.SSRC != us.Audio {
		t.Errorf("our report of %s about %d, want one of now about %d", at, sender.SSRC, us.Audio)
	}
	if block.SSRC != theirs || block.FractionLost != 0 {
		t.Errorf("we tell %+v of ada, want nothing lost of %d", block, theirs)
	}
	loss := rtcp.ReceiverReport{SSRC: theirs, Reports: []rtcp.ReceptionReport{{SSRC: us.Audio, FractionLost: 64}}}
	data, err := loss.Marshal()
	check.Must(t, err)
	check.Must(t, h.SendRTCP(seat, data))
	limit := voicetest.Deadline(t)
	for c.Stats().LostSent != 0.25 {
		select {
		case <-limit.Done():
			t.Fatalf("the loss is %v, want a quarter", c.Stats().LostSent)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// tapped opens a connection, and returns what takes packets as if they had come.
func (h hall) tapped(t *testing.T) (*conn.Conn, *events, func(ssrc uint32, n byte)) {
	t.Helper()
	made := make(chan func([]byte), 1)
	c, e := h.open(t, func(c *conn.Conn) {
		c.Transport = func(received func([]byte), failed func(error)) conn.Transport {
			made <- received
			return conn.NewUDP(received, failed)
		}
	})
	received := <-made
	return c, e, func(ssrc uint32, n byte) {
		received(append(binary.BigEndian.AppendUint32([]byte{0x80, 120, 0, n, 0, 0, 0, 0}, ssrc), n))
	}
}

func TestPacketsThatComeEarlyAreKept(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	_, e, came := h.tapped(t)
	came(77, 1)
	came(77, 2)
	came(78, 3)
	check.Must(t, h.Send(seat, voicetest.OpVideo, `{"user_id":"901","audio_ssrc":77,"video_ssrc":0}`))
	at := 0
	for _, n := range []byte{1, 2, 4} {
		if n == 4 {
			came(77, n)
		}
		var ev conn.Event
		ev, at = e.kind(t, at, conn.PacketReceived)
		if ev.Packet.From != ada || !bytes.Equal(ev.Packet.Opus, []byte{n}) {
			t.Errorf("heard %+v, want packet %d of ada", ev.Packet, n)
		}
	}
}

func TestPacketsOfNobodyAreCountedAndDropped(t *testing.T) {
	c, e, came := newHall(t, voicetest.Config{}).tapped(t)
	for n := range byte(40) {
		came(5, n)
	}
	if got := c.Stats().Unknown; got == 0 || e.count(conn.PacketReceived) != 0 {
		t.Errorf("%d packets counted, %d heard; want some and none", got, e.count(conn.PacketReceived))
	}
}

func TestTransportThatFailsIsReplaced(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	failures := make(chan func(error), 4)
	c, e := h.open(t, func(c *conn.Conn) {
		c.Transport = func(received func([]byte), failed func(error)) conn.Transport {
			failures <- failed
			return conn.NewUDP(received, failed)
		}
	})
	_, at := e.kind(t, 0, conn.Up)
	(<-failures)(errors.New("no route"))
	_, at = e.kind(t, at, conn.Down)
	e.kind(t, at, conn.Up)
	if got := len(h.Received(voicetest.OpIdentify)); got != 2 || c.SendAudio([]byte{1}) != nil {
		t.Errorf("%d identifications, want two", got)
	}
}

func encrypted(o *voicetest.MemberOptions) { o.Privacy, o.Video = voicetest.NewDAVESession, true }

// poll waits until a condition holds that nobody tells of.
func poll(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx := voicetest.Deadline(t)
	for !cond() {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("no %s", what)
		}
	}
}

// agreed waits until we and the others have the same keys.
func (h hall) agreed(t *testing.T, c *conn.Conn, others ...*voicetest.Member) {
	t.Helper()
	h.await(t, "the group to settle", func() bool { return h.Settled(guild, channel) })
	poll(t, "common code", func() bool {
		for _, m := range others {
			s, ok := m.Private().(*voicetest.DAVESession)
			if !ok || !s.Ready() || s.PrivacyCode() == "" || s.PrivacyCode() != c.PrivacyCode() {
				return false
			}
		}
		return true
	})
}

func TestNothingIsSentWhileKeysAreAgreed(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	first := h.join(t, ada, encrypted)
	h.await(t, "a group of one", func() bool { return h.Settled(guild, channel) })
	group := func(do func(*delivery.Service)) {
		check.Must(t, h.Group(guild, channel, do))
	}
	group(func(g *delivery.Service) { g.Hold = true })
	c, e := h.open(t, nil)
	h.await(t, "a commit", func() bool {
		held := 0
		group(func(g *delivery.Service) { held = g.Held() })
		return held > 0
	})
	check.Fails(t, c.SendAudio([]byte("plain")), voice.ErrUnavailable)
	check.Must(t, c.EndSpeech())
	if got, _ := h.Client(seat); got.Received != 0 || c.Stats().Sent != 0 || e.count(conn.Up) != 0 {
		t.Errorf("the server got %d packets, we sent %d, up %d times; want nothing", got.Received, c.Stats().Sent,
			e.count(conn.Up))
	}
	group(func(g *delivery.Service) { _ = g.Release() }) // of two members' commits one is late
	e.kind(t, 0, conn.Up)
	h.agreed(t, c, first)
	talk(t, c, e, first, "now")
}

// talk has us and another say something that the other one reads.
func talk(t *testing.T, c *conn.Conn, e *events, m *voicetest.Member, word string) {
	t.Helper()
	said := []byte("clank says " + word)
	stop := voicetest.Repeat(t, func() error { return c.SendAudio(said) })
	for {
		f := voicetest.NextFrame(t, m)
		if f.From == self && bytes.Contains(f.Encrypted, []byte("says "+word)) {
			t.Errorf("%q can be read on the way", f.Encrypted)
		}
		if f.From == self && bytes.Equal(f.Data, said) {
			break
		}
	}
	stop()
	m.Speak(conn.SpeakingMicrophone)
	said = []byte(m.User + " says " + word)
	stop = voicetest.Repeat(t, func() error { return m.Send(said) })
	e.next(t, 0, word+" of "+m.User, func(ev conn.Event) bool {
		return ev.Kind == conn.PacketReceived && ev.Packet.From == m.User && bytes.Equal(ev.Packet.Opus, said)
	})
	stop()
}

func TestAnEncryptedCallIsHeardThroughAllThatHappens(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	c, e := h.open(t, nil)
	first := h.join(t, ada, encrypted)
	_, at := e.kind(t, 0, conn.Up)
	h.agreed(t, c, first)
	talk(t, c, e, first, "hello")
	second := h.join(t, "902", encrypted)
	h.agreed(t, c, first, second)
	talk(t, c, e, second, "welcome")
	check.Must(t, first.Close())
	h.agreed(t, c, second)
	talk(t, c, e, second, "alone")

	check.Must(t, h.Drop(seat))
	_, at = e.kind(t, at, conn.Down)
	_, at = e.kind(t, at, conn.Up)
	talk(t, c, e, second, "resumed")

	check.Must(t, h.CloseSeat(seat, voicetest.CloseTimeout, ""))
	_, at = e.kind(t, at, conn.Down)
	e.kind(t, at, conn.Up)
	h.agreed(t, c, second)
	talk(t, c, e, second, "anew")
	if got := h.Violations(); len(got) > 0 {
		t.Errorf("violations %v", got)
	}
}

func TestJoiningAnEncryptedCallLast(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	first := h.join(t, ada, encrypted)
	c, e := h.open(t, nil)
	e.kind(t, 0, conn.Up)
	h.agreed(t, c, first)
	talk(t, c, e, first, "late")
}

func TestPicturesAreEncrypted(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	c, e := h.open(t, func(c *conn.Conn) { c.Video = true })
	m := h.join(t, ada, encrypted)
	e.kind(t, 0, conn.Up)
	h.agreed(t, c, m)
	c.ShowVideo(conn.Format{Width: 1280, Height: 720})
	m.RequestQuality(100)
	e.next(t, 0, "wish", func(ev conn.Event) bool { return ev.Kind == conn.QualityWanted && ev.Quality == 100 })
	frame := append([]byte{0x10, 2, 0, 0x9d, 1, 0x2a, 0, 5, 0xd0, 2}, bytes.Repeat([]byte("picture"), 5000)...)
	check.Must(t, c.SendVideo(frame, time.Now()))
	f := voicetest.NextFrame(t, m)
	if !bytes.Equal(f.Data, frame) || bytes.Contains(f.Encrypted, []byte("picture")) ||
		!bytes.Equal(f.Encrypted[:10], frame[:10]) {
		t.Errorf("got %d bytes (%v), want %d, encrypted but for the first ten", len(f.Data), f.Err, len(frame))
	}
}

func TestWhoSpeaksUnannouncedIsFoundByTheirKey(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	c, e := h.open(t, func(c *conn.Conn) {
		c.Transport = func(received func([]byte), failed func(error)) conn.Transport {
			return conn.NewUDP(func(p []byte) {
				binary.BigEndian.PutUint32(p[8:], 4242)
				received(p)
			}, failed)
		}
	})
	m, other := h.join(t, ada, encrypted), h.join(t, "902", encrypted)
	h.agreed(t, c, m, other)
	m.Speak(conn.SpeakingMicrophone)
	h.await(t, "speaking", func() bool { return len(h.Received(voicetest.OpSpeaking)) > 0 })
	for i := range byte(20) {
		check.Must(t, m.Send([]byte{0x78, i}))
	}
	ev, _ := e.kind(t, 0, conn.PacketReceived)
	if ev.Packet.From != ada || ev.Packet.Opus[0] != 0x78 {
		t.Errorf("heard %+v, want ada", ev.Packet)
	}
}

func TestACallWithoutEncryptionGoesOnInTheClear(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1, Optional: true})
	c, e := h.open(t, nil)
	first := h.join(t, ada, encrypted)
	h.agreed(t, c, first)
	old := h.join(t, "902", nil)
	_, at := e.kind(t, 0, conn.EncryptionOff)
	said := []byte("in the clear")
	stop := voicetest.Repeat(t, func() error { return c.SendAudio(said) })
	for _, m := range []*voicetest.Member{old, first} {
		for {
			f := voicetest.NextFrame(t, m)
			if bytes.Equal(f.Encrypted, said) && bytes.Equal(f.Data, said) {
				break
			}
		}
	}
	stop()
	check.Must(t, old.Close())
	h.agreed(t, c, first)
	e.kind(t, at, conn.EncryptionOn)
	talk(t, c, e, first, "private again")
}

// twice is a network that delivers everything twice, and everything again after three packets.
type twice struct {
	net.Conn
	before, again [][]byte
}

func (c *twice) Read(p []byte) (int, error) {
	if len(c.again) > 0 {
		n := copy(p, c.again[0])
		c.again = c.again[1:]
		return n, nil
	}
	n, err := c.Conn.Read(p)
	if err != nil {
		return n, err
	}
	c.before = append(c.before, bytes.Clone(p[:n]))
	if c.again = c.before[len(c.before)-1:]; len(c.before)%3 == 0 {
		c.again = slices.Clone(c.before)
	}
	return n, nil
}

func TestARepeatedPacketIsDroppedWithoutEncryptionToo(t *testing.T) {
	for version, how := range map[int]func(*voicetest.MemberOptions){0: nil, 1: encrypted} {
		h := newHall(t, voicetest.Config{DAVE: version})
		c, e := h.open(t, func(c *conn.Conn) {
			c.Transport = conn.NewUDPWithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				made, err := (&net.Dialer{}).DialContext(ctx, network, address)
				return &twice{Conn: made}, err
			})
		})
		m := h.join(t, ada, how)
		if version > 0 {
			h.agreed(t, c, m)
		}
		_, at := e.kind(t, 0, conn.Up)
		m.Speak(conn.SpeakingMicrophone)
		h.await(t, "speaking", func() bool { return len(h.Received(voicetest.OpSpeaking)) > 0 })
		for i := range byte(24) {
			if i == 12 { // the session goes on over another socket of the gateway
				check.Must(t, h.Drop(seat))
				_, at = e.kind(t, at, conn.Down)
				_, at = e.kind(t, at, conn.Up)
			}
			check.Must(t, m.Send([]byte{0x78, i}))
			var ev conn.Event
			if ev, at = e.kind(t, at, conn.PacketReceived); ev.Packet.Opus[1] != i {
				t.Errorf("DAVE %d: packet %d is %x", version, i, ev.Packet.Opus)
			}
		}
	}
}

func TestNothingGoesOutInTheClearWhereEncryptionIsRequired(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1, Optional: true})
	c, e := h.open(t, func(c *conn.Conn) { c.RequireEncryption = true })
	first := h.join(t, ada, encrypted)
	h.agreed(t, c, first)
	old := h.join(t, "902", nil)
	_, at := e.kind(t, 0, conn.EncryptionOff)
	// Until the others are ready, too, what goes out is still encrypted.
	poll(t, "nothing going out", func() bool {
		return errors.Is(c.SendAudio([]byte("in the clear")), voice.ErrUnavailable)
	})
	check.Must(t, old.Close())
	h.agreed(t, c, first)
	e.kind(t, at, conn.EncryptionOn)
	talk(t, c, e, first, "private again")
}

func TestADowngradeThatIsOnlyAnnouncedIsToldToo(t *testing.T) {
	h := newHall(t, voicetest.Config{DAVE: 1})
	c, e := h.open(t, nil)
	first := h.join(t, ada, encrypted)
	h.agreed(t, c, first)
	check.Equal(t, "e.count(conn.EncryptionOff)", e.count(conn.EncryptionOff), 0)
	check.Must(t, h.Send(seat, voicetest.OpPrepareEpoch, `{"epoch":1}`))
	check.Must(t, h.Send(seat, 21, `{"transition_id":7,"protocol_version":0}`))
	e.kind(t, 0, conn.EncryptionOff)
	first.Speak(conn.SpeakingMicrophone)
	talk(t, c, e, first, "still private")
}

func TestNobodyTakesTheVoiceOfAnother(t *testing.T) {
	for _, version := range []int{0, 1} {
		h := newHall(t, voicetest.Config{DAVE: version})
		c, e := h.open(t, nil)
		how := encrypted
		if version == 0 {
			how = nil
		}
		victim, liar := h.join(t, ada, how), h.join(t, "902", how)
		if version > 0 {
			h.agreed(t, c, victim, liar)
		}
		says := func(word string) {
			stop := voicetest.Repeat(t, func() error { return victim.Send([]byte(word)) })
			defer stop()
			ev, _ := e.next(t, 0, word, func(ev conn.Event) bool {
				return ev.Kind == conn.PacketReceived && string(ev.Packet.Opus) == word
			})
			check.Equal(t, fmt.Sprintf("version %d: %q of ada counts as that of", version, word), ev.Packet.From, ada)
		}
		ssrc, _ := victim.SSRC()
		lie := func(after string) {
			check.Must(t, h.Send(seat, voicetest.OpSpeaking, fmt.Sprintf(`{"speaking":1,"ssrc":%d,"user_id":"902"}`, ssrc)))
			check.Must(t, h.Send(seat, 13, `{"user_id":"`+after+`"}`))
			e.next(t, 0, "end of "+after, func(ev conn.Event) bool { return ev.Kind == conn.UsersLeft && ev.Users[0] == after })
		}
		victim.Speak(conn.SpeakingMicrophone)
		check.Must(t, check.Err(h.WaitReceived(voicetest.Deadline(t), voicetest.OpSpeaking, 0)))
		if version > 0 {
			lie("903") // before the other has said anything: only the keys can tell
			says("before")
		}
		says("mine")
		lie("904")
		says("still mine")
	}
}
