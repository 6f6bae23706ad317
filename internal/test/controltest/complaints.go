package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// complaintCases are what people who use such browsers suffer from, each brought about on purpose.
func complaintCases() []testCase {
	return []testCase{
		{Name: "1 every failure names its own cause", Run: trueCause},
		{Name: "2 a hung action does not wedge what comes after", Run: hungAction},
		{Name: "3 a frozen tab beside a healthy one", Run: frozenTab},
		{Name: "4 the start is known by what the browser says", Run: startKnown},
		{Name: "5 an endpoint that accepts and stays silent", Run: silentEndpoint},
		{Name: "6 an occupied port", Run: occupiedPort},
		{Name: "6 a stale lock", Run: staleLock},
		{Name: "7 no orphan after kill -9", Run: orphanedBrowser},
		{Name: "8 tabs opened by clicks do not pile up", Run: pilingTabs},
		{Name: "9 refs of every mode work in every action", Run: refsOfAllModes},
		{Name: "10 a tab keeps its name across sites", Run: sameTab},
		{Name: "11 frames of other sites are no tabs", Run: framesAreNoTabs},
		{Name: "12 an empty answer says so at once", Run: emptyAtOnce},
		testCase{Name: "15 a covered click says by what", Run: coveredNamed}.retried(),
		{Name: "16 a time limit is the one that was given", Run: limitHonoured},
		{Name: "17 a command takes milliseconds", Run: commandFast},
		{Name: "19 logins survive a restart", Run: loginsSurvive},
		{Name: "a client that goes away ends its work", Run: clientLeaves},
		{Name: "2 one profile is stopped while another works", Run: stopBeside},
		{Name: "13 whatever takes a click has a ref", Run: partsHaveRefs},
		{Name: "14 a look is as long as it was allowed to be", Run: shortLooks},
		{Name: "18 to ask about a person's browser touches nothing", Run: onlyAsked},
		{Name: "20 two clients work two tabs at once", Run: atOnce},
		testCase{Name: "21 a file in a tab of its own is told", Run: fileApart}.retried(),
		{Name: "22 files for uploads by every name they have", Run: uploadNames},
		{Name: "24 no window, because a request says so", Run: headlessAsked},
	}
}

func trueCause(ctx context.Context, s *controlSuite) error {
	for _, x := range []requestCase{
		{Path: "/navigate", Body: map[string]any{"url": "http://127.0.0.1:1/"}, Status: 500, Contains: []string{"127.0.0.1:1"}},
		{Path: "/act?profile=nosuch", Body: map[string]any{"kind": "press", "key": "a"}, Status: 404, Contains: []string{"nosuch"}},
		{Path: "/snapshot?targetId=nosuch", Status: 404, Contains: []string{"tab not found"}},
	} {
		x.Excludes = []string{"restart", "unreachable"}
		if err := x.Run(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func hungAction(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	begin := time.Now()
	if err := (requestCase{Path: "/act", Body: map[string]any{"kind": "evaluate", "fn": "for(;;);", "timeoutMs": 1500}, Status: 500}).Run(ctx, s); err != nil {
		return err
	}
	if took := time.Since(begin); took > 10*time.Second {
		return fmt.Errorf("it took %v", took)
	}
	return requestCase{Path: "/act", Body: map[string]any{"kind": "evaluate", "fn": "6 * 7"}, Contains: []string{"42"}}.Run(ctx, s)
}

func frozenTab(ctx context.Context, s *controlSuite) error {
	frozen, err := s.NewTab(ctx, "/plain", "frozen")
	if err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "setTimeout(() => { for(;;); }, 50); 1"}); err != nil {
		return err
	}
	begin := time.Now()
	healthy, err := s.NewTab(ctx, "/form", "healthy")
	if err != nil {
		return err
	}
	if _, err := s.Tabs(ctx); err != nil {
		return err
	}
	if _, err := s.Snapshot(ctx, "targetId=healthy"); err != nil {
		return err
	}
	if took := time.Since(begin); took > 10*time.Second {
		return fmt.Errorf("beside a frozen tab it took %v", took)
	}
	if err := s.CloseTab(ctx, frozen.TargetID); err != nil {
		return err
	}
	return s.CloseTab(ctx, healthy.TargetID)
}

func startKnown(ctx context.Context, s *controlSuite) error {
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/start", nil, nil); err != nil {
		return err
	}
	var status struct{ CDPHTTP, CDPReady, PageReady bool }
	if err := s.Call(ctx, "GET", "/", nil, &status); err != nil {
		return err
	}
	if !status.CDPHTTP || !status.CDPReady {
		return fmt.Errorf("right after the start: %+v", status)
	}
	return nil
}

func pilingTabs(ctx context.Context, s *controlSuite) error {
	if err := s.closeOtherTabs(ctx); err != nil {
		return err
	}
	if err := s.openPage(ctx, "/popup"); err != nil {
		return err
	}
	first, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	for range 3 {
		if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "a", "targetId": first.TargetID}); err != nil {
			return err
		}
	}
	err = s.waitUntil(ctx, "the tabs in the list", func() (bool, error) {
		all, err := s.Tabs(ctx)
		return len(all) == 4, err
	})
	if err != nil {
		return err
	}
	return s.closeOtherTabs(ctx)
}

func refsOfAllModes(ctx context.Context, s *controlSuite) error {
	for _, query := range []string{"", "interactive=true", "refs=aria", "mode=efficient", "selector=form,body"} {
		snap, err := s.SnapshotOf(ctx, "/form", query)
		if err != nil {
			return err
		}
		name, err := snap.Ref("textbox", "Name")
		if err != nil {
			return fmt.Errorf("%q: %w", query, err)
		}
		for _, action := range []map[string]any{
			{"kind": "hover", "ref": name},
			{"kind": "type", "ref": name, "text": "x"},
			{"kind": "scrollIntoView", "ref": name},
			{"kind": "evaluate", "ref": name, "fn": "el => el.value"},
			{"kind": "click", "ref": name},
		} {
			if _, err := s.Act(ctx, action); err != nil {
				return fmt.Errorf("%q: %w", query, err)
			}
		}
	}
	return nil
}

func sameTab(ctx context.Context, s *controlSuite) error {
	t, err := s.NewTab(ctx, "/plain", "mine")
	if err != nil {
		return err
	}
	other := strings.Replace(s.Site.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{other + "/form", s.Site.URL + "/other", "about:blank", other + "/plain"} {
		if err := s.Call(ctx, "POST", "/navigate", map[string]any{"url": url, "targetId": t.TabID}, nil); err != nil {
			return err
		}
		snap, err := s.Snapshot(ctx, "targetId=mine")
		if err != nil {
			return err
		}
		if err := wantEqualJSON("address", snap.URL, url); err != nil {
			return err
		}
	}
	return s.CloseTab(ctx, "mine")
}

func framesAreNoTabs(ctx context.Context, s *controlSuite) error {
	if err := s.closeOtherTabs(ctx); err != nil {
		return err
	}
	if err := s.OpenScope(ctx); err != nil {
		return err
	}
	all, err := s.Tabs(ctx)
	if err != nil {
		return err
	}
	return wantEqualJSON("tabs", len(all), 1)
}

func emptyAtOnce(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "about:blank"); err == nil {
		return errors.New("the site's address with about:blank behind it was opened")
	}
	if err := s.Call(ctx, "POST", "/navigate", map[string]any{"url": "about:blank"}, nil); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(snap.Snapshot, "(empty") {
		return fmt.Errorf("snapshot %q", snap.Snapshot)
	}
	return nil
}

func coveredNamed(ctx context.Context, s *controlSuite) error {
	return requestCase{
		Path: "/act", Page: "/cover", Body: map[string]any{"kind": "click", "selector": "#b", "timeoutMs": 1200}, Status: 500, Contains: []string{"veil"},
	}.Run(ctx, s)
}

func limitHonoured(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	for _, ms := range []int{700, 1500} {
		begin := time.Now()
		err := requestCase{Path: "/act", Body: map[string]any{"kind": "wait", "text": "never", "timeoutMs": ms}, Status: 500}.Run(ctx, s)
		if err != nil {
			return err
		}
		if took := time.Since(begin); took < time.Duration(ms)*time.Millisecond || took > time.Duration(ms)*time.Millisecond+5*time.Second {
			return fmt.Errorf("a limit of %d ms took %v", ms, took)
		}
	}
	return nil
}

// commandFast looks only that a command does not go through another start of anything: how fast it is, is measured elsewhere.
func commandFast(ctx context.Context, s *controlSuite) error {
	cmd := exec.CommandContext(ctx, s.Bin, "browser", "--json", "tabs")
	cmd.Env = s.Environ()
	begin := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("clank browser tabs: %w", err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		return fmt.Errorf("it took %v", took)
	}
	var answer struct{ Tabs []tabAnswer }
	if err := json.Unmarshal(out, &answer); err != nil {
		return fmt.Errorf("clank browser --json tabs printed %q: %w", out, err)
	}
	return nil
}

func loginsSurvive(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "document.cookie = 'login=ada; max-age=3600'; 1"}); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	var got string
	if err := s.Evaluate(ctx, "document.cookie", &got); err != nil {
		return err
	}
	return wantEqualJSON("cookie", got, "login=ada")
}

func clientLeaves(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	short, leave := context.WithTimeout(ctx, 300*time.Millisecond)
	defer leave()
	if _, err := s.Request(short, "POST", "/act", map[string]any{"kind": "evaluate", "fn": "for(;;);"}); err == nil {
		return errors.New("an endless script has ended")
	}
	begin := time.Now()
	if err := (requestCase{Path: "/act", Body: map[string]any{"kind": "evaluate", "fn": "document.title"}, Contains: []string{"Plain"}}).Run(ctx, s); err != nil {
		return err
	}
	if took := time.Since(begin); took > 5*time.Second {
		return fmt.Errorf("the next action took %v", took)
	}
	return nil
}
