package dave_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"clank/voice/discord/dave"
)

func TestAStreamGoesOnForEver(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	now := start
	for _, n := range []uint64{0, 1<<24 - 3, 1<<25 - 2, 3 << 24, 200 << 24, 1<<32 - 4, 300 << 24, 400 << 24, 1<<33 - 3} {
		s.Skip(n)
		for range 6 {
			sent := send(t, s, dave.Opus, frames[dave.Opus])
			if got, err := s.Receive(sent, now); err != nil || !bytes.Equal(got, frames[dave.Opus]) {
				t.Fatalf("after frame %d: %x, %v", n, got, err)
			}
		}
		now = now.Add(time.Minute)
	}
	if _, err := s.Receive(send(t, s, dave.Opus, frames[dave.Opus]), now); err != nil {
		t.Fatal(err)
	}
	if got := s.Keys(); got > 2 {
		t.Errorf("%d keys are kept, want those of the last moments", got)
	}
}

func TestStragglersOfTheLastKeyAreHeardForAWhile(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	s.Skip(1<<24 - 4)
	var sent [6][]byte
	for i := range sent {
		sent[i] = send(t, s, dave.Opus, frames[dave.Opus])
	}
	for _, step := range []struct {
		frame int
		after time.Duration
		heard bool
	}{{5, 0, true}, {0, time.Second, true}, {1, 9 * time.Second, true}, {2, 11 * time.Second, false}} {
		_, err := s.Receive(sent[step.frame], start.Add(step.after))
		if heard := err == nil; heard != step.heard {
			t.Errorf("frame %d after %v: %v, want heard %v", step.frame, step.after, err, step.heard)
		}
	}
}

func TestAFrameIsHeardOnce(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	var sent [2000][]byte
	for i := range sent {
		sent[i] = send(t, s, dave.Opus, frames[dave.Opus])
	}
	heard := func(i int, want bool) {
		t.Helper()
		if _, err := s.Receive(sent[i], start); (err == nil) != want {
			t.Errorf("frame %d: %v, want heard %v", i, err, want)
		}
	}
	heard(10, true)
	heard(10, false)
	heard(3, true) // came late
	heard(3, false)
	heard(1500, true)
	heard(10, false) // too old to know
	heard(11, false)
	heard(1499, true)
	heard(1499, false)
	heard(1500, false)
	heard(1501, true)
	heard(1999, true)
	heard(1500, false)
	heard(1498, true)
}

func TestAFrameFarAheadIsRefused(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	if _, err := s.Receive(send(t, s, dave.Opus, frames[dave.Opus]), start); err != nil {
		t.Fatal(err)
	}
	s.Skip(252 << 24)
	if _, err := s.Receive(send(t, s, dave.Opus, frames[dave.Opus]), start); err == nil {
		t.Error("a frame 252 keys ahead was heard")
	}
	if got := s.Keys(); got != 1 {
		t.Errorf("%d keys were made for it", got-1)
	}
}

func TestASenderWhoRushesThroughKeysFillsNoMemory(t *testing.T) {
	t.Parallel()
	s := dave.NewStream()
	for n := range uint64(50) {
		s.Skip(n * 120 << 24)
		if _, err := s.Receive(send(t, s, dave.Opus, frames[dave.Opus]), start); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Keys(); got > 16 {
		t.Errorf("%d keys are kept of one who uses each for a frame", got)
	}
}

// vectors reads one of the MLS working group's files, which are not part of this repository.
func vectors(t *testing.T, name string, into any) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "shared/mls", name+".json"))
		if err == nil {
			if err := json.Unmarshal(data, into); err != nil {
				t.Fatal(err)
			}
			return
		}
		if filepath.Dir(dir) == dir {
			t.Skip("shared/mls, the test vectors of RFC 9420, is in no folder above this one")
		}
		dir = filepath.Dir(dir)
	}
}

func TestVectorsOfDerivationInTrees(t *testing.T) {
	t.Parallel()
	var all []struct {
		Derive struct {
			Generation  uint32
			Label       string
			Length      uint16
			Out, Secret string
		} `json:"derive_tree_secret"`
	}
	vectors(t, "crypto-basics", &all)
	for _, v := range all {
		secret, err := hex.DecodeString(v.Derive.Secret)
		if err != nil {
			t.Fatal(err)
		}
		got, err := dave.ExpandLabel(secret, v.Derive.Label, v.Derive.Generation, v.Derive.Length)
		if err != nil || hex.EncodeToString(got) != v.Derive.Out {
			t.Errorf("got %x, %v; want %s", got, err, v.Derive.Out)
		}
	}
}

func TestVectorsOfRatchets(t *testing.T) {
	t.Parallel()
	var all []struct {
		Secret string `json:"encryption_secret"`
		Leaves [][]struct {
			Generation int    `json:"generation"`
			Key        string `json:"application_key"`
		} `json:"leaves"`
	}
	vectors(t, "secret-tree", &all)
	ran := 0
	for _, v := range all {
		if len(v.Leaves) != 1 {
			continue // of a tree with one leaf the leaf's secret is known
		}
		ran++
		secret, err := hex.DecodeString(v.Secret)
		if err != nil {
			t.Fatal(err)
		}
		// RFC 9420 section 9: the root of the leaf's ratchet, whose context is empty.
		info := append([]byte{0, 32, byte(len("MLS 1.0 application"))}, "MLS 1.0 application\x00"...)
		root, err := hkdfExpand(secret, info, 32)
		if err != nil {
			t.Fatal(err)
		}
		last := v.Leaves[0][len(v.Leaves[0])-1].Generation
		keys, err := dave.RatchetKeys(root, last+1)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range v.Leaves[0] {
			if got := keys[want.Generation]; got != want.Key {
				t.Errorf("generation %d: %s, want %s", want.Generation, got, want.Key)
			}
		}
	}
	if ran == 0 {
		t.Error("no vector was run")
	}
}

func TestCodesAreShownAsDiscordDoes(t *testing.T) {
	t.Parallel()
	data := []byte{0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0, 0, 0, 0, 7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
	// 0xAABBCCDDEE is 733295205870, 0xFFFFFFFFFF is 1099511627775.
	if got, want := dave.Display(data, 3), "05870 00007 27775"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := dave.Display(data, 4); got != "" {
		t.Errorf("of too little data: %q, want nothing", got)
	}
}

func hkdfExpand(secret, info []byte, length int) ([]byte, error) {
	return hkdf.Expand(sha256.New, secret, string(info), length)
}
