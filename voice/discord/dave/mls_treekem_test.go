package dave_test

import (
	"crypto/ecdh"
	"slices"
	"testing"

	"github.com/thomas-vilte/mls-go/ciphersuite"
	"github.com/thomas-vilte/mls-go/group"
	"github.com/thomas-vilte/mls-go/treesync"
)

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
