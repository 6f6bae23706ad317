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

	"clank/internal/test/check"
	"clank/voice/discord/dave"
)

// octets are hexadecimal in the files.
type octets []byte

func (o *octets) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return err
	}
	decoded, err := hex.DecodeString(*s)
	*o = decoded
	return err
}

// mlsVectors reads a file of the MLS working group's test vectors (cipher suite 2), which are not part of this
// repository: shared/mls is looked for in each folder above this one.
func mlsVectors[T any](t *testing.T, name string) []T {
	t.Helper()
	dir, err := os.Getwd()
	check.Must(t, err)
	for {
		data, err := os.ReadFile(filepath.Join(dir, "shared/mls", name+".json"))
		if err == nil {
			var all []T
			check.Must(t, json.Unmarshal(data, &all))
			return all
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		t.Skip("shared/mls, the test vectors of RFC 9420, is in no folder above this one")
	}
}

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got %x, want %x", what, got, want)
	}
}

func TestVectorsOfDerivationInTrees(t *testing.T) {
	t.Parallel()
	type vector struct {
		Derive struct {
			Generation  uint32
			Label       string
			Length      uint16
			Out, Secret octets
		} `json:"derive_tree_secret"`
	}
	for _, v := range mlsVectors[vector](t, "crypto-basics") {
		got, err := dave.ExpandLabel(v.Derive.Secret, v.Derive.Label, v.Derive.Generation, v.Derive.Length)
		check.Must(t, err)
		same(t, "secret", got, v.Derive.Out)
	}
}

func TestVectorsOfRatchets(t *testing.T) {
	t.Parallel()
	type vector struct {
		Secret octets `json:"encryption_secret"`
		Leaves [][]struct {
			Generation int    `json:"generation"`
			Key        octets `json:"application_key"`
		} `json:"leaves"`
	}
	ran := 0
	for _, v := range mlsVectors[vector](t, "secret-tree") {
		if len(v.Leaves) != 1 {
			continue // of a tree with one leaf the leaf's secret is known
		}
		ran++
		// RFC 9420 section 9: the root of the leaf's ratchet, whose context is empty.
		info := append([]byte{0, 32, byte(len("MLS 1.0 application"))}, "MLS 1.0 application\x00"...)
		root, err := hkdf.Expand(sha256.New, v.Secret, string(info), 32)
		check.Must(t, err)
		last := v.Leaves[0][len(v.Leaves[0])-1].Generation
		keys, err := dave.RatchetKeys(root, last+1)
		check.Must(t, err)
		for _, want := range v.Leaves[0] {
			same(t, "key", keys[want.Generation], want.Key)
		}
	}
	if ran == 0 {
		t.Error("no vector was run")
	}
}

func TestVectorsOfLengths(t *testing.T) {
	t.Parallel()
	type vector struct {
		Header octets `json:"vlbytes_header"`
		Length int    `json:"length"`
	}
	for _, v := range mlsVectors[vector](t, "deserialization") {
		if v.Length > 1<<20 {
			continue
		}
		content := make([]byte, v.Length)
		same(t, "vector", dave.AppendVector(nil, content), append(bytes.Clone(v.Header), content...))
		got, ok := dave.ReadVector(append(bytes.Clone(v.Header), content...))
		if !ok || len(got) != v.Length {
			t.Errorf("header %x: read %d bytes, %v; want %d", []byte(v.Header), len(got), ok, v.Length)
		}
	}
}
