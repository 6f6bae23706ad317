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

	"clank/internal/vault"

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

// vaultFlags are those of "clank vault".
type vaultFlags struct {
	origins, users, roles stringListFlag
	user                  string
	totp, noPassword      bool
	json                  bool
}

// stringListFlag is a flag that may be given several times.
type stringListFlag []string

func (l *stringListFlag) String() string     { return strings.Join(*l, ",") }
func (l *stringListFlag) Set(s string) error { *l = append(*l, s); return nil }

// vaultCommand is the world as "clank vault" sees it. All fields are needed.
type vaultCommand struct {
	Stdin          *os.File
	Stdout, Stderr io.Writer
	// VaultOptions tells where the vault and its key are. It is asked when the command line has been understood.
	VaultOptions func() (vault.Options, error)
}

// vaultSubcommand is one thing that can be done.
type vaultSubcommand struct {
	named bool // it takes the name of an entry
	run   func(c vaultCommand, ctx context.Context, o vault.Options, f vaultFlags, name string) error
}

var vaultSubcommands = map[string]vaultSubcommand{
	"add":    {true, vaultCommand.addEntry},
	"list":   {false, vaultCommand.listEntries},
	"show":   {true, vaultCommand.showEntry},
	"remove": {true, vaultCommand.removeEntry},
	"test":   {true, vaultCommand.testEntry},
	"status": {false, vaultCommand.printStatus},
	"rekey":  {false, vaultCommand.rekeyVault},
}

// runArgs carries out args, which follow the words "clank vault". Wrong use is a [usageError].
func (c vaultCommand) runArgs(ctx context.Context, args []string) error {
	var f vaultFlags
	fs := newFlags("vault", vaultIntro)
	fs.Var(&f.origins, "origin", "`URL` of a page that the login is for; may be given several times")
	fs.StringVar(&f.user, "user", "", "user `NAME` of the login")
	fs.Var(&f.users, "for-user", "`ID` of a person who may use it from Discord; may be given several times")
	fs.Var(&f.roles, "for-role", "`ID` of a role whose people may; may be given several times")
	fs.BoolVar(&f.totp, "totp", false, "also ask for the one-time code's otpauth:// address or secret")
	fs.BoolVar(&f.noPassword, "no-password", false, "keep the one-time code alone")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	if err := fs.Read(c.Stdout, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return usagef("say what to do: add, list, show, remove, test, status or rekey")
	}
	v, ok := vaultSubcommands[fs.Rest[0]]
	name := ""
	switch {
	case !ok:
		return usagef("there is no command %q", fs.Rest[0])
	case v.named && len(fs.Rest) < 2:
		return usagef("name the entry: clank vault %s NAME", fs.Rest[0])
	case !v.named && len(fs.Rest) > 1:
		return usagef("unexpected argument %q", fs.Rest[1])
	case v.named:
		name = fs.Rest[1]
	}
	opts, err := c.VaultOptions()
	if err != nil {
		return err
	}
	return v.run(c, ctx, opts, f, name)
}

func (c vaultCommand) addEntry(ctx context.Context, o vault.Options, f vaultFlags, name string) error {
	if len(f.origins) == 0 {
		return usagef("say where the login is for: --origin https://shop.example")
	}
	for _, text := range f.origins {
		if _, err := vault.ParseOrigin(text); err != nil {
			return usagef("%v", err)
		}
	}
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	n := vault.NewEntry{Name: name, Origins: f.origins, Username: f.user, Users: f.users, Roles: f.roles}
	in := secretReader{in: c.Stdin, err: c.Stderr}
	if !f.noPassword {
		if n.Password, err = in.readSecret("Password: "); err != nil {
			return err
		}
	}
	if f.totp || f.noPassword {
		if n.TOTP, err = in.readSecret("otpauth:// address or secret: "); err != nil {
			return err
		}
	}
	if err := v.Put(ctx, n); err != nil {
		return err
	}
	for _, text := range f.origins {
		if origin, err := vault.ParseOrigin(text); err == nil {
			fmt.Fprintf(c.Stderr, "%s is kept for %s\n", name, vault.DisplayOrigin(origin))
		}
	}
	if s, err := v.Status(ctx); err == nil && s.KeyringError != "" {
		fmt.Fprintf(c.Stderr, "its key lies in %s, because the keyring cannot be used: %s\n", s.KeyFile, s.KeyringError)
	}
	return nil
}

// secretReader reads secrets: without showing them from a terminal, otherwise line by line.
type secretReader struct {
	in    *os.File
	err   io.Writer
	lines *bufio.Reader
}

func (s *secretReader) readSecret(prompt string) (string, error) {
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

func (c vaultCommand) listEntries(ctx context.Context, o vault.Options, f vaultFlags, _ string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	entries, err := v.Entries(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return printVaultJSON(c.Stdout, entries)
	}
	if len(entries) == 0 {
		fmt.Fprintln(c.Stderr, "the vault is empty")
		return nil
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tUSER\tHOLDS\tORIGINS\tFOR")
	for _, entry := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", entry.Name, entry.Username, entryContents(entry), formatOrigins(entry.Origins), entryUsers(entry))
	}
	return w.Flush()
}

func printVaultJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

// formatOrigins are origins as a person reads them.
func formatOrigins(origins []string) string {
	texts := make([]string, len(origins))
	for i, o := range origins {
		texts[i] = vault.DisplayOrigin(o)
	}
	return strings.Join(texts, ", ")
}

func entryContents(e vault.Entry) string {
	switch {
	case e.HasPassword && e.HasTOTP:
		return "password, code"
	case e.HasTOTP:
		return "code"
	default:
		return "password"
	}
}

func entryUsers(e vault.Entry) string {
	who := []string{"terminal", "dashboard"}
	for _, u := range e.Users {
		who = append(who, "user "+u)
	}
	for _, r := range e.Roles {
		who = append(who, "role "+r)
	}
	return strings.Join(who, ", ")
}

func findVaultEntry(ctx context.Context, v *vault.Vault, name string) (vault.Entry, error) {
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

func (c vaultCommand) showEntry(ctx context.Context, o vault.Options, f vaultFlags, name string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	entry, err := findVaultEntry(ctx, v, name)
	if err != nil {
		return err
	}
	if f.json {
		return printVaultJSON(c.Stdout, entry)
	}
	_, err = fmt.Fprintf(c.Stdout, "name     %s\nuser     %s\nholds    %s\norigins  %s\nfor      %s\n", entry.Name, entry.Username, entryContents(entry), formatOrigins(entry.Origins), entryUsers(entry))
	return err
}

func (c vaultCommand) removeEntry(ctx context.Context, o vault.Options, _ vaultFlags, name string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	if err := v.Remove(ctx, name); err != nil {
		return err
	}
	fmt.Fprintf(c.Stderr, "%s is forgotten\n", name)
	return nil
}

// testEntry decrypts an entry for its origins, or for those given, and shows nothing of it.
func (c vaultCommand) testEntry(ctx context.Context, o vault.Options, f vaultFlags, name string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	entry, err := findVaultEntry(ctx, v, name)
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
		fmt.Fprintf(c.Stdout, "%s opens for %s\n", name, vault.DisplayOrigin(origin))
	}
	return nil
}

func (c vaultCommand) printStatus(ctx context.Context, o vault.Options, f vaultFlags, _ string) error {
	s, err := vault.Inspect(ctx, o)
	if f.json {
		return errors.Join(err, printVaultJSON(c.Stdout, s))
	}
	fmt.Fprintf(c.Stdout, "vault    %s, %d entries\n", s.Path, s.Entries)
	switch {
	case s.Key == "environment":
		fmt.Fprintf(c.Stdout, "key      %s\n", o.KeySource)
	case s.Key == "keyring":
		fmt.Fprintf(c.Stdout, "key      in the keyring of the operating system\n")
	case s.Key == "file":
		fmt.Fprintf(c.Stdout, "key      %s: whoever can read it and the vault has the passwords\n", s.KeyFile)
	case err == nil:
		fmt.Fprintf(c.Stdout, "key      none yet; it is made with the first entry\n")
	}
	if s.KeyringError != "" {
		fmt.Fprintf(c.Stdout, "keyring  not used: %s\n", s.KeyringError)
	}
	return err
}

func (c vaultCommand) rekeyVault(ctx context.Context, o vault.Options, f vaultFlags, _ string) error {
	v, err := vault.Open(ctx, o)
	if err != nil {
		return err
	}
	if err := v.Rekey(ctx); err != nil {
		return err
	}
	return c.printStatus(ctx, o, f, "")
}
