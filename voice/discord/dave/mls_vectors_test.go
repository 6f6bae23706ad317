package dave_test

import (
	"bytes"
	"crypto/ecdh"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/keypackages"
	"github.com/thomas-vilte/mls-go/schedule"
	"github.com/thomas-vilte/mls-go/treesync"

	"clank/voice/discord/dave"
)

const suite = ciphersuite.MLS128DHKEMP256

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

// mlsVectors reads a file of the MLS working group's test vectors (cipher suite 2), which are not part of this repository:
// shared/mls is looked for in each folder above this one.
func mlsVectors[T any](t *testing.T, name string) []T {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "shared/mls", name+".json"))
		if err == nil {
			var all []T
			must(t, json.Unmarshal(data, &all))
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

type passive struct {
	PSKs []struct {
		ID  octets `json:"psk_id"`
		PSK octets `json:"psk"`
	} `json:"external_psks"`
	KeyPackage    octets `json:"key_package"`
	Signature     octets `json:"signature_priv"`
	Encryption    octets `json:"encryption_priv"`
	Init          octets `json:"init_priv"`
	Welcome       octets `json:"welcome"`
	Tree          octets `json:"ratchet_tree"`
	Authenticator octets `json:"initial_epoch_authenticator"`
	Epochs        []struct {
		Proposals     []octets `json:"proposals"`
		Commit        octets   `json:"commit"`
		Authenticator octets   `json:"epoch_authenticator"`
	} `json:"epochs"`
}

func TestVectorsOfPassiveClients(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"passive-client-welcome", "passive-client-handling-commit"} {
		ran := 0
		for i, v := range mlsVectors[passive](t, name) {
			if len(v.Tree) > 0 {
				continue // the tree always comes with the Welcome here
			}
			ran++
			g := v.join(t)
			same(t, "authenticator", g.EpochAuthenticator(), v.Authenticator)
			for _, e := range v.Epochs {
				for _, p := range e.Proposals {
					receive(t, g, p)
				}
				receive(t, g, e.Commit)
				same(t, "authenticator", g.EpochAuthenticator(), e.Authenticator)
			}
			if t.Failed() {
				t.Fatalf("%s %d", name, i)
			}
		}
		if ran == 0 {
			t.Errorf("no vector of %s was run", name)
		}
	}
}

func (v passive) join(t *testing.T) *group.Group {
	t.Helper()
	offer, err := keypackages.UnmarshalKeyPackage(body(t, v.KeyPackage))
	if err != nil {
		t.Fatal(err)
	}
	welcome, err := group.UnmarshalWelcome(body(t, v.Welcome))
	if err != nil {
		t.Fatal(err)
	}
	psks := make(map[string][]byte)
	for _, p := range v.PSKs {
		psks[string(p.ID)] = p.PSK
	}
	g, err := group.JoinFromWelcome(welcome, offer, &keypackages.KeyPackagePrivateKeys{InitKey: private(t, v.Init), EncryptionKey: private(t, v.Encryption)}, psks)
	if err != nil {
		t.Fatal(err)
	}
	for id, psk := range psks {
		g.LoadPsk([]byte(id), psk)
	}
	return g
}

func private(t *testing.T, b []byte) *ecdh.PrivateKey {
	t.Helper()
	key, err := ecdh.P256().NewPrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// body takes the frame off an MLSMessage.
func body(t *testing.T, message []byte) []byte {
	t.Helper()
	if len(message) < 4 {
		t.Fatalf("message %x is too short", message)
	}
	return message[4:]
}

func receive(t *testing.T, g *group.Group, message []byte) {
	t.Helper()
	m, err := framing.UnmarshalMLSMessage(message)
	if err != nil {
		t.Fatal(err)
	}
	if public, ok := m.AsPublic(); ok {
		err = g.ProcessPublicMessage(public)
	} else if secret, ok := m.AsPrivate(); ok {
		err = g.ProcessPrivateMessage(secret)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestVectorsOfTheKeySchedule(t *testing.T) {
	t.Parallel()
	type vector struct {
		Init   octets `json:"initial_init_secret"`
		Epochs []struct {
			Commit   octets `json:"commit_secret"`
			PSK      octets `json:"psk_secret"`
			Context  octets `json:"group_context"`
			Joiner   octets `json:"joiner_secret"`
			Auth     octets `json:"epoch_authenticator"`
			Next     octets `json:"init_secret"`
			Exporter struct {
				Label   string `json:"label"`
				Context octets `json:"context"`
				Length  int    `json:"length"`
				Secret  octets `json:"secret"`
			} `json:"exporter"`
		} `json:"epochs"`
	}
	secret := func(b []byte) *ciphersuite.Secret { return ciphersuite.NewSecretForCS(suite, b) }
	for _, v := range mlsVectors[vector](t, "key-schedule") {
		init := v.Init
		for _, e := range v.Epochs {
			ks := schedule.NewKeySchedule(suite, secret(init))
			ks.SetCommitSecret(secret(e.Commit))
			joiner, err := ks.ComputeJoinerSecret(e.Context)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "joiner secret", joiner.AsSlice(), e.Joiner)
			must(t, ks.SetPskSecretDirect(secret(e.PSK)))
			if _, err := ks.ComputeEpochSecret(e.Context); err != nil {
				t.Fatal(err)
			}
			got, err := ks.DeriveEpochSecrets()
			if err != nil {
				t.Fatal(err)
			}
			same(t, "authenticator", got.AuthenticationSecret.AsSlice(), e.Auth)
			same(t, "next init secret", got.InitSecret.AsSlice(), e.Next)
			exported, err := schedule.Exporter(got.ExporterSecret, suite, schedule.ExporterLabel(e.Exporter.Label), e.Exporter.Context, e.Exporter.Length)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "exported secret", exported, e.Exporter.Secret)
			init = e.Next
		}
	}
}

func TestVectorsOfTrees(t *testing.T) {
	t.Parallel()
	type vector struct {
		Tree        octets     `json:"tree"`
		Hashes      []octets   `json:"tree_hashes"`
		Resolutions [][]uint32 `json:"resolutions"`
	}
	for i, v := range mlsVectors[vector](t, "tree-validation") {
		tree, err := treesync.UnmarshalTreeFromExtension(v.Tree, suite)
		if err != nil {
			t.Fatalf("tree %d: %v", i, err)
		}
		tree = tree.ExpandToPowerOf2()
		if err := tree.VerifyAllParentHashes(); err != nil {
			t.Errorf("tree %d: %v", i, err)
		}
		for n, want := range v.Hashes {
			same(t, "tree hash", tree.HashNode(treesync.NodeIndex(n)), want)
			got := tree.Resolution(treesync.NodeIndex(n))
			if len(got) != len(v.Resolutions[n]) {
				t.Errorf("tree %d, node %d: resolution %v, want %v", i, n, got, v.Resolutions[n])
				continue
			}
			for j := range got {
				if uint32(got[j]) != v.Resolutions[n][j] {
					t.Errorf("tree %d, node %d: resolution %v, want %v", i, n, got, v.Resolutions[n])
				}
			}
		}
	}
}

func TestVectorsOfMessages(t *testing.T) {
	t.Parallel()
	type vector struct {
		Welcome    octets `json:"mls_welcome"`
		KeyPackage octets `json:"mls_key_package"`
		Proposal   octets `json:"public_message_proposal"`
		Commit     octets `json:"public_message_commit"`
	}
	for i, v := range mlsVectors[vector](t, "messages") {
		welcome, err := group.UnmarshalWelcome(body(t, v.Welcome))
		if err != nil {
			t.Fatalf("Welcome %d: %v", i, err)
		}
		same(t, "Welcome", welcome.Marshal(), body(t, v.Welcome))
		offer, err := keypackages.UnmarshalKeyPackage(body(t, v.KeyPackage))
		if err != nil {
			t.Fatalf("key package %d: %v", i, err)
		}
		same(t, "key package", offer.Marshal(), body(t, v.KeyPackage))
		for _, message := range [][]byte{v.Proposal, v.Commit} {
			m, err := framing.UnmarshalMLSMessage(message)
			if err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
			same(t, "message", m.Marshal(), message)
		}
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
