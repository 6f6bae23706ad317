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
