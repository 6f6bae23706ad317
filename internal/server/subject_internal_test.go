package server

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/internal/vault"
	"clank/sessions"
	"clank/sessions/access"
)

func TestEachPartOfTheHomeIsInTheManual(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/settings.md")
	check.Must(t, err)
	_, table, _ := strings.Cut(string(text), "| file or folder |")
	table, _, _ = strings.Cut(table, "\n\n")
	named := map[string]bool{}
	for row := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
			name := strings.TrimSuffix(m[1], "/")
			named[name] = true
			if findHomePart(name).name == "" {
				t.Errorf("docs/settings.md names %s: say in homeParts what becomes of it", name)
			}
		}
	}
	for _, p := range homeParts {
		if name := strings.TrimSuffix(p.name, "*"); !named[name] && !strings.HasPrefix(name, "*") && name != "." {
			t.Errorf("docs/settings.md does not name %s", name)
		}
	}
}

func TestWhoIsForgottenIsNowhereInTheHome(t *testing.T) {
	t.Parallel()
	env := func(name string) string { return map[string]string{"CLANK_VAULT_KEYRING": "off"}[name] }
	run := func(user, guild string) string {
		return `{"kind":"begin","begin":{"task":{"origin":{"kind":"discord","user":"` + user + `","guild":"` + guild +
			`"}}}}` + "\n"
	}
	said := func(ids ...string) string {
		var lines strings.Builder
		for _, id := range ids {
			lines.WriteString(`{"at":"2026-03-01T12:00:00Z","id":"` + id + `","by":"` + id + `","text":"said by ` + id + `"}` +
				"\n")
		}
		return lines.String()
	}
	for _, tt := range []struct {
		of   sqlite.Subject
		gone []string // what is nowhere any more
		left []string // beside the database, the vault and its key
	}{
		{
			sqlite.Subject{Person: "canary"},
			[]string{"canary"},
			[]string{
				"browser/clank@server-7/state.age", "downloads/clank@server-7/bobs.txt", "films/film@server-7/t2.webm",
				"inbound/s2/f/x",
				"pictures/clank@server-7/x.png", "runs/t2/run.jsonl", "tokens.json", "traces/clank@server-7/x.zip", "transcripts/2026-03-01T120000Z-7-1-a.jsonl",
			},
		},
		{
			sqlite.Subject{Server: "7"},
			[]string{"server-7", "said by", `"guild":"7"`},
			[]string{
				"browser/clank@person-canary/state.age", "downloads/clank@person-canary/x", "inbound/s2/f/x",
				"pictures/clank@person-canary/x.png", "tokens.json", "traces/clank@person-canary/x.zip",
			},
		},
	} {
		t.Run(tt.of.Person+tt.of.Server, func(t *testing.T) {
			t.Parallel()
			h := &Home{Dir: filepath.Join(t.TempDir(), "home")}
			hers := h.Path("downloads", "clank@server-7", "canary.pdf")
			writeFiles(t, h.Dir, map[string]string{
				"browser/clank@person-canary/state.age": "x", "browser/clank@person-canaryat7/state.age": "x",
				"browser/clank@server-7/state.age": "x",
				"downloads/clank@person-canary/x":  "x", "downloads/clank@server-7/canary.pdf": "x",
				"downloads/clank@server-7/bobs.txt": "x", "pictures/clank@person-canary/x.png": "x",
				"pictures/clank@server-7/x.png": "x", "traces/clank@person-canary/x.zip": "x", "traces/clank@server-7/x.zip": "x",
				"unfinished-tasks.json":            `[{"session":"s1","prompt":"canary","origin":{"kind":"discord","user":"canary","guild":"7"}}]`,
				"inbound/s1@server-7/f/canary.pdf": "x", "inbound/s2/f/x": "x", "runs/t1/run.jsonl": run("canary", "7"),
				"runs/old/run.jsonl": run("canary", "7"), "runs/t2/run.jsonl": run("bob", "7"),
				"films/film@server-7/t1.webm": "canary",
				"films/film@server-7/t2.webm": "bob", "transcripts/2026-03-01T120000Z-7-1-a.jsonl": said("canary", "bob"),
				"transcripts/2026-03-01T120000Z-7-1-b.jsonl": said("canary"),
			})
			db, err := sqlite.Open(t.Context(), h.DatabaseFile())
			check.Must(t, err)
			for i, user := range []string{"canary", "bob"} {
				id := strconv.Itoa(i + 1)
				from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", Channel: "1", User: user, UserName: user}
				s := sessions.Session{ID: "s" + id, Origin: from, State: sessions.SessionParked, Title: user}
				r := sessions.TaskRecord{
					Task:  sessions.Task{ID: "t" + id, SessionID: s.ID, Prompt: "for " + user, Origin: from},
					State: sessions.TaskDone,
				}
				if user == "canary" {
					r.Downloads = []sessions.File{{ID: "f", Name: "canary.pdf", Path: hers}}
				}
				if tt.of.Server != "" && user == "bob" { // elsewhere
					s.Origin.Guild, r.Origin.Guild = "8", "8"
				}
				check.Must(t, db.SaveTask(t.Context(), r, s))
			}
			check.Must(t, db.Close())
			opts, err := VaultOptions(env, h)
			check.Must(t, err)
			v, err := vault.Open(t.Context(), opts)
			check.Must(t, err)
			for name, users := range map[string][]string{"shared": {"canary", "bob"}, "canarys": {"canary"}, "operators": nil} {
				entry := vault.NewEntry{
					Name: name, Origins: []string{"https://a.example"}, Username: "u", Password: "pass word",
					Users: users,
				}
				check.Must(t, v.Put(t.Context(), entry))
			}
			tokens, err := access.OpenTokens(h.TokenFile())
			check.Must(t, err)
			for _, user := range []string{"canary", "bob"} {
				check.Must(t, check.Err(tokens.SignIn(access.Token{Name: user, User: user}, 0)))
			}

			for _, p := range homeParts {
				if found, err := filepath.Glob(h.Path(p.name)); p.people != peopleNone && (err != nil || len(found) == 0) {
					t.Errorf("%s may hold something of people: let the test put some of it there", p.name)
				}
			}

			file := filepath.Join(t.TempDir(), "export")
			exported, err := h.ExportSubject(t.Context(), env, tt.of, file)
			check.Must(t, err)
			if len(exported.Files) == 0 || len(exported.Database["task"]) != 1 {
				t.Errorf("exported %+v", exported)
			}
			check.Must(t, h.Claim())
			_, _, err = (&Home{Dir: h.Dir}).EraseSubject(t.Context(), env, tt.of, nil)
			check.Fails(t, err, ErrHomeClaimed)
			h.Release()
			for range 2 { // again changes nothing
				_, _, err := h.EraseSubject(t.Context(), env, tt.of, nil)
				check.Must(t, err)
			}
			all := filesBelow(t, h.Dir)
			for _, name := range all {
				data, err := os.ReadFile(h.Path(name))
				check.Must(t, err)
				for _, word := range tt.gone {
					if strings.Contains(strings.ToLower(name+string(data)), word) {
						t.Errorf("%s has %q", name, word)
					}
				}
			}
			beside := slices.DeleteFunc(all, func(n string) bool {
				return strings.HasPrefix(n, "clank.") || strings.HasPrefix(n, "vault.") || strings.HasSuffix(n, ".lock")
			})
			check.Diff(t, "what is left", beside, tt.left)
			entries, err := v.Entries(t.Context())
			if want := map[string]int{"canary": 2, "": 3}[tt.of.Person]; err != nil || len(entries) != want {
				t.Errorf("the vault has %+v, %v; want %d entries", entries, err, want)
			}
			if in, err := tokens.SignIns(); err != nil || len(in) != len(entries)-1 {
				t.Errorf("signed in are %+v, %v", in, err)
			}
		})
	}
}
