package conn_test

import (
	"bytes"
	"errors"
	"testing"

	"clank/internal/test/discordtest/voicetest"
	"clank/voice/discord/conn"

	"github.com/google/go-cmp/cmp"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

var key = bytes.Repeat([]byte{7}, 32)

func newCipher(tb testing.TB, mode string) *conn.Cipher {
	tb.Helper()
	c, err := conn.NewCipher(mode, key)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// dressed returns a packet with sources, an extension and padding.
func dressed(tb testing.TB) []byte {
	tb.Helper()
	p := rtp.Packet{
		Header:  rtp.Header{Version: 2, Marker: true, PayloadType: 120, SequenceNumber: 65535, Timestamp: 1 << 31, SSRC: 9, CSRC: []uint32{1, 2}},
		Payload: []byte("opus"),
	}
	if err := p.SetExtension(1, []byte{0x30, 0x31, 0x32, 0x33, 0x34}); err != nil {
		tb.Fatal(err)
	}
	p.Padding, p.Header.PaddingSize = true, 5
	data, err := p.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestPacketsAreReadByAnotherReadingOfTheDocuments(t *testing.T) {
	for _, mode := range []string{conn.ModeAES256GCM, conn.ModeXChaCha20Poly1305} {
		ours, plain := newCipher(t, mode), dressed(t)
		theirs, err := voicetest.NewPacketCipher(mode, key)
		if err != nil {
			t.Fatal(err)
		}
		clear, err := voicetest.ClearRTP(plain)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := ours.Seal(nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := theirs.Open(bytes.Clone(sealed), clear); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: they read %x, %v, want %x", mode, got, err, plain)
		}
		if got, err := ours.Open(nil, theirs.Seal(plain, clear)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: we read %x, %v, want %x", mode, got, err, plain)
		}
	}
}

func TestControlIsReadHoweverMuchOfItIsClear(t *testing.T) {
	plain, err := (&rtcp.PictureLossIndication{SenderSSRC: 1, MediaSSRC: 2}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	ours := newCipher(t, conn.ModeAES256GCM)
	for _, clear := range []int{4, 8} {
		theirs, err := voicetest.NewPacketCipher(voicetest.ModeAES256GCM, key)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ours.Open(nil, theirs.Seal(plain, clear)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d clear bytes: got %x, %v, want %x", clear, got, err, plain)
		}
	}
}

func TestPacketsThatWereChangedAreRefused(t *testing.T) {
	c := newCipher(t, conn.ModeXChaCha20Poly1305)
	sealed, err := c.Seal(nil, dressed(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := c.Open(nil, bad); err == nil {
			t.Errorf("a packet with byte %d changed was read", i)
		}
		if _, err := c.Open(nil, sealed[:i]); err == nil {
			t.Errorf("the first %d bytes of a packet were read", i)
		}
	}
}

func TestNoncesDiffer(t *testing.T) {
	c, plain := newCipher(t, conn.ModeAES256GCM), dressed(t)
	one, _ := c.Seal(nil, plain)
	two, err := c.Seal(nil, plain)
	if err != nil || bytes.Equal(one[len(one)-4:], two[len(two)-4:]) {
		t.Errorf("nonces %x and %x (%v), want two", one[len(one)-4:], two[len(two)-4:], err)
	}
}

func TestChoosePrefersAES(t *testing.T) {
	for _, test := range []struct {
		offered []string
		want    string
	}{
		{[]string{"xsalsa20_poly1305", conn.ModeXChaCha20Poly1305, conn.ModeAES256GCM}, conn.ModeAES256GCM},
		{[]string{conn.ModeXChaCha20Poly1305}, conn.ModeXChaCha20Poly1305},
		{[]string{"aead_aes256_gcm"}, ""},
		{nil, ""},
	} {
		got, err := conn.ChooseMode(test.offered)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("Choose(%q) = %q, %v, want %q", test.offered, got, err, test.want)
		}
	}
}

func TestKeysAndModesAreChecked(t *testing.T) {
	for _, mode := range []string{conn.ModeAES256GCM, conn.ModeXChaCha20Poly1305} {
		if _, err := conn.NewCipher(mode, key[:16]); err == nil {
			t.Errorf("%s took a key of 16 bytes", mode)
		}
	}
	if _, err := conn.NewCipher("xsalsa20_poly1305", key); err == nil {
		t.Error("a mode of the past was taken")
	}
}

func TestStripLeavesThePayload(t *testing.T) {
	got, err := conn.ParseRTP(dressed(t))
	want := conn.RTPPacket{Type: 120, Marker: true, Sequence: 65535, Timestamp: 1 << 31, SSRC: 9, Payload: []byte("opus")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("got %v, -want +got:\n%s", err, diff)
	}
}

func TestStripRefusesLengthsBeyondThePacket(t *testing.T) {
	head := func(first byte, rest ...byte) []byte {
		return append([]byte{first, 120, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, rest...)
	}
	for name, packet := range map[string][]byte{
		"nothing":            nil,
		"half a header":      head(0x80)[:11],
		"another version":    head(0x40),
		"sources":            head(0x81, 0, 0, 0),
		"preamble":           head(0x90, 0xbe, 0xde),
		"extension":          head(0x90, 0xbe, 0xde, 0, 2, 0, 0, 0, 0),
		"padding of nothing": head(0xa0, 1, 0),
		"padding":            head(0xa0, 1, 3),
		"control":            {0x80, 200, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1},
	} {
		if got, err := conn.ParseRTP(packet); !errors.Is(err, conn.ErrPacketShort) {
			t.Errorf("%s: got %+v, %v, want ErrShort", name, got, err)
		}
	}
}

func FuzzStrip(f *testing.F) {
	f.Add(dressed(f))
	f.Add([]byte{0xb0, 120, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xbe, 0xde, 0, 1, 0x10, 5, 0, 0, 9, 9, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := conn.ParseRTP(data)
		if err != nil {
			return
		}
		var other rtp.Packet
		if other.Unmarshal(data) != nil {
			return // it reads inside of extensions, which we pass over
		}
		if !bytes.Equal(got.Payload, other.Payload) || got.Sequence != other.SequenceNumber || got.SSRC != other.SSRC {
			t.Errorf("%x: got %+v, another reader %v %x", data, got, other.Header, other.Payload)
		}
	})
}

func FuzzOpen(f *testing.F) {
	c := newCipher(f, conn.ModeAES256GCM)
	sealed, err := c.Seal(nil, dressed(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, data []byte) {
		if plain, err := c.Open(nil, data); err == nil && !bytes.Equal(data, sealed) && !bytes.Equal(plain, dressed(t)) {
			t.Errorf("%x was read as %x", data, plain)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	for _, mode := range []string{conn.ModeAES256GCM, conn.ModeXChaCha20Poly1305} {
		b.Run(mode, func(b *testing.B) {
			c, plain, buf := newCipher(b, mode), append(dressed(b)[:12], make([]byte, 160)...), []byte(nil)
			plain[0] = 0x80
			for b.Loop() {
				var err error
				if buf, err = c.Seal(buf[:0], plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpenAndStrip(b *testing.B) {
	for _, mode := range []string{conn.ModeAES256GCM, conn.ModeXChaCha20Poly1305} {
		b.Run(mode, func(b *testing.B) {
			c, plain := newCipher(b, mode), append(dressed(b)[:12], make([]byte, 160)...)
			plain[0] = 0x80
			sealed, err := c.Seal(nil, plain)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				data, err := c.Open(nil, sealed)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := conn.ParseRTP(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
