package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/chrome"
	"clank/dashboard"
	"clank/internal/atomicfile"
	"clank/internal/recording"
	"clank/internal/sqlite"
	"clank/internal/vault"
	"clank/sessions"
	"clank/sessions/access"
)

// SubjectData is the data stored about a person or a Discord server, without the contents of files.
type SubjectData struct {
	Of          sqlite.Subject              `json:"of"`
	At          time.Time                   `json:"at"`
	Database    map[string][]map[string]any `json:"database"` // rows by table
	Transcripts map[string][]transcriptLine `json:"transcripts,omitempty"`
	Vault       []string                    `json:"vault,omitempty"`    // names of the entries that they may use
	SignIns     []access.Token              `json:"sign_ins,omitempty"` // without secrets
	Settings    []string                    `json:"settings,omitempty"` // keys of the settings that mention them
	Files       []string                    `json:"files,omitempty"`    // files and folders, relative to the home

	states []string // data folders of browsers, relative to the home
}

// isEmpty reports whether nothing is stored about the subject.
func (d *SubjectData) isEmpty() bool {
	for _, rows := range d.Database {
		if len(rows) > 0 {
			return false
		}
	}
	return len(d.Transcripts)+len(d.Vault)+len(d.SignIns)+len(d.Settings)+len(d.Files)+len(d.states) == 0
}

// subjectPattern matches IDs that are safe in file patterns.
var subjectPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w-]+$`) })

// subjectStores are the stores, other than files, that hold data about subjects.
type subjectStores struct {
	home   *Home
	db     *sqlite.DB
	vault  *vault.Vault // nil if there is none
	tokens *access.TokenStore
}

// openStores opens the stores, calls do, and closes them.
func (h *Home) openStores(ctx context.Context, getenv func(string) string, do func(*subjectStores) error) (err error) {
	s := &subjectStores{home: h}
	if _, err := os.Stat(h.Path("vault.json")); err == nil {
		opts, err := VaultOptions(getenv, h)
		if err == nil {
			s.vault, err = vault.Open(ctx, opts)
		}
		if err != nil {
			return err
		}
	}
	if s.tokens, err = access.OpenTokens(h.TokenFile()); err != nil {
		return err
	}
	if s.db, err = h.OpenDatabase(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	return do(s)
}

// find returns the data stored about a subject. It passes images of the database to file.
func (s *subjectStores) find(ctx context.Context, of sqlite.Subject,
	file func(string, []byte) error,
) (d SubjectData, err error) {
	id := of.Person + of.Server
	if !subjectPattern().MatchString(id) {
		return d, fmt.Errorf("%q is no ID", id)
	}
	d = SubjectData{Of: of, At: time.Now().UTC().Truncate(time.Second)}
	if d.Database, err = s.db.Export(ctx, of, file); err != nil {
		return d, err
	}
	if d.Settings, err = s.db.SettingsNaming(ctx, id); err != nil {
		return d, err
	}
	if d.Transcripts, err = s.home.transcriptsOf(of); err != nil {
		return d, err
	}
	if err := s.findGrants(ctx, &d); err != nil {
		return d, err
	}
	return d, s.home.findFiles(&d)
}

// findGrants finds the sign-ins of a person and the vault entries that they may use.
func (s *subjectStores) findGrants(ctx context.Context, d *SubjectData) (err error) {
	if d.Of.Person == "" {
		return nil
	}
	if d.SignIns, err = s.tokens.SignIns(); err != nil {
		return err
	}
	d.SignIns = slices.DeleteFunc(d.SignIns, func(t access.Token) bool { return t.User != d.Of.Person })
	if s.vault == nil {
		return nil
	}
	entries, err := s.vault.Entries(ctx)
	for _, e := range entries {
		if slices.Contains(e.Users, d.Of.Person) {
			d.Vault = append(d.Vault, e.Name)
		}
	}
	return err
}

// findFiles finds the files and folders of a subject's places and tasks.
func (h *Home) findFiles(d *SubjectData) error {
	places := []string{"*@person-" + d.Of.Person, "*@person-" + d.Of.Person + "at*"}
	if d.Of.Server != "" {
		places = []string{"*@server-" + d.Of.Server, "*@person-*at" + d.Of.Server}
	}
	found := map[string]bool{}
	look := func(into map[string]bool, pattern ...string) {
		paths, _ := filepath.Glob(h.Path(pattern...)) // the pattern is valid
		for _, p := range paths {
			if name, err := filepath.Rel(h.Dir, p); err == nil {
				into[filepath.ToSlash(name)] = true
			}
		}
	}
	states := map[string]bool{}
	for _, place := range places {
		for _, part := range homeParts {
			switch {
			case part.name == browserFolder:
				look(states, part.name, place)
			case part.people == peoplePlaces:
				look(found, part.name, place)
			}
		}
	}
	for _, row := range d.Database["session"] {
		look(found, inboundFolder, fmt.Sprint(row["id"]))
		look(found, inboundFolder, fmt.Sprint(row["id"])+"@*")
	}
	for _, row := range d.Database["task"] {
		look(found, recordsFolder, fmt.Sprint(row["id"]))
		look(found, filmDir, "*", fmt.Sprint(row["id"])+".webm")
		for _, f := range filesOfRow(row) {
			if name, err := filepath.Rel(h.Dir, f.Path); err == nil && filepath.IsLocal(name) && f.Path != "" {
				look(found, name)
			}
		}
	}
	runs, err := recording.ListRuns(h.RunsDir())
	if err != nil {
		return err
	}
	for _, run := range runs { // the database may not list them any more
		_, server, _ := strings.Cut(string(run.Place), "server-")
		if d.Of.Person != "" && run.User == d.Of.Person || d.Of.Server != "" && server == d.Of.Server {
			look(found, recordsFolder, run.Task)
		}
	}
	d.Files, d.states = slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(states))
	return nil
}

// filesOfRow returns the files attached to an exported task and those that it downloaded.
func filesOfRow(row map[string]any) (all []sessions.File) {
	for _, column := range []string{"files", "downloads"} {
		var list []sessions.File
		if text, is := row[column].(json.RawMessage); is && json.Unmarshal(text, &list) == nil {
			all = append(all, list...)
		}
	}
	return all
}

// transcriptsOf returns, by file, the lines of transcripts that a person has said, or all lines of a server.
func (h *Home) transcriptsOf(of sqlite.Subject) (map[string][]transcriptLine, error) {
	found := map[string][]transcriptLine{}
	return found, h.eachTranscript(func(name string, lines [][]byte) error {
		for _, line := range lines {
			var l transcriptLine
			if json.Unmarshal(line, &l) == nil && isOfTranscript(of, name, l) {
				found[name] = append(found[name], l)
			}
		}
		return nil
	})
}

func isOfTranscript(of sqlite.Subject, name string, l transcriptLine) bool {
	return of.Person != "" && l.ID == of.Person || of.Server != "" && strings.Contains(name, "Z-"+of.Server+"-")
}

// eachTranscript calls do with the lines of each transcript.
func (h *Home) eachTranscript(do func(name string, lines [][]byte) error) error {
	entries, err := os.ReadDir(h.Path(transcriptDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != transcriptSuffix || !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(h.Path(transcriptDir, e.Name()))
		if err == nil {
			err = do(e.Name(), slices.Collect(bytes.Lines(data)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseTranscripts removes the lines of a subject from the transcripts. It preserves their modification times.
func (h *Home) eraseTranscripts(of sqlite.Subject) error {
	return h.eachTranscript(func(name string, lines [][]byte) error {
		before := len(lines)
		lines = slices.DeleteFunc(lines, func(line []byte) bool {
			var l transcriptLine
			return json.Unmarshal(line, &l) != nil || isOfTranscript(of, name, l)
		})
		file := h.Path(transcriptDir, name)
		if len(lines) == before {
			return nil
		}
		if len(lines) == 0 {
			return os.Remove(file)
		}
		info, err := os.Stat(file)
		if err == nil {
			err = atomicfile.Write(file, bytes.Join(lines, nil))
		}
		if err == nil {
			err = os.Chtimes(file, time.Time{}, info.ModTime())
		}
		return err
	})
}

// ExportSubject writes the data stored about a person or a server to a new file, a gzip-compressed tar archive with
// data.json and files. clank may be running. The archive does not include the data of their browsers.
func (h *Home) ExportSubject(ctx context.Context, getenv func(string) string, of sqlite.Subject,
	file string,
) (d SubjectData, err error) {
	write := func(tmp io.Writer) error {
		out, err := newArchive(tmp, "")
		if err != nil {
			return err
		}
		to := &backup{
			home: h, ctx: ctx, manifest: &BackupManifest{At: time.Now(), Files: map[string]string{}},
			to: out.Writer,
		}
		err = h.openStores(ctx, getenv, func(s *subjectStores) (err error) {
			d, err = s.find(ctx, of, func(name string, data []byte) error { return to.addBytes(name, data) })
			return err
		})
		if err == nil && d.isEmpty() {
			err = errors.New("nothing is kept under this ID; check it, or the name")
		}
		if err == nil {
			err = to.addSubject(d)
		}
		return cmp.Or(err, out.Close())
	}
	if err = h.resolve().checkOutside(file); err == nil {
		err = writeNewFile(file, write)
	}
	if err != nil {
		return d, fmt.Errorf("export what is kept of %s: %w", of.Person+of.Server, err)
	}
	return d, nil
}

// addSubject adds the files of a subject, and the other data as JSON.
func (b *backup) addSubject(d SubjectData) error {
	for _, name := range d.Files {
		err := filepath.WalkDir(b.home.Path(filepath.FromSlash(name)), func(file string, e fs.DirEntry, err error) error {
			inside, outside := filepath.Rel(b.home.Dir, file)
			if err = cmp.Or(err, outside, context.Cause(b.ctx)); err != nil || !e.Type().IsRegular() {
				return err
			}
			return b.addPlain("files/"+filepath.ToSlash(inside), file)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return b.addBytes("data.json", text)
}

// EraseSubject deletes the data stored about a person or a server: from the database and its older copies,
// transcripts, the vault and sign-ins, together with their files and browser data. It returns what was found, and the
// number of rows deleted or anonymized in each table. clank must not be running. If something was found, confirm is
// called first, unless it is nil. After an error, calling it again continues.
func (h *Home) EraseSubject(
	ctx context.Context, getenv func(string) string, of sqlite.Subject, confirm func() error,
) (d SubjectData, rows map[string]int, err error) {
	if err = checkRoot(h.Dir); err != nil {
		return d, nil, err
	}
	if err = h.Claim(); err != nil {
		return d, nil, fmt.Errorf("%w: end it first, and then start it again", err)
	}
	defer h.Release()
	err = h.openStores(ctx, getenv, func(s *subjectStores) (err error) {
		if d, err = s.find(ctx, of, func(string, []byte) error { return nil }); err != nil {
			return err
		}
		if confirm != nil && !d.isEmpty() {
			if err = confirm(); err != nil {
				return err
			}
		}
		rows, err = s.erase(ctx, d)
		return err
	})
	if err != nil {
		return d, rows, fmt.Errorf("forget %s: %w", of.Person+of.Server, err)
	}
	return d, rows, nil
}

// erase deletes what was found. The database comes last, because the rest is found through it.
func (s *subjectStores) erase(ctx context.Context, d SubjectData) (map[string]int, error) {
	if len(d.Vault) > 0 {
		if _, err := s.vault.ForgetUser(ctx, d.Of.Person); err != nil {
			return nil, err
		}
	}
	if len(d.SignIns) > 0 {
		if err := s.tokens.SignOutAll(func(t access.Token) bool { return t.User == d.Of.Person }); err != nil {
			return nil, err
		}
	}
	for _, name := range d.states { // a browser that survived its server would write the data again
		if err := chrome.Reap(ctx, s.home.Path(filepath.FromSlash(name), "user-data")); err != nil {
			return nil, err
		}
	}
	for _, name := range append(slices.Clone(d.states), d.Files...) {
		if err := os.RemoveAll(s.home.Path(filepath.FromSlash(name))); err != nil {
			return nil, err
		}
	}
	of := func(o sessions.Origin) bool {
		return d.Of.Person != "" && o.User == d.Of.Person || d.Of.Server != "" && o.Guild == d.Of.Server
	}
	if err := dashboard.ForgetUnfinished(s.home.Path(unfinishedFile), of); err != nil {
		return nil, err
	}
	if err := s.home.eraseTranscripts(d.Of); err != nil {
		return nil, err
	}
	return s.db.Erase(ctx, d.Of)
}

// FindPeople returns the people with the given ID or name: those in the database, who have spoken in calls, or who are
// signed in. Those with several names are in it several times.
func (h *Home) FindPeople(ctx context.Context, idOrName string) (found []sqlite.Person, err error) {
	db, err := h.OpenDatabase(ctx)
	if err != nil {
		return nil, err
	}
	found, err = db.FindPeople(ctx, idOrName)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	add := func(id, name string) {
		if p := (sqlite.Person{ID: id, Name: name}); id != "" && (id == idOrName || strings.EqualFold(name, idOrName)) &&
			!slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	err = h.eachTranscript(func(_ string, lines [][]byte) error {
		for _, line := range lines {
			var l transcriptLine
			if json.Unmarshal(line, &l) == nil {
				add(l.ID, l.By)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tokens, err := access.OpenTokens(h.TokenFile())
	if err != nil {
		return nil, err
	}
	signedIn, err := tokens.SignIns()
	for _, t := range signedIn {
		add(t.User, t.Name)
	}
	return found, err
}
