package voicetest_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"clank/internal/test/discordtest/voicetest"
)

func packet(first byte, extra ...byte) []byte {
	p := append([]byte{first, 120, 0, 1, 0, 0, 3, 192, 0, 0, 0, 7}, extra...)
	return append(p, "what is said"...)
}

func TestWhatIsSealedOpensAgain(t *testing.T) {
	key := bytes.Repeat([]byte{9}, voicetest.KeySize)
	for _, mode := range []string{voicetest.ModeAES256GCM, voicetest.ModeXChaCha20Poly1305} {
		for name, p := range map[string][]byte{
			"plain":     packet(0x80),
			"sources":   packet(0x82, 1, 2, 3, 4, 5, 6, 7, 8),
			"extension": packet(0x90, 0xbe, 0xde, 0, 1, 16, 1, 0, 0),
		} {
			t.Run(mode+"/"+name, func(t *testing.T) {
				out, err := voicetest.NewPacketCipher(mode, key)
				if err != nil {
					t.Fatal(err)
				}
				in, err := voicetest.NewPacketCipher(mode, key)
				if err != nil {
					t.Fatal(err)
				}
				clear, err := voicetest.ClearRTP(p)
				if err != nil {
					t.Fatal(err)
				}
				for want := range uint32(3) {
					wire := out.Seal(p, clear)
					if !bytes.Equal(wire[:clear], p[:clear]) || bytes.Contains(wire, []byte("said")) {
						t.Fatalf("got %x, want a readable head and nothing else readable", wire)
					}
					got, counter, err := in.Open(wire, clear)
					if err != nil || !bytes.Equal(got, p) || counter != want+1 {
						t.Fatalf("got %x, counter %d, error %v, want %x, counter %d", got, counter, err, p, want+1)
					}
				}
			})
		}
	}
}

func TestAChangedByteIsNoticed(t *testing.T) {
	for _, mode := range []string{voicetest.ModeAES256GCM, voicetest.ModeXChaCha20Poly1305} {
		box, err := voicetest.NewPacketCipher(mode, make([]byte, voicetest.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		wire := box.Seal(packet(0x80), 12)
		for i := range wire {
			bad := bytes.Clone(wire)
			bad[i] ^= 1
			if _, _, err := box.Open(bad, 12); err == nil {
				t.Errorf("%s: byte %d may be changed", mode, i)
			}
		}
	}
}

// The plain text, the key and the nonce are zero: this is the key stream of AES-256 in GCM as other programs have it
// (case 14 of the GCM specification), at the counter that Seal would use after a wrap.
func TestGCMIsTheOneOfTheSpecification(t *testing.T) {
	box, err := voicetest.NewPacketCipher(voicetest.ModeAES256GCM, make([]byte, voicetest.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	wire, err := hex.DecodeString("cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919" + "00000000")
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := box.Open(wire, 0)
	if err != nil || !bytes.Equal(got, make([]byte, 16)) {
		t.Errorf("got %x, %v, want 16 zero bytes", got, err)
	}
}

func TestShortPacketsAndUnknownModesAreRefused(t *testing.T) {
	if _, err := voicetest.NewPacketCipher("xsalsa20_poly1305", make([]byte, voicetest.KeySize)); err == nil {
		t.Error("a mode that is gone is spoken")
	}
	for _, mode := range []string{voicetest.ModeAES256GCM, voicetest.ModeXChaCha20Poly1305} {
		if _, err := voicetest.NewPacketCipher(mode, []byte("short")); err == nil {
			t.Errorf("%s takes a short key", mode)
		}
	}
	for _, p := range [][]byte{nil, {0x80}, packet(0x80)[:11], packet(0x8f)[:20], append(packet(0x90)[:12], 1, 2)} {
		if n, err := voicetest.ClearRTP(p); err == nil {
			t.Errorf("got %d readable bytes of %x, want an error", n, p)
		}
	}
	box, err := voicetest.NewPacketCipher(voicetest.ModeAES256GCM, make([]byte, voicetest.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := box.Open(make([]byte, 31), 12); err == nil {
		t.Error("a packet without room for a tag opens")
	}
}

func TestControlPacketsAreToldFromMedia(t *testing.T) {
	for _, c := range []struct {
		packet []byte
		want   bool
	}{
		{[]byte{0x80, 200, 0, 1, 0, 0, 0, 1}, true},
		{[]byte{0x81, 206, 0, 1, 0, 0, 0, 1}, true},
		{[]byte{0x80, 120, 0, 1, 0, 0, 0, 1}, false},
		{[]byte{0x80, 0x80 | 105, 0, 1, 0, 0, 0, 1}, false},
		{[]byte{0x80, 200}, false},
	} {
		if got := voicetest.IsRTCP(c.packet); got != c.want {
			t.Errorf("got %v for %x, want %v", got, c.packet, c.want)
		}
	}
}

func FuzzClearRTP(f *testing.F) {
	f.Add(packet(0x80))
	f.Add(packet(0x9f, 0xbe, 0xde, 0, 1))
	f.Fuzz(func(t *testing.T, p []byte) {
		n, err := voicetest.ClearRTP(p)
		if err == nil && (n < 12 || n > len(p)) {
			t.Errorf("got %d readable bytes of %d", n, len(p))
		}
		box, err := voicetest.NewPacketCipher(voicetest.ModeAES256GCM, make([]byte, voicetest.KeySize))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := box.Open(p, n); err == nil {
			t.Errorf("%x opens", p)
		}
	})
}
