package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"clank/settings"
	"clank/vault"

	"golang.org/x/term"
)

const vaultIntro = `clank vault <command> [arguments]

Keeps logins for pages. A model can have one filled in, and never sees the password.

  add NAME --origin URL… --user NAME   keep a login; the password is asked for, or read from stdin
  list                                 what is kept, without secrets
  show NAME                            one entry, without secrets
  remove NAME                          forget one
  test NAME                            can it be decrypted, and would a page of --origin get it
  status                               where the vault and its key are
  rekey                                encrypt everything anew with a new key

An origin is scheme, host and port, such as https://shop.example; http only for hosts of this
machine. Without --for-user and --for-role an entry serves this terminal and the dashboard alone.`

// vaultFlags are the flags of "clank vault".
type vaultFlags struct {
	origins, users, roles list
	user                  string
	totp, noPassword      bool
	json                  bool
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// vaultCommand is one verb of "clank vault".
type vaultCommand struct {
	named bool // it takes the name of an entry
	run   func(ctx context.Context, e *env, o vault.Options, f vaultFlags, name string) error
}

var vaultCommands = map[string]vaultCommand{
	"add":    {true, vaultAdd},
	"list":   {false, vaultList},
	"show":   {true, vaultShow},
	"remove": {true, vaultRemove},
	"test":   {true, vaultTest},
	"status": {false, vaultStatus},
	"rekey":  {false, vaultRekey},
}

func workVault(ctx context.Context, e *env, args []string) error {
	var f vaultFlags
	fs := newFlags("vault", vaultIntro)
	fs.Var(&f.origins, "origin", "`URL` of a page that the login is for; may be given several times")
	fs.StringVar(&f.user, "user", "", "user `NAME` of the login")
	fs.Var(&f.users, "for-user", "`ID` of a person who may use it from Discord; may be given several times")
	fs.Var(&f.roles, "for-role", "`ID` of a role whose people may; may be given several times")
	fs.BoolVar(&f.totp, "totp", false, "also ask for the one-time code's otpauth:// address or secret")
	fs.BoolVar(&f.noPassword, "no-password", false, "keep the one-time code alone")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	if err := parse(e, fs, args, 2); err != nil {
		return err
	}
	if len(fs.rest) == 0 {
		return usageErrorf("say what to do: add, list, show, remove, test, status or rekey")
	}
	c, ok := vaultCommands[fs.rest[0]]
	name := ""
	switch {
	case !ok:
		return usageErrorf("there is no command %q", fs.rest[0])
	case c.named && len(fs.rest) < 2:
		return usageErrorf("name the entry: clank vault %s NAME", fs.rest[0])
	case !c.named && len(fs.rest) > 1:
		return usageErrorf("unexpected argument %q", fs.rest[1])
	case c.named:
		name = fs.rest[1]
	}
	h, err := openHome(e.getenv)
	if err != nil {
		return err
	}
	opts, err := vaultOptions(e, h)
	if err != nil {
		return err
	}
	return c.run(ctx, e, opts, f, name)
}

// readVaultKey takes the key from the environment, if it is there.
func readVaultKey(e *env, opts *vault.Options) error {
	key, err := settings.ReadSecret("CLANK_VAULT_KEY", e.getenv)
	if err != nil {
		return err
	}
	if key.Present() {
		opts.Key, opts.KeySource = key.Reveal(), "CLANK_VAULT_KEY"
		if path := e.getenv("CLANK_VAULT_KEY_FILE"); path != "" {
			opts.KeySource = path + " (CLANK_VAULT_KEY_FILE)"
		}
	}
	return nil
}

func vaultAdd(ctx context.Context, e *env, o vault.Options, f vaultFlags, name string) error {
	if len(f.origins) == 0 {
		return usageErrorf("say where the login is for: --origin https://shop.example")
	}
	for _, text := range f.origins {
		if _, err := vault.ParseOrigin(text); err != nil {
			return usageErrorf("%v", err)
		}
	}
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	n := vault.NewEntry{Name: name, Origins: f.origins, Username: f.user, Users: f.users, Roles: f.roles}
	in := secretInput{in: os.Stdin, err: e.stderr}
	if !f.noPassword {
		if n.Password, err = in.ask("Password: "); err != nil {
			return err
		}
	}
	if f.totp || f.noPassword {
		if n.TOTP, err = in.ask("otpauth:// address or secret: "); err != nil {
			return err
		}
	}
	if err := v.Put(ctx, n); err != nil {
		return err
	}
	for _, text := range f.origins {
		if origin, err := vault.ParseOrigin(text); err == nil {
			fmt.Fprintf(e.stderr, "%s is kept for %s\n", name, vault.ShowOrigin(origin))
		}
	}
	if s, err := v.Status(ctx); err == nil && s.KeyringError != "" {
		fmt.Fprintf(e.stderr, "its key lies in %s, because the keyring cannot be used: %s\n", s.KeyFile, s.KeyringError)
	}
	return nil
}

// secretInput reads secrets: without showing them from a terminal, otherwise line by line.
type secretInput struct {
	in    *os.File
	err   io.Writer
	lines *bufio.Reader
}

func (s *secretInput) ask(prompt string) (string, error) {
	if term.IsTerminal(int(s.in.Fd())) {
		fmt.Fprint(s.err, prompt)
		text, err := term.ReadPassword(int(s.in.Fd()))
		fmt.Fprintln(s.err)
		if err != nil {
			return "", fmt.Errorf("read from the terminal: %w", err)
		}
		return string(text), nil
	}
	if s.lines == nil {
		s.lines = bufio.NewReader(s.in)
	}
	text, err := s.lines.ReadString('\n')
	if err != nil && (!errors.Is(err, io.EOF) || text == "") {
		return "", errors.New("nothing came on stdin: write the secret there, one on each line")
	}
	return strings.TrimRight(text, "\r\n"), nil
}

func vaultList(ctx context.Context, e *env, o vault.Options, f vaultFlags, _ string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	entries, err := v.Entries(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(e.stdout, entries)
	}
	if len(entries) == 0 {
		fmt.Fprintln(e.stderr, "the vault is empty")
		return nil
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tUSER\tHOLDS\tORIGINS\tFOR")
	for _, entry := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", entry.Name, entry.Username, contentsOf(entry), strings.Join(shownOrigins(entry), ", "), whoMay(entry))
	}
	return w.Flush()
}

func printJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

func contentsOf(e vault.Entry) string {
	switch {
	case e.HasPassword && e.HasTOTP:
		return "password, code"
	case e.HasTOTP:
		return "code"
	default:
		return "password"
	}
}

func whoMay(e vault.Entry) string {
	who := []string{"terminal", "dashboard"}
	for _, u := range e.Users {
		who = append(who, "user "+u)
	}
	for _, r := range e.Roles {
		who = append(who, "role "+r)
	}
	return strings.Join(who, ", ")
}

func findEntry(ctx context.Context, v *vault.Vault, name string) (vault.Entry, error) {
	entries, err := v.Entries(ctx)
	if err != nil {
		return vault.Entry{}, err
	}
	i := slices.IndexFunc(entries, func(e vault.Entry) bool { return e.Name == name })
	if i < 0 {
		return vault.Entry{}, fmt.Errorf("%w: %s", vault.ErrNotFound, name)
	}
	return entries[i], nil
}

func vaultShow(ctx context.Context, e *env, o vault.Options, f vaultFlags, name string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	entry, err := findEntry(ctx, v, name)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(e.stdout, entry)
	}
	_, err = fmt.Fprintf(e.stdout, "name     %s\nuser     %s\nholds    %s\norigins  %s\nfor      %s\n", entry.Name, entry.Username, contentsOf(entry), strings.Join(shownOrigins(entry), ", "), whoMay(entry))
	return err
}

func vaultRemove(ctx context.Context, e *env, o vault.Options, _ vaultFlags, name string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	if err := v.Remove(ctx, name); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%s is forgotten\n", name)
	return nil
}

// vaultTest decrypts an entry for its origins, or for those given, and shows nothing of it.
func vaultTest(ctx context.Context, e *env, o vault.Options, f vaultFlags, name string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	entry, err := findEntry(ctx, v, name)
	if err != nil {
		return err
	}
	origins := entry.Origins
	if len(f.origins) > 0 {
		origins = nil
		for _, text := range f.origins {
			origin, err := vault.ParseOrigin(text)
			if err != nil {
				return err
			}
			origins = append(origins, origin)
		}
	}
	for _, origin := range origins {
		secret, err := v.Reveal(ctx, name, origin)
		if err != nil {
			return err
		}
		if entry.HasTOTP && secret.Code(time.Now()) == "" {
			return fmt.Errorf("%s makes no one-time code", name)
		}
		fmt.Fprintf(e.stdout, "%s opens for %s\n", name, vault.ShowOrigin(origin))
	}
	return nil
}

func vaultStatus(ctx context.Context, e *env, o vault.Options, f vaultFlags, _ string) error {
	s, err := vault.Look(ctx, o)
	if f.json {
		return errors.Join(err, printJSON(e.stdout, s))
	}
	fmt.Fprintf(e.stdout, "vault    %s, %d entries\n", s.Path, s.Entries)
	switch {
	case s.Key == "environment":
		fmt.Fprintf(e.stdout, "key      %s\n", o.KeySource)
	case s.Key == "keyring":
		fmt.Fprintf(e.stdout, "key      in the keyring of the operating system\n")
	case s.Key == "file":
		fmt.Fprintf(e.stdout, "key      %s: whoever can read it and the vault has the passwords\n", s.KeyFile)
	case err == nil:
		fmt.Fprintf(e.stdout, "key      none yet; it is made with the first entry\n")
	}
	if s.KeyringError != "" {
		fmt.Fprintf(e.stdout, "keyring  not used: %s\n", s.KeyringError)
	}
	return err
}

func vaultRekey(ctx context.Context, e *env, o vault.Options, f vaultFlags, _ string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	if err := v.Rekey(ctx); err != nil {
		return err
	}
	return vaultStatus(ctx, e, o, f, "")
}
