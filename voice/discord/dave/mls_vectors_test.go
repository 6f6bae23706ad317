package dave_test

import (
	"bytes"
	"crypto/ecdh"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/framing"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/keypackages"
	"github.com/thomas-vilte/mls-go/schedule"
	"github.com/thomas-vilte/mls-go/secrettree"
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

func TestVectorsOfCryptography(t *testing.T) {
	t.Parallel()
	type vector struct {
		Ref struct {
			Label      string
			Out, Value octets
		} `json:"ref_hash"`
		Expand struct {
			Label                string
			Length               int
			Context, Out, Secret octets
		} `json:"expand_with_label"`
		Derive struct {
			Label       string
			Out, Secret octets
		} `json:"derive_secret"`
		Sign struct {
			Label                         string
			Content, Priv, Pub, Signature octets
		} `json:"sign_with_label"`
		Encrypt struct {
			Label                                     string
			Ciphertext, Context, Plaintext, Priv, Pub octets
			KEM                                       octets `json:"kem_output"`
		} `json:"encrypt_with_label"`
	}
	for _, v := range mlsVectors[vector](t, "crypto-basics") {
		expanded, err := ciphersuite.NewSecretForCS(suite, v.Expand.Secret).KdfExpandLabel(v.Expand.Label, v.Expand.Context, v.Expand.Length)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "expand", expanded.AsSlice(), v.Expand.Out)
		derived, err := ciphersuite.NewSecretForCS(suite, v.Derive.Secret).DeriveSecret(suite, v.Derive.Label)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "derive", derived.AsSlice(), v.Derive.Out)
		public := ciphersuite.NewMLSSignaturePublicKey(v.Sign.Pub, suite.SignatureScheme())
		if err := ciphersuite.VerifyWithLabel(public, v.Sign.Label, v.Sign.Content, ciphersuite.NewSignature(v.Sign.Signature)); err != nil {
			t.Errorf("verify: %v", err)
		}
		plain, err := ciphersuite.DecryptWithLabel(v.Encrypt.Priv, v.Encrypt.Label, v.Encrypt.Context,
			&ciphersuite.HPKECiphertext{KEMOutput: v.Encrypt.KEM, Ciphertext: v.Encrypt.Ciphertext}, suite)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "decrypt", plain, v.Encrypt.Plaintext)
	}
}

func TestVectorsOfTranscriptHashes(t *testing.T) {
	t.Parallel()
	type vector struct {
		Key       octets `json:"confirmation_key"`
		Content   octets `json:"authenticated_content"`
		Before    octets `json:"interim_transcript_hash_before"`
		Confirmed octets `json:"confirmed_transcript_hash_after"`
		After     octets `json:"interim_transcript_hash_after"`
	}
	for _, v := range mlsVectors[vector](t, "transcript-hashes") {
		content, err := framing.UnmarshalAuthenticatedContent(v.Content)
		if err != nil {
			t.Fatal(err)
		}
		input, err := framing.NewConfirmedTranscriptHashInput(content)
		if err != nil {
			t.Fatal(err)
		}
		confirmed, err := input.Compute(suite, v.Before)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "confirmed", confirmed, v.Confirmed)
		same(t, "tag", schedule.ComputeConfirmationTag(suite, v.Key, confirmed), content.Auth.ConfirmationTag)
		same(t, "interim", schedule.ComputeInterimTranscriptHash(suite, confirmed, content.Auth.ConfirmationTag), v.After)
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

func TestVectorsOfTreeMath(t *testing.T) {
	t.Parallel()
	type vector struct {
		Leaves uint32    `json:"n_leaves"`
		Nodes  int       `json:"n_nodes"`
		Root   uint32    `json:"root"`
		Left   []*uint32 `json:"left"`
		Right  []*uint32 `json:"right"`
		Parent []*uint32 `json:"parent"`
	}
	for _, v := range mlsVectors[vector](t, "tree-math") {
		if v.Leaves > 64 {
			continue
		}
		tree := treesync.NewRatchetTree(v.Leaves, suite)
		if got := uint32(tree.Root()); got != v.Root {
			t.Errorf("%d leaves: root %d, want %d", v.Leaves, got, v.Root)
		}
		for n := range v.Nodes {
			node := treesync.NodeIndex(n)
			for _, step := range []struct {
				name string
				to   func(treesync.NodeIndex) (treesync.NodeIndex, error)
				want *uint32
			}{{"left", tree.LeftChild, v.Left[n]}, {"right", tree.RightChild, v.Right[n]}, {"parent", tree.Parent, v.Parent[n]}} {
				if step.want == nil {
					continue
				}
				if got, err := step.to(node); err != nil || uint32(got) != *step.want {
					t.Errorf("%d leaves: %s of %d is %d, %v; want %d", v.Leaves, step.name, n, got, err, *step.want)
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

func TestVectorsOfWelcomes(t *testing.T) {
	t.Parallel()
	type vector struct {
		Init       octets `json:"init_priv"`
		KeyPackage octets `json:"key_package"`
		Welcome    octets `json:"welcome"`
	}
	for _, v := range mlsVectors[vector](t, "welcome") {
		w, err := group.UnmarshalWelcome(body(t, v.Welcome))
		if err != nil {
			t.Fatal(err)
		}
		ref := ciphersuite.MakeKeyPackageRef(body(t, v.KeyPackage), suite.HashFunction()).AsSlice()
		same(t, "reference", w.Secrets[0].NewMember, ref)
		packed, err := ciphersuite.DecryptWithLabel(v.Init, "Welcome", w.EncryptedGroupInfo, &w.Secrets[0].EncryptedGroupSecrets, suite)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := group.UnmarshalGroupSecrets(packed); err != nil {
			t.Error(err)
		}
	}
}

// contextOf returns a group in one epoch, as it is signed.
func contextOf(id octets, epoch uint64, tree, confirmed octets) []byte {
	return (&group.GroupContext{
		Version: keypackages.MLS10, CipherSuite: suite, GroupID: group.NewGroupID(id), Epoch: group.NewGroupEpoch(epoch),
		TreeHash: tree, ConfirmedTranscriptHash: confirmed,
	}).Marshal()
}

// protected are messages of a group, as they are and in both ways in which they are sent.
type protected struct {
	Group      octets `json:"group_id"`
	Epoch      uint64 `json:"epoch"`
	Tree       octets `json:"tree_hash"`
	Confirmed  octets `json:"confirmed_transcript_hash"`
	Public     octets `json:"signature_pub"`
	Member     octets `json:"membership_key"`
	Encryption octets `json:"encryption_secret"`
	SenderData octets `json:"sender_data_secret"`

	Proposal           octets `json:"proposal"`
	ProposalPublic     octets `json:"proposal_pub"`
	ProposalPrivate    octets `json:"proposal_priv"`
	Commit             octets `json:"commit"`
	CommitPublic       octets `json:"commit_pub"`
	CommitPrivate      octets `json:"commit_priv"`
	Application        octets `json:"application"`
	ApplicationPrivate octets `json:"application_priv"`
}

func TestVectorsOfPublicMessages(t *testing.T) {
	t.Parallel()
	for _, v := range mlsVectors[protected](t, "message-protection") {
		context := contextOf(v.Group, v.Epoch, v.Tree, v.Confirmed)
		for _, message := range [][]byte{v.ProposalPublic, v.CommitPublic} {
			m, err := framing.UnmarshalMLSMessage(message)
			if err != nil {
				t.Fatal(err)
			}
			public, _ := m.AsPublic()
			if err := public.VerifyMembershipTagWithContext(suite, ciphersuite.NewSecretForCS(suite, v.Member), context); err != nil {
				t.Errorf("membership: %v", err)
			}
			content := framing.AuthenticatedContent{WireFormat: framing.WireFormatPublicMessage, Content: public.Content, Auth: public.Auth, GroupContext: context}
			key := ciphersuite.NewMLSSignaturePublicKey(v.Public, suite.SignatureScheme())
			if err := ciphersuite.VerifyWithLabel(key, "FramedContentTBS", content.MarshalTBS(), public.Auth.Signature); err != nil {
				t.Errorf("signature: %v", err)
			}
		}
	}
}

func TestVectorsOfPrivateMessages(t *testing.T) {
	t.Parallel()
	for _, v := range mlsVectors[protected](t, "message-protection") {
		context := contextOf(v.Group, v.Epoch, v.Tree, v.Confirmed)
		for _, c := range []struct{ message, want []byte }{{v.ProposalPrivate, v.Proposal}, {v.CommitPrivate, v.Commit}, {v.ApplicationPrivate, v.Application}} {
			tree, err := secrettree.NewTree(ciphersuite.NewSecretForCS(suite, v.Encryption), 2, suite) // the vectors' group has two members
			if err != nil {
				t.Fatal(err)
			}
			m, err := framing.UnmarshalMLSMessage(c.message)
			if err != nil {
				t.Fatal(err)
			}
			private, ok := m.AsPrivate()
			if !ok {
				t.Fatal("it is not a private message")
			}
			opened, err := framing.Decrypt(private, framing.DecryptParams{
				CipherSuite: suite, SenderDataSecret: ciphersuite.NewSecretForCS(suite, v.SenderData), SecretTree: tree,
				SigPubKey: ciphersuite.NewMLSSignaturePublicKey(v.Public, suite.SignatureScheme()), GroupContext: context,
			})
			if err != nil {
				t.Errorf("open: %v", err)
				continue
			}
			var got []byte
			switch body := opened.Content.Body.(type) {
			case framing.ProposalBody:
				got = body.Data
			case framing.CommitBody:
				got = body.Data
			case framing.ApplicationData:
				got = body.Data
			}
			same(t, "content", got, c.want)
		}
	}
}

func TestVectorsOfTheSecretTree(t *testing.T) {
	t.Parallel()
	type vector struct {
		Secret octets `json:"encryption_secret"`
		Leaves [][]struct {
			Generation uint32 `json:"generation"`
			Key        octets `json:"application_key"`
			Nonce      octets `json:"application_nonce"`
		} `json:"leaves"`
	}
	for _, v := range mlsVectors[vector](t, "secret-tree") {
		tree, err := secrettree.NewTree(ciphersuite.NewSecretForCS(suite, v.Secret), uint32(len(v.Leaves)), suite)
		if err != nil {
			t.Fatal(err)
		}
		for i, generations := range v.Leaves {
			leaf, err := tree.LeafForIndex(uint32(i))
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range generations {
				key, err := leaf.ApplicationKey(g.Generation)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "key", key, g.Key)
			}
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

// treeKEM is a group in one epoch, with everybody's private keys, and for each member a path that it would commit.
type treeKEM struct {
	Group     octets `json:"group_id"`
	Epoch     uint64 `json:"epoch"`
	Confirmed octets `json:"confirmed_transcript_hash"`
	Tree      octets `json:"ratchet_tree"`
	Leaves    []struct {
		Index   uint32 `json:"index"`
		Private octets `json:"encryption_priv"`
		Secrets []struct {
			Node   uint32 `json:"node"`
			Secret octets `json:"path_secret"`
		} `json:"path_secrets"`
	} `json:"leaves_private"`
	Paths []struct {
		Sender  uint32   `json:"sender"`
		Path    octets   `json:"update_path"`
		Secrets []octets `json:"path_secrets"` // which each leaf finds; none for the sender and empty leaves
		Commit  octets   `json:"commit_secret"`
		After   octets   `json:"tree_hash_after"`
	} `json:"update_paths"`
}

// step is a node of a sender's filtered direct path (RFC 9420 §4.1.2).
type step struct {
	node treesync.NodeIndex
	down treesync.NodeIndex // the child on the path
	away treesync.NodeIndex // the other child, whose members get the node's secret
}

func filtered(tree *treesync.RatchetTree, sender treesync.LeafIndex) (steps []step, blank []treesync.NodeIndex) {
	path, away := tree.DirectPath(sender), tree.Copath(sender)
	for i, node := range path[1:] {
		if len(tree.Resolution(away[i])) == 0 {
			blank = append(blank, node)
			continue
		}
		steps = append(steps, step{node: node, down: path[i], away: away[i]})
	}
	return steps, blank
}

// secretOf derives what comes of a node's path secret (RFC 9420 §7.4).
func secretOf(t *testing.T, path []byte, label string) []byte {
	t.Helper()
	s, err := ciphersuite.NewSecretForCS(suite, path).DeriveSecret(suite, label)
	if err != nil {
		t.Fatal(err)
	}
	return s.AsSlice()
}

func keyOf(t *testing.T, path []byte) *ecdh.PrivateKey {
	t.Helper()
	key, err := ciphersuite.DeriveKeyPair(suite, secretOf(t, path, "node"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// merge returns the tree after a path (RFC 9420 §7.5 and §7.9).
func merge(t *testing.T, tree *treesync.RatchetTree, sender treesync.LeafIndex, path *group.UpdatePath) *treesync.RatchetTree {
	t.Helper()
	tree = tree.Clone()
	steps, blank := filtered(tree, sender)
	if len(steps) != len(path.Nodes) {
		t.Fatalf("the path has %d nodes, want %d", len(path.Nodes), len(steps))
	}
	tree.Nodes[treesync.LeafIndexToNodeIndex(sender)] = treesync.Node{State: treesync.NodeStatePresent, LeafData: path.LeafNode}
	for _, node := range blank {
		tree.BlankNode(node)
	}
	for i, s := range steps {
		key, err := ecdh.P256().NewPublicKey(path.Nodes[i].EncryptionKey)
		if err != nil {
			t.Fatal(err)
		}
		tree.Nodes[s.node] = treesync.Node{State: treesync.NodeStatePresent, EncryptionKey: key}
	}
	above := []byte{} // the parent hash of the root
	for _, s := range slices.Backward(steps) {
		node := &tree.Nodes[s.node]
		node.ParentHash = above
		above = treesync.ComputeParentHash(node.EncryptionKey.Bytes(), above, tree.HashNode(s.away), suite.HashFunction())
	}
	same(t, "parent hash of the sender's leaf", path.LeafNode.ParentHash, above)
	return tree
}

func TestVectorsOfTreeKEM(t *testing.T) {
	t.Parallel()
	for _, v := range mlsVectors[treeKEM](t, "treekem") {
		tree, err := treesync.UnmarshalTreeFromExtension(v.Tree, suite)
		if err != nil {
			t.Fatal(err)
		}
		tree = tree.ExpandToPowerOf2()
		for _, p := range v.Paths {
			commit, err := group.UnmarshalCommit(append([]byte{0, 1}, p.Path...)) // no proposals, and a path
			if err != nil {
				t.Fatal(err)
			}
			sender := treesync.LeafIndex(p.Sender)
			after := merge(t, tree, sender, commit.Path)
			same(t, "tree hash", after.TreeHash(), p.After)
			if err := after.VerifyParentHashes(sender); err != nil {
				t.Error(err)
			}
			if err := commit.Path.LeafNode.VerifyWithContext(suite, v.Group, p.Sender); err != nil {
				t.Error(err)
			}
			context := contextOf(v.Group, v.Epoch, p.After, v.Confirmed)
			for _, leaf := range v.Leaves {
				if leaf.Index == p.Sender {
					continue
				}
				keys := map[treesync.NodeIndex][]byte{treesync.LeafIndexToNodeIndex(treesync.LeafIndex(leaf.Index)): leaf.Private}
				for _, s := range leaf.Secrets {
					keys[treesync.NodeIndex(s.Node)] = keyOf(t, s.Secret).Bytes()
				}
				found, commitSecret := follow(t, tree, sender, commit.Path, keys, context)
				same(t, "path secret", found, p.Secrets[leaf.Index])
				same(t, "commit secret", commitSecret, p.Commit)
			}
		}
	}
}

// follow does with a path what a member does: it opens the first secret that it has a key for, and derives those
// above.
func follow(t *testing.T, tree *treesync.RatchetTree, sender treesync.LeafIndex, path *group.UpdatePath, keys map[treesync.NodeIndex][]byte, context []byte) (found, commit []byte) {
	t.Helper()
	steps, _ := filtered(tree, sender)
	for i, s := range steps {
		for j, node := range tree.Resolution(s.away) {
			key, ok := keys[node]
			if !ok || found != nil {
				continue
			}
			secret, err := ciphersuite.DecryptWithLabel(key, "UpdatePathNode", context, &path.Nodes[i].EncryptedPathSecrets[j], suite)
			if err != nil {
				t.Fatal(err)
			}
			found = secret
			for _, n := range path.Nodes[i:] {
				same(t, "key of a node", keyOf(t, secret).PublicKey().Bytes(), n.EncryptionKey)
				secret = secretOf(t, secret, "path")
			}
			commit = secret
		}
	}
	return found, commit
}
