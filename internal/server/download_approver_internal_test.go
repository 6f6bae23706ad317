package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page/files"
	"clank/sessions"
	"clank/sessions/approval"
)

func TestWhoIsAskedBeforeAProgramIsKept(t *testing.T) {
	t.Parallel()
	program := files.Download{Executable: true, Target: "T", URL: "https://get.test/x.exe", SuggestedFilename: "x.exe"}
	room := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u"}
	for _, tt := range []struct {
		name    string
		d       files.Download
		owner   string
		tasks   []sessions.TaskRecord
		clicked bool // an action that downloads a program was allowed before
		asked   string
	}{
		{name: "no program", d: files.Download{Target: "T"}, owner: "s1"},
		{name: "nobody's tab", d: program},
		{name: "a task in a room", d: program, owner: "s1", tasks: []sessions.TaskRecord{{Task: sessions.Task{SessionID: "s1", Origin: room}}}, asked: "executable g c s1 work get.test x.exe"},
		{name: "other tasks", d: program, owner: "s1", tasks: []sessions.TaskRecord{{Task: sessions.Task{SessionID: "s2", Origin: room}}}, asked: "executable   s1 work get.test x.exe"},
		{name: "the task may", d: program, owner: "s1", tasks: []sessions.TaskRecord{{Task: sessions.Task{SessionID: "s1", Origin: room, Allow: []string{"executable"}}}}},
		{name: "the click was allowed", d: program, owner: "s1", clicked: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, set, f := newTestApprover(t)
			k.RunningTasks = func(context.Context) ([]sessions.TaskRecord, error) { return tt.tasks, nil }
			p := &DownloadApprover{Approver: k, TabOwner: func(string) (string, string) { return tt.owner, "work" }}
			if tt.clicked {
				set.Approval.Executable = "allow"
				q := sessions.Question{Classes: []string{"executable"}}
				if _, err := p.Ask(t.Context(), sessions.Session{ID: "s1"}, sessions.Task{}, q); err != nil {
					t.Fatal(err)
				}
				set.Approval.Executable = "ask"
			}
			ctx, cancel := context.WithCancel(t.Context())
			var err error
			go func() {
				defer cancel()
				err = p.ApproveDownload(t.Context(), tt.d)
			}()
			asked := ""
			for {
				ev, over := f.Next(ctx)
				if over != nil {
					break
				}
				if q := ev.Question; !ev.Resolved {
					asked = strings.Join([]string{string(q.Class), q.Guild, q.Channel, q.Session, q.Profile, q.Origin, q.Detail}, " ")
					if err := k.Approvals.Answer(q.ID, approval.Answer{By: "@ada"}); err != nil {
						t.Error(err)
					}
				}
			}
			if asked != tt.asked {
				t.Errorf("asked %q, want %q", asked, tt.asked)
			}
			if _, denied := errors.AsType[*approval.DeniedError](err); denied != (tt.asked != "") || err != nil && !denied {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOneClickIsOneProgram(t *testing.T) {
	t.Parallel()
	p := &DownloadApprover{approvedClicks: map[string]time.Time{"s1": time.Now(), "s2": time.Now().Add(-clickApprovalLifetime)}}
	if !p.takeApprovedClick("s1") || p.takeApprovedClick("s1") || p.takeApprovedClick("s2") || p.takeApprovedClick("s3") {
		t.Error("a click counts for more than its download")
	}
}
