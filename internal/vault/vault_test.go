package vault_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/vault"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

const password = `hünter2 "&'<x>/+\ ~`

// ring is a keyring in memory.
type ring struct {
	mu   sync.Mutex
	keys map[string]string
	err  error // there is none
}

func (r *ring) Get(_ context.Context, name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return "", r.err
	}
	if s, ok := r.keys[name]; ok {
		return s, nil
	}
	return "", vault.ErrNotInKeyring
}

func (r *ring) Set(_ context.Context, name, secret string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.keys[name] = secret
	}
	return r.err
}

func (r *ring) Delete(_ context.Context, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.keys, name)
	return r.err
}

func newRing() *ring { return &ring{keys: map[string]string{}} }

func options(t *testing.T) vault.Options {
	t.Helper()
	dir := t.TempDir()
	return vault.Options{Path: filepath.Join(dir, "vault.json"), KeyFile: filepath.Join(dir, "vault.key")}
}

func open(t *testing.T, o vault.Options) *vault.Vault {
	t.Helper()
	v, err := vault.Open(t.Context(), o)
	check.Must(t, err)
	return v
}

func shop() vault.NewEntry {
	return vault.NewEntry{
		Name: "shop", Origins: []string{"https://Shop.example/", "http://localhost:8080"},
		Username: "ada", Password: password,
	}
}

func put(t *testing.T, v *vault.Vault, n vault.NewEntry) {
	t.Helper()
	check.Must(t, v.Put(t.Context(), n))
}

// reveal returns the secret of the entry "shop".
func reveal(t *testing.T, v *vault.Vault) vault.Secret {
	t.Helper()
	s, err := v.Reveal(t.Context(), "shop", "https://shop.example")
	check.Must(t, err)
	return s
}

// withTOTP returns a vault whose entry "shop" generates these codes.
func withTOTP(t *testing.T, totp string) *vault.Vault {
	t.Helper()
	v, n := open(t, options(t)), shop()
	n.TOTP = totp
	put(t, v, n)
	return v
}

func entries(t *testing.T, v *vault.Vault) []vault.Entry {
	t.Helper()
	es, err := v.Entries(t.Context())
	check.Must(t, err)
	return es
}

func TestAnEntryIsKeptAndRevealedForItsOrigins(t *testing.T) {
	o := options(t)
	put(t, open(t, o), shop())
	v := open(t, o)
	want := []vault.Entry{{
		Name: "shop", Origins: []string{"http://localhost:8080", "https://shop.example"},
		Username: "ada", HasPassword: true,
	}}
	check.Diff(t, "entries(t, v)", entries(t, v), want)
	s, err := v.Reveal(t.Context(), "shop", "https://shop.example")
	if err != nil || s.Password() != password || s.Username() != "ada" {
		t.Errorf("got %v, %v", s, err)
	}
	for _, origin := range []string{
		"https://shop.example:444", "http://shop.example", "https://shop.example.evil.test",
		"https://xshop.example", "https://SHOP.example", "null", "", "https://shop.example/",
	} {
		check.Fails(t, check.Err(v.Reveal(t.Context(), "shop", origin)), vault.ErrWrongOrigin)
	}
	check.Fails(t, check.Err(v.Reveal(t.Context(), "other", "https://shop.example")), vault.ErrNotFound)
}

func TestNothingOnTheDiskTellsASecret(t *testing.T) {
	o := options(t)
	v := open(t, o)
	n := shop()
	n.Username, n.Password, n.TOTP = "ada.lovelace", "correct-horse", "JBSWY3DPEHPK3PXP"
	put(t, v, n)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(o.Path), "*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("got %v, %v; want the vault, its key and its lock", files, err)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || !private(info) {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		data, err := os.ReadFile(name)
		check.Must(t, err)
		for _, s := range []string{"correct-horse", "JBSWY3DP", n.Username} {
			if bytes.Contains(data, []byte(s)) {
				t.Errorf("%s holds %q", name, s)
			}
		}
	}
}

func TestASecretDoesNotPrint(t *testing.T) {
	v := open(t, options(t))
	put(t, v, shop())
	s := reveal(t, v)
	asJSON, err := json.Marshal(map[string]any{"s": s})
	check.Must(t, err)
	for _, got := range []string{
		fmt.Sprint(s), fmt.Sprintf("%+v %#v %s %q", s, s, s, s), fmt.Sprintf("%v", &s),
		string(asJSON),
	} {
		check.Lacks(t, got, "nter2")
	}
}

func TestKeysAreFoundWhereTheyAre(t *testing.T) {
	given := "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	for where, change := range map[string]func(*vault.Options){
		"environment": func(o *vault.Options) { o.Key = given },
		"keyring":     func(o *vault.Options) { o.Keyring = newRing() },
		"file":        func(o *vault.Options) { o.Keyring = &ring{err: errors.New("no bus")} },
	} {
		o := options(t)
		change(&o)
		v := open(t, o)
		put(t, v, shop())
		got, err := open(t, o).Status(t.Context())
		if err != nil || got.Key != where || got.Entries != 1 {
			t.Errorf("got %+v, %v, want the key in the %s", got, err, where)
		}
		if _, err := os.Stat(o.KeyFile); (err == nil) != (where == "file") {
			t.Errorf("%s: the key file: %v", where, err)
		}
		if want := map[string]string{"file": "no bus"}[where]; got.KeyringError != want {
			t.Errorf("why the keyring is not used: %+v, want %q", got, want)
		}
	}
	if got, err := open(t, options(t)).Status(t.Context()); err != nil || got.Key != "" || got.Entries != 0 {
		t.Errorf("before the first entry: %+v, %v", got, err)
	}
}

func TestAWrongKeyIsNamedAndNothingIsLost(t *testing.T) {
	o := options(t)
	put(t, open(t, o), shop())
	before := read(t, o.Path)
	other := options(t)
	put(t, open(t, other), shop())
	wrong := o
	wrong.KeyFile = other.KeyFile
	check.Fails(t, check.Err(vault.Open(t.Context(), wrong)), vault.ErrWrongKey)
	wrong = o
	wrong.Key, wrong.KeySource = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "CLANK_VAULT_KEY"
	check.Fails(t, check.Err(vault.Open(t.Context(), wrong)), vault.ErrWrongKey, "CLANK_VAULT_KEY")
	wrong = o
	wrong.Key = "c2hvcnQ="
	if _, err := vault.Open(t.Context(), wrong); err == nil || strings.Contains(err.Error(), "c2hv") {
		t.Errorf("no key at all: %v", err)
	}
	wrong = o
	wrong.KeyFile = filepath.Join(t.TempDir(), "none")
	check.Fails(t, check.Err(vault.Open(t.Context(), wrong)), vault.ErrNoKey)
	if got := read(t, o.Path); !bytes.Equal(got, before) {
		t.Error("the file has changed")
	}
	if got := entries(t, open(t, o)); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestAKeyThatOthersCanReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	o := options(t)
	put(t, open(t, o), shop())
	check.Must(t, os.Chmod(o.KeyFile, 0o640))
	check.Fails(t, check.Err(vault.Open(t.Context(), o)), nil, "chmod 600")
}

// private reports whether only its owner may read a file; on Windows, which has no such bits, it returns true.
func private(info os.FileInfo) bool { return runtime.GOOS == "windows" || info.Mode().Perm() == 0o600 }

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	check.Must(t, err)
	return data
}

// stored is the part of a vault file that tests change.
type stored struct {
	Version int              `json:"version"`
	ID      string           `json:"id"`
	Key     string           `json:"key"`
	Entries []map[string]any `json:"entries"`
	Seal    []byte           `json:"seal"`
}

func TestADamagedFileIsReportedAndNotOverwritten(t *testing.T) {
	o := options(t)
	v := open(t, o)
	put(t, v, shop())
	other := shop()
	other.Name, other.Origins = "bank", []string{"https://bank.example"}
	put(t, v, other)
	whole := read(t, o.Path)
	for name, damage := range map[string]func(s *stored){
		"secrets swapped": func(s *stored) {
			s.Entries[0]["data"], s.Entries[1]["data"] = s.Entries[1]["data"], s.Entries[0]["data"]
		},
		"names swapped": func(s *stored) {
			s.Entries[0]["name"], s.Entries[1]["name"] = s.Entries[1]["name"], s.Entries[0]["name"]
		},
		"origin changed":    func(s *stored) { s.Entries[0]["origins"] = []string{"https://evil.example"} },
		"entry taken out":   func(s *stored) { s.Entries = s.Entries[:1] },
		"order changed":     func(s *stored) { s.Entries[0], s.Entries[1] = s.Entries[1], s.Entries[0] },
		"entry twice":       func(s *stored) { s.Entries = append(s.Entries, s.Entries[0]) },
		"seal gone":         func(s *stored) { s.Seal = nil },
		"data gone":         func(s *stored) { s.Entries[0]["data"] = "" },
		"something besides": func(s *stored) { s.Entries[0]["more"] = 1 },
	} {
		var s stored
		check.Must(t, json.Unmarshal(whole, &s))
		damage(&s)
		data, err := json.Marshal(s)
		check.Must(t, err)
		wantDamaged(t, name, o, data)
	}
	for _, cut := range []int{0, 1, 40, len(whole) / 2, len(whole) - 3} {
		wantDamaged(t, fmt.Sprintf("cut after %d bytes", cut), o, whole[:cut])
	}
	wantDamaged(t, "something after it", o, append(bytes.Clone(whole), "{}"...))
	flipped := bytes.Clone(whole)
	flipped[bytes.Index(flipped, []byte(`"data": "`))+30] ^= 1
	wantDamaged(t, "a bit flipped", o, flipped)
	check.Must(t, os.WriteFile(o.Path, whole, 0o600))
	if got := entries(t, open(t, o)); len(got) != 2 {
		t.Errorf("the copy put back holds %v", got)
	}
}

func wantDamaged(t *testing.T, name string, o vault.Options, data []byte) {
	t.Helper()
	check.Must(t, os.WriteFile(o.Path, data, 0o600))
	if _, err := vault.Open(t.Context(), o); !errors.Is(err, vault.ErrDamaged) {
		t.Errorf("%s: %v", name, err)
	}
	if !bytes.Equal(read(t, o.Path), data) {
		t.Errorf("%s: the file was overwritten", name)
	}
}

func TestAPutDoesNotOverwriteADamagedFile(t *testing.T) {
	o := options(t)
	v := open(t, o)
	put(t, v, shop())
	check.Must(t, os.WriteFile(o.Path, []byte("{"), 0o600))
	check.Fails(t, v.Put(t.Context(), shop()), vault.ErrDamaged)
	check.Equal(t, "the file is now", string(read(t, o.Path)), "{")
}

func TestRekeyChangesKeyAndCiphertextAndKeepsEntries(t *testing.T) {
	for name, ring := range map[string]*ring{"keyring": newRing(), "file": {err: errors.New("none")}} {
		o := options(t)
		o.Keyring = ring
		v := open(t, o)
		put(t, v, shop())
		old, oldFile := readKeys(ring, o), read(t, o.Path)
		if err := v.Rekey(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fresh := readKeys(ring, o)
		if len(fresh) != 1 || fresh[0] == old[0] {
			t.Errorf("%s: keys were %d, are %d; the old one must be gone", name, len(old), len(fresh))
		}
		s, err := open(t, o).Reveal(t.Context(), "shop", "https://shop.example")
		if err != nil || s.Password() != password {
			t.Errorf("%s: got %v, %v", name, s, err)
		}
		check.Must(t, os.WriteFile(o.Path, oldFile, 0o600))
		if _, err := vault.Open(t.Context(), o); !errors.Is(err, vault.ErrNoKey) && !errors.Is(err, vault.ErrWrongKey) {
			t.Errorf("%s: the old file opens still: %v", name, err)
		}
	}
	o, r := options(t), &ring{keys: map[string]string{}, err: errors.New("locked")}
	o.Keyring = r
	v := open(t, o)
	put(t, v, shop())
	r.err = nil
	check.Must(t, v.Rekey(t.Context()))
	if _, err := os.Stat(o.KeyFile); err == nil || len(r.keys) != 1 {
		t.Errorf("with a keyring that opens now, the key file: %v, keys in the keyring: %d", err, len(r.keys))
	}
	check.Must(t, v.Rekey(t.Context()))
	o = options(t)
	o.Key, o.KeySource = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "CLANK_VAULT_KEY"
	v = open(t, o)
	put(t, v, shop())
	check.Fails(t, v.Rekey(t.Context()), nil, "CLANK_VAULT_KEY")
	o.Key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" // the same in hexadecimal digits
	check.Must(t, check.Err(vault.Open(t.Context(), o)))
	o.Key = "0001"
	check.Fails(t, check.Err(vault.Open(t.Context(), o)), nil, "32 bytes")
}

func readKeys(r *ring, o vault.Options) (keys []string) {
	for _, k := range r.keys {
		keys = append(keys, k)
	}
	if data, err := os.ReadFile(o.KeyFile); err == nil {
		keys = append(keys, strings.Fields(string(data))...)
	}
	return keys
}

// The test interrupts a rekey at each of its steps: the program ends there, the step fails, or all steps from there
// on fail. A power failure may also undo renames that were not synced.
func TestARekeyThatIsBrokenOffLosesNothing(t *testing.T) {
	const crash, fault, dead = "the program ends", "the step fails", "the disk fails"
	for place, fewest := range map[string]int{"keyring": 3, "file": 9} {
		for _, how := range []string{crash, fault, dead} {
			for _, undone := range []bool{false, true} {
				for at := 0; ; at++ {
					o, ring := options(t), newRing()
					if place == "keyring" {
						o.Keyring = ring
					}
					put(t, open(t, o), shop())
					written := read(t, o.Path)
					var last string
					n, unsynced := 0, map[string][]byte{}
					restore := vault.StepsFail(func(step, path string) error {
						n++
						switch failing := n-1 == at || n-1 > at && how == dead; {
						case failing && how == crash:
							last = step
							panic(how)
						case failing:
							last = step
							return errors.New(how)
						case step == "sync":
							delete(unsynced, path)
						case step == "rename":
							unsynced[path] = read(t, path)
						}
						return nil
					})
					err := errors.New(crash)
					func() {
						defer func() { _ = recover() }()
						err = open(t, o).Rekey(t.Context())
					}()
					restore()
					if n <= at { // none was left to break
						if err != nil || at < fewest {
							t.Errorf("%s, %s: a rekey of %d steps (%v), want at least %d", place, how, at, err, fewest)
						}
						break
					}
					name := fmt.Sprintf("key in the %s, %s at step %d (%s), undone %v", place, how, at, last, undone)
					if err == nil {
						t.Errorf("%s: no error", name)
					}
					if how == fault && len(unsynced) == 0 && bytes.Equal(read(t, o.Path), written) {
						if keys := readKeys(ring, o); len(keys) != 1 {
							t.Errorf("%s: %d keys are left for a vault that is as before", name, len(keys))
						}
					}
					for path, before := range unsynced {
						if undone {
							check.Must(t, os.WriteFile(path, before, 0o600))
						}
					}
					for _, again := range []bool{false, true} {
						v, err := vault.Open(t.Context(), o)
						if err != nil {
							t.Fatalf("%s, rekeyed again %v: %v", name, again, err)
						}
						check.Equal(t, fmt.Sprintf("%s, rekeyed again %v: the password", name, again),
							reveal(t, v).Password(), password)
						if !again {
							check.Must(t, v.Rekey(t.Context()))
						}
					}
				}
			}
		}
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	o := options(t)
	put(t, open(t, o), shop())
	var wg sync.WaitGroup
	for i := range 6 {
		v := open(t, o) // as another process has it
		wg.Go(func() {
			n := shop()
			n.Name = fmt.Sprintf("e%d", i)
			if err := v.Put(t.Context(), n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	v := open(t, o)
	check.Equal(t, "entries", len(entries(t, v)), 7)
	put(t, v, shop()) // in place of the first one
	check.Equal(t, "entries after one was put again", len(entries(t, v)), 7)
	check.Must(t, v.Remove(t.Context(), "shop"))
	put(t, v, shop())
	check.Must(t, v.Remove(t.Context(), "e3"))
	check.Fails(t, v.Remove(t.Context(), "e3"), vault.ErrNotFound)
	check.Equal(t, "entries", len(entries(t, v)), 6)
}

func TestEntriesThatCannotBeGuardedAreRefused(t *testing.T) {
	long := strings.Repeat("x", 4096)
	n := shop()
	n.Username, n.Password = long, long
	put(t, open(t, options(t)), n)
	for name, change := range map[string]func(*vault.NewEntry){
		"no origin":        func(n *vault.NewEntry) { n.Origins = nil },
		"http":             func(n *vault.NewEntry) { n.Origins = []string{"http://shop.example"} },
		"a wildcard":       func(n *vault.NewEntry) { n.Origins = []string{"https://*.shop.example"} },
		"a path":           func(n *vault.NewEntry) { n.Origins = []string{"https://shop.example/login"} },
		"a user":           func(n *vault.NewEntry) { n.Origins = []string{"https://ada@shop.example"} },
		"no scheme":        func(n *vault.NewEntry) { n.Origins = []string{"shop.example"} },
		"another scheme":   func(n *vault.NewEntry) { n.Origins = []string{"ftp://shop.example"} },
		"short":            func(n *vault.NewEntry) { n.Password = "äöü" },
		"two lines":        func(n *vault.NewEntry) { n.Password = "abcd\nefgh" },
		"nothing":          func(n *vault.NewEntry) { n.Password = "" },
		"no text":          func(n *vault.NewEntry) { n.Password = "abcd\xff" },
		"too long":         func(n *vault.NewEntry) { n.Password = long + "x" },
		"a user too long":  func(n *vault.NewEntry) { n.Username = long + "x" },
		"two users":        func(n *vault.NewEntry) { n.Username = "ada\nbob" },
		"a user of bytes":  func(n *vault.NewEntry) { n.Username = "ada\xff" },
		"a name of paths":  func(n *vault.NewEntry) { n.Name = "../x" },
		"a bracket":        func(n *vault.NewEntry) { n.Name = `a"]` },
		"no name":          func(n *vault.NewEntry) { n.Name = "" },
		"a bad code":       func(n *vault.NewEntry) { n.TOTP = "otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP" },
		"a code too short": func(n *vault.NewEntry) { n.TOTP = "AAAA" },
	} {
		n := shop()
		change(&n)
		err := open(t, options(t)).Put(t.Context(), n)
		if !errors.Is(err, vault.ErrInvalidEntry) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hünter") || strings.Contains(err.Error(), "JBSW")) {
			t.Errorf("%s: the error tells the secret: %v", name, err)
		}
	}
}

func TestOriginsAreSpelledAsPagesHaveThem(t *testing.T) {
	for text, want := range map[string]string{
		"https://Shop.Example:443/": "https://shop.example",
		"https://shop.example:8443": "https://shop.example:8443",
		"https://bücher.example":    "https://xn--bcher-kva.example",
		"http://localhost:80":       "http://localhost",
		"http://127.0.0.1:3000":     "http://127.0.0.1:3000",
		"http://[::1]:3000":         "http://[::1]:3000",
		"http://app.localhost:1":    "http://app.localhost:1",
	} {
		if got, err := vault.ParseOrigin(text); got != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	shown := vault.DisplayOrigins([]string{"https://a.example", "https://xn--bcher-kva.example"})
	if want := []string{"https://a.example", "https://xn--bcher-kva.example (bücher.example)"}; !slices.Equal(shown,
		want) {
		t.Errorf("got %q, want %q", shown, want)
	}
}

func TestEntryPermissions(t *testing.T) {
	e := vault.Entry{Users: []string{"1"}, Roles: []string{"r"}}
	for _, c := range []struct {
		user  string
		roles []string
		want  bool
	}{{"1", nil, true}, {"2", nil, false}, {"2", []string{"x", "r"}, true}, {"", nil, false}} {
		check.Equal(t, fmt.Sprintf("%q %v", c.user, c.roles), e.Allows(c.user, c.roles), c.want)
	}
	if (vault.Entry{Users: []string{""}}).Allows("", nil) {
		t.Error("nobody may use it")
	}
}

// Test vectors of RFC 6238, appendix B: the secret for each hash is the digits 1234567890, repeated to the length of
// the hash.
func TestCodesFollowTheStandard(t *testing.T) {
	for _, c := range []struct {
		algorithm, secret string
		at                int64
		want              string
	}{
		{"SHA1", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 59, "94287082"},
		{"SHA1", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 20000000000, "65353130"},
		{"SHA256", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA", 1111111109, "68084774"},
		{
			"SHA512", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA",
			1234567890, "93441116",
		},
	} {
		v := withTOTP(t, "otpauth://totp/Shop:ada?digits=8&algorithm="+c.algorithm+"&secret="+c.secret)
		s := reveal(t, v)
		check.Equal(t, fmt.Sprintf("%s at %d", c.algorithm, c.at), s.Code(time.Unix(c.at, 0)), c.want)
		check.Equal(t, "the code is told", v.Scrub("your code is "+c.want), "your code is [secret shop code]")
	}
}

func TestSecretsOfCodesAreReadAsPeopleWriteThem(t *testing.T) {
	const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	at := time.Unix(1111111109, 0)
	for text, want := range map[string]string{
		secret: "081804",
		" gezd gnbv gy3t qojq gezd gnbv gy3t qojq ":        "081804",
		"GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ====":      "081804",
		"otpauth://totp/x?secret=" + secret:                "081804",
		"otpauth://totp/x?digits=7&secret=" + secret:       "7081804",
		"otpauth://totp/x?algorithm=sha1&secret=" + secret: "081804",
		"GEZDGNBV": "",
		"otpauth://totp/x?digits=6&secret=" + secret:   "081804",
		"otpauth://totp/x?period=5&secret=" + secret:   "",
		"otpauth://totp/x?period=300&secret=" + secret: "",
	} {
		v := withTOTP(t, text)
		s := reveal(t, v)
		if got := s.Code(at); want != "" && got != want || len(got) < 6 {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		check.Equal(t, text+": codes of digits", entries(t, v)[0].Digits, max(6, len(want)))
	}
	for _, text := range []string{
		"GEZDGNB", "GEZDGNB1", "18", "otpauth://totp/x", "otpauth://hotp/x?secret=" + secret, "https://totp/x?secret=" +
			secret, "otpauth://totp/%zz?secret=" + secret,
		"otpauth://totp/x?digits=5&secret=" + secret, "otpauth://totp/x?digits=9&secret=" + secret,
		"otpauth://totp/x?digits=six&secret=" + secret,
		"otpauth://totp/x?period=4&secret=" + secret, "otpauth://totp/x?period=301&secret=" + secret,
		"otpauth://totp/x?period=x&secret=" + secret,
		"otpauth://totp/x?algorithm=MD5&secret=" + secret,
	} {
		n := shop()
		n.TOTP = text
		if err := open(t, options(t)).Put(t.Context(), n); !errors.Is(err, vault.ErrInvalidEntry) ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v, want a refusal that does not repeat it", text, err)
		}
	}
	s := reveal(t, withTOTP(t, "otpauth://totp/x?period=60&secret="+secret))
	if a, b, c := s.Code(time.Unix(0, 0)), s.Code(time.Unix(59, 0)), s.Code(time.Unix(60, 0)); a != b || b == c {
		t.Errorf("codes of a minute: %s, %s, and then %s", a, b, c)
	}
}

func TestALockedVaultIsWaitedForAsLongAsTheCallerWants(t *testing.T) {
	opts := options(t)
	v := open(t, opts)
	other := flock.New(filepath.Clean(opts.Path) + ".lock") // as another process has it
	check.Must(t, other.Lock())
	defer other.Close()
	why := errors.New("a person gave up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, why)
	defer cancel()
	check.Fails(t, v.Put(ctx, shop()), why)
	done := make(chan error, 1)
	go func() { done <- v.Put(t.Context(), shop()) }()
	check.Must(t, other.Unlock())
	check.Must(t, <-done) // after the lock was let go
}

func TestTheKeyOfBrowserStatesIsStoredLikeTheVaultsKey(t *testing.T) {
	const given = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	empty, none := newRing(), &ring{err: errors.New("no keyring")}
	seen := map[string]string{}
	for name, o := range map[string]vault.Options{
		"keyring": {Keyring: empty}, "file": {Keyring: none}, "file without a keyring": {}, "environment": {Key: given},
	} {
		o.KeyFile = filepath.Join(t.TempDir(), "vault.key")
		file := filepath.Join(filepath.Dir(o.KeyFile), "browser.key")
		first, err := vault.StateKeys(t.Context(), o)
		check.Must(t, err)
		again, err := vault.StateKeys(t.Context(), o)
		check.Must(t, err)
		info, missing := os.Stat(file)
		switch inFile := strings.HasPrefix(name, "file"); {
		case len(first) != 1, len(first[0]) < 40, first[0] == given, !slices.Equal(first, again), seen[first[0]] != "":
			t.Errorf("%s: %q, then %q; %s has the same", name, first, again, seen[first[0]])
		case inFile != (missing == nil), inFile && !private(info):
			t.Errorf("%s: %v %v", name, info, missing)
		case inFile && runtime.GOOS != "windows":
			check.Must(t, os.Chmod(file, 0o640))
			check.Fails(t, check.Err(vault.StateKeys(t.Context(), o)), nil, "can be read by others", file)
			check.Must(t, os.Chmod(file, 0o600))
			o.Keyring = empty // one that could not be asked when the file was made
			if both, err := vault.StateKeys(t.Context(), o); err != nil || both[0] != first[0] || len(both) > 2 {
				t.Errorf("%s, and then a keyring: %q, %v", name, both, err)
			}
		}
		seen[first[0]] = name
	}
	empty.keys["browser state key"] = "short"
	for want, o := range map[string]vault.Options{
		"CLANK_VAULT_KEY": {Key: "short", KeySource: "CLANK_VAULT_KEY"},
		"keyring":         {Keyring: empty, KeyFile: t.TempDir() + "/vault.key"},
	} {
		check.Fails(t, check.Err(vault.StateKeys(t.Context(), o)), nil, want)
	}
}

func TestServiceKeysAreNotLoginsAndAreScrubbed(t *testing.T) {
	opts := vault.Options{Path: filepath.Join(t.TempDir(), "vault.json"), KeyFile: filepath.Join(t.TempDir(), "vault.key")}
	v, err := vault.Open(t.Context(), opts)
	check.Must(t, err)
	check.Must(t, v.SetServiceKey(t.Context(), "OPENAI_API_KEY", "sk-0123456789"))
	raw, err := os.ReadFile(opts.Path)
	if err != nil || bytes.Contains(raw, []byte("sk-0123456789")) {
		t.Errorf("the file holds the key: %v", err)
	}
	check.Must(t, v.Rekey(t.Context()))
	again, err := vault.Open(t.Context(), opts)
	check.Must(t, err)
	keys, err := again.ServiceKeys(t.Context())
	if diff := cmp.Diff(map[string]string{"OPENAI_API_KEY": "sk-0123456789"}, keys); err != nil || diff != "" {
		t.Errorf("after a restart: %v\n%s", err, diff)
	}
	check.Lacks(t, again.Scrub("it is sk-0123456789"), "sk-")
	entries, err := again.Entries(t.Context())
	status, _ := again.Status(t.Context())
	if err != nil || len(entries) > 0 || status.Entries > 0 {
		t.Errorf("a key is a login: %+v %+v %v", entries, status, err)
	}
	check.Fails(t, check.Err(again.Reveal(t.Context(), "key OPENAI_API_KEY", "")), vault.ErrNotFound)
	for _, bad := range []string{"x", "two\nlines"} {
		check.Fails(t, again.SetServiceKey(t.Context(), "OPENAI_API_KEY", bad), vault.ErrInvalidEntry)
	}
	for range 2 {
		check.Must(t, again.SetServiceKey(t.Context(), "OPENAI_API_KEY", ""))
	}
	if keys, err := v.ServiceKeys(t.Context()); err != nil || len(keys) > 0 {
		t.Errorf("after it was forgotten: %v %v", keys, err)
	}
}

func FuzzATOTPIsDigitsOrRefused(f *testing.F) {
	for _, text := range []string{
		"JBSWY3DPEHPK3PXP", "jbsw y3dp-ehpk3pxp==",
		"otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&digits=8&period=60&algorithm=sha512",
		"otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP", "otpauth://totp/x?period=0&secret=JBSWY3DPEHPK3PXP", "AAAA", "://",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, err := vault.CodeOf(text, time.Unix(1111111109, 0))
		if err == nil && (len(code) < 6 || len(code) > 8 || strings.Trim(code, "0123456789") != "") {
			t.Errorf("%q makes %q", text, code)
		}
	})
}
