package asking

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/transfer"
	"clank/consent"
	"clank/sessions"
)

func TestWhoIsAskedBeforeAProgramIsKept(t *testing.T) {
	t.Parallel()
	program := transfer.Download{Executable: true, Target: "T", URL: "https://get.test/x.exe", SuggestedFilename: "x.exe"}
	room := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u"}
	for _, tt := range []struct {
		name    string
		d       transfer.Download
		owner   string
		tasks   []sessions.Record
		clicked bool // an action that downloads a program was allowed before
		asked   string
	}{
		{name: "no program", d: transfer.Download{Target: "T"}, owner: "s1"},
		{name: "nobody's tab", d: program},
		{name: "a task in a room", d: program, owner: "s1", tasks: []sessions.Record{{Task: sessions.Task{SessionID: "s1", Origin: room}}}, asked: "executable g c s1 work get.test x.exe"},
		{name: "other tasks", d: program, owner: "s1", tasks: []sessions.Record{{Task: sessions.Task{SessionID: "s2", Origin: room}}}, asked: "executable   s1 work get.test x.exe"},
		{name: "the task may", d: program, owner: "s1", tasks: []sessions.Record{{Task: sessions.Task{SessionID: "s1", Origin: room, Allow: []string{"executable"}}}}},
		{name: "the click was allowed", d: program, owner: "s1", clicked: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, set, f := newTestAsker(t)
			k.Running = func(context.Context) ([]sessions.Record, error) { return tt.tasks, nil }
			p := &Programs{Asker: k, Owner: func(string) (string, string) { return tt.owner, "work" }}
			if tt.clicked {
				set.Asking.Executable = "allow"
				q := sessions.Question{Classes: []string{"executable"}}
				if _, err := p.Ask(t.Context(), sessions.Session{ID: "s1"}, sessions.Task{}, q); err != nil {
					t.Fatal(err)
				}
				set.Asking.Executable = "ask"
			}
			ctx, cancel := context.WithCancel(t.Context())
			var err error
			go func() {
				defer cancel()
				err = p.Keep(t.Context(), tt.d)
			}()
			asked := ""
			for {
				ev, over := f.Next(ctx)
				if over != nil {
					break
				}
				if q := ev.Question; !ev.Over {
					asked = strings.Join([]string{string(q.Class), q.Guild, q.Channel, q.Session, q.Profile, q.Origin, q.Detail}, " ")
					if err := k.Desk.Answer(q.ID, consent.Answer{By: "@ada"}); err != nil {
						t.Error(err)
					}
				}
			}
			if asked != tt.asked {
				t.Errorf("asked %q, want %q", asked, tt.asked)
			}
			if _, denied := errors.AsType[*consent.Denied](err); denied != (tt.asked != "") || err != nil && !denied {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOneClickIsOneProgram(t *testing.T) {
	t.Parallel()
	p := &Programs{clicked: map[string]time.Time{"s1": time.Now(), "s2": time.Now().Add(-agreedFor)}}
	if !p.agreed("s1") || p.agreed("s1") || p.agreed("s2") || p.agreed("s3") {
		t.Error("a click counts for more than its download")
	}
}
