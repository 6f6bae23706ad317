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

// themes are what people who use such browsers suffer from, each brought about on purpose.
func themes() []check {
	return []check{
		{"1 every failure names its own cause", trueCause},
		{"2 a hung action does not wedge what comes after", hungAction},
		{"3 a frozen tab beside a healthy one", frozenTab},
		{"4 the start is known by what the browser says", startKnown},
		{"5 an endpoint that accepts and stays silent", silentEndpoint},
		{"6 an occupied port", occupiedPort},
		{"6 a stale lock", staleLock},
		{"7 no orphan after kill -9", orphan},
		{"8 tabs opened by clicks do not pile up", pilingTabs},
		{"9 refs of every mode work in every action", refsOfAllModes},
		{"10 a tab keeps its name across sites", sameTab},
		{"11 frames of other sites are no tabs", framesAreNoTabs},
		{"12 an empty answer says so at once", emptyAtOnce},
		{"15 a covered click says by what", coveredNamed},
		{"16 a time limit is the one that was given", limitHonoured},
		{"17 a command takes milliseconds", commandFast},
		{"19 logins survive a restart", loginsSurvive},
		{"a client that goes away ends its work", clientLeaves},
	}
}

func trueCause(ctx context.Context, s *suite) error {
	for _, x := range []exchange{
		{path: "/navigate", body: map[string]any{"url": "http://127.0.0.1:1/"}, status: 500, says: []string{"127.0.0.1:1"}},
		{path: "/act?profile=nosuch", body: map[string]any{"kind": "press", "key": "a"}, status: 404, says: []string{"nosuch"}},
		{path: "/snapshot?targetId=nosuch", status: 404, says: []string{"tab not found"}},
	} {
		x.never = []string{"restart", "unreachable"}
		if err := x.run(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func hungAction(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/plain"); err != nil {
		return err
	}
	begin := time.Now()
	if err := (exchange{path: "/act", body: map[string]any{"kind": "evaluate", "fn": "for(;;);", "timeoutMs": 1500}, status: 500}).run(ctx, s); err != nil {
		return err
	}
	if took := time.Since(begin); took > 10*time.Second {
		return fmt.Errorf("it took %v", took)
	}
	return exchange{path: "/act", body: map[string]any{"kind": "evaluate", "fn": "6 * 7"}, says: []string{"42"}}.run(ctx, s)
}

func frozenTab(ctx context.Context, s *suite) error {
	frozen, err := s.newTab(ctx, "/plain", "frozen")
	if err != nil {
		return err
	}
	if _, err := s.act(ctx, map[string]any{"kind": "evaluate", "fn": "setTimeout(() => { for(;;); }, 50); 1"}); err != nil {
		return err
	}
	begin := time.Now()
	healthy, err := s.newTab(ctx, "/form", "healthy")
	if err != nil {
		return err
	}
	if _, err := s.list(ctx); err != nil {
		return err
	}
	if _, err := s.snapshot(ctx, "targetId=healthy"); err != nil {
		return err
	}
	if took := time.Since(begin); took > 10*time.Second {
		return fmt.Errorf("beside a frozen tab it took %v", took)
	}
	if err := s.closeTab(ctx, frozen.TargetID); err != nil {
		return err
	}
	return s.closeTab(ctx, healthy.TargetID)
}

func startKnown(ctx context.Context, s *suite) error {
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

func pilingTabs(ctx context.Context, s *suite) error {
	if err := s.fresh(ctx); err != nil {
		return err
	}
	if err := s.open(ctx, "/popup"); err != nil {
		return err
	}
	first, err := s.snapshot(ctx, "")
	if err != nil {
		return err
	}
	for range 3 {
		if _, err := s.act(ctx, map[string]any{"kind": "click", "selector": "a", "targetId": first.TargetID}); err != nil {
			return err
		}
	}
	err = s.until(ctx, "the tabs in the list", func() (bool, error) {
		all, err := s.list(ctx)
		return len(all) == 4, err
	})
	if err != nil {
		return err
	}
	return s.fresh(ctx)
}

func refsOfAllModes(ctx context.Context, s *suite) error {
	for _, query := range []string{"", "interactive=true", "refs=aria", "mode=efficient", "selector=form,body"} {
		snap, err := s.snapshotOf(ctx, "/form", query)
		if err != nil {
			return err
		}
		name, err := snap.ref("textbox", "Name")
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
			if _, err := s.act(ctx, action); err != nil {
				return fmt.Errorf("%q: %w", query, err)
			}
		}
	}
	return nil
}

func sameTab(ctx context.Context, s *suite) error {
	t, err := s.newTab(ctx, "/plain", "mine")
	if err != nil {
		return err
	}
	other := strings.Replace(s.site.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{other + "/form", s.site.URL + "/other", "about:blank", other + "/plain"} {
		if err := s.Call(ctx, "POST", "/navigate", map[string]any{"url": url, "targetId": t.TabID}, nil); err != nil {
			return err
		}
		snap, err := s.snapshot(ctx, "targetId=mine")
		if err != nil {
			return err
		}
		if err := same("address", snap.URL, url); err != nil {
			return err
		}
	}
	return s.closeTab(ctx, "mine")
}

func framesAreNoTabs(ctx context.Context, s *suite) error {
	if err := s.fresh(ctx); err != nil {
		return err
	}
	if err := s.openScope(ctx); err != nil {
		return err
	}
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	return same("tabs", len(all), 1)
}

func emptyAtOnce(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "about:blank"); err == nil {
		return errors.New("the site's address with about:blank behind it was opened")
	}
	if err := s.Call(ctx, "POST", "/navigate", map[string]any{"url": "about:blank"}, nil); err != nil {
		return err
	}
	snap, err := s.snapshot(ctx, "")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(snap.Snapshot, "(empty") {
		return fmt.Errorf("snapshot %q", snap.Snapshot)
	}
	return nil
}

func coveredNamed(ctx context.Context, s *suite) error {
	return exchange{
		path: "/act", page: "/cover", body: map[string]any{"kind": "click", "selector": "#b", "timeoutMs": 3000}, status: 500, says: []string{"veil"},
	}.run(ctx, s)
}

func limitHonoured(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/plain"); err != nil {
		return err
	}
	for _, ms := range []int{700, 2500} {
		begin := time.Now()
		err := exchange{path: "/act", body: map[string]any{"kind": "wait", "text": "never", "timeoutMs": ms}, status: 500}.run(ctx, s)
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
func commandFast(ctx context.Context, s *suite) error {
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
	var answer struct{ Tabs []tab }
	if err := json.Unmarshal(out, &answer); err != nil {
		return fmt.Errorf("clank browser --json tabs printed %q: %w", out, err)
	}
	return nil
}

func loginsSurvive(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/plain"); err != nil {
		return err
	}
	if _, err := s.act(ctx, map[string]any{"kind": "evaluate", "fn": "document.cookie = 'login=ada; max-age=3600'; 1"}); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	if err := s.open(ctx, "/plain"); err != nil {
		return err
	}
	var got string
	if err := s.evaluate(ctx, "document.cookie", &got); err != nil {
		return err
	}
	return same("cookie", got, "login=ada")
}

func clientLeaves(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/plain"); err != nil {
		return err
	}
	short, leave := context.WithTimeout(ctx, 300*time.Millisecond)
	defer leave()
	if _, err := s.Request(short, "POST", "/act", map[string]any{"kind": "evaluate", "fn": "for(;;);"}); err == nil {
		return errors.New("an endless script has ended")
	}
	begin := time.Now()
	if err := (exchange{path: "/act", body: map[string]any{"kind": "evaluate", "fn": "document.title"}, says: []string{"Plain"}}).run(ctx, s); err != nil {
		return err
	}
	if took := time.Since(begin); took > 5*time.Second {
		return fmt.Errorf("the next action took %v", took)
	}
	return nil
}
