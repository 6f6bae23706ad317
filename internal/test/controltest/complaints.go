package controltest

import (
	"encoding/json"
	"os/exec"
	"strings"
	"time"
)

// complaintCases returns what users of such browsers complain about, each case brought about on purpose.
func complaintCases() []testCase {
	return []testCase{
		{Name: "1 every failure names its own cause", Run: trueCause},
		{Name: "3 a frozen tab beside a healthy one", Run: frozenTab},
		{Name: "4 the start is known by what the browser says", Run: startKnown},
		{Name: "5 an endpoint that accepts and stays silent", Run: silentEndpoint},
		{Name: "6 an occupied port", Run: occupiedPort},
		{Name: "6 a stale lock", Run: staleLock},
		{Name: "7 no orphan after kill -9", Run: orphanedBrowser, Program: true},
		{Name: "8 tabs opened by clicks do not pile up", Run: pilingTabs},
		{Name: "9 refs of every mode work in every action", Run: refsOfAllModes},
		{Name: "10 a tab keeps its name across sites", Run: sameTab},
		{Name: "11 frames of other sites are no tabs", Run: framesAreNoTabs},
		{Name: "12 an empty answer says so at once", Run: emptyAtOnce},
		{Name: "16 a time limit is the one that was given", Run: limitHonoured},
		{Name: "17 a command takes milliseconds", Run: commandFast, Program: true},
		{Name: "19 logins survive a restart", Run: loginsSurvive},
		{Name: "a client that goes away ends its work", Run: clientLeaves},
		{Name: "2 one profile is stopped while another works", Run: stopBeside},
		{Name: "13 whatever takes a click has a ref", Run: partsHaveRefs},
		{Name: "14 a look is as long as it was allowed to be", Run: shortLooks},
		{Name: "18 to ask about a person's browser touches nothing", Run: onlyAsked},
		{Name: "20 two clients work two tabs at once", Run: atOnce},
		{Name: "21 a file in a tab of its own is told", Run: fileApart},
		{Name: "22 files for uploads by every name they have", Run: uploadNames},
		{Name: "24 no window, because a request says so", Run: headlessAsked},
	}
}

func trueCause(s *suite) {
	for _, x := range []requestCase{
		{Path: "/navigate", Body: m{"url": "http://127.0.0.1:1/"}, Status: 500, Contains: []string{"127.0.0.1:1"}},
		{Path: "/act?profile=nosuch", Body: m{"kind": "press", "key": "a"}, Status: 404, Contains: []string{"nosuch"}},
		{Path: "/snapshot?targetId=nosuch", Status: 404, Contains: []string{"tab not found"}},
	} {
		x.Excludes = []string{"restart", "unreachable"}
		x.Run(s)
	}
}

func frozenTab(s *suite) {
	frozen := s.newTab("/plain", "frozen")
	asked := s.Site.Hits("/frozen")
	s.run("setTimeout(() => { fetch('/frozen'); for(;;); }, 500); 1")
	s.waitUntil("the tab to be frozen", func() bool { return s.Site.Hits("/frozen") > asked })
	begin := time.Now()
	healthy := s.newTab("/form", "healthy")
	s.tabs()
	s.snapshot("targetId=healthy")
	s.wantWithin(10*time.Second, begin)
	s.closeTab(frozen.TargetID)
	s.closeTab(healthy.TargetID)
}

func startKnown(s *suite) {
	s.call("POST", "/stop", nil, nil)
	s.call("POST", "/start", nil, nil)
	var status struct{ CDPHTTP, CDPReady, PageReady bool }
	s.call("GET", "/", nil, &status)
	if !status.CDPReady {
		s.Fatalf("right after the start: %+v", status)
	}
	// A look at its port gives up after a short time, which a busy machine may need.
	s.waitForAnswer("/", &status, func() bool { return status.CDPHTTP })
}

func pilingTabs(s *suite) {
	s.closeOtherTabs()
	s.openPage("/popup")
	first := s.snapshot("")
	for range 3 {
		s.act(m{"kind": "click", "selector": "a", "targetId": first.TargetID})
	}
	s.waitUntil("the tabs in the list", func() bool {
		all := s.tabs()
		return len(all) == 4
	})
	s.closeOtherTabs()
}

func refsOfAllModes(s *suite) {
	for _, query := range []string{"", "interactive=true", "refs=aria", "mode=efficient", "selector=form,body"} {
		snap := s.snapshotOf("/form", query)
		name := s.ref(snap, "textbox", "Name")
		for _, action := range []m{
			{"kind": "hover", "ref": name},
			{"kind": "type", "ref": name, "text": "x"},
			{"kind": "scrollIntoView", "ref": name},
			{"kind": "evaluate", "ref": name, "fn": "el => el.value"},
			{"kind": "click", "ref": name},
		} {
			s.act(action)
		}
	}
}

func sameTab(s *suite) {
	t := s.newTab("/plain", "mine")
	other := strings.Replace(s.Site.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{other + "/form", s.Site.URL + "/other", "about:blank", other + "/plain"} {
		s.call("POST", "/navigate", m{"url": url, "targetId": t.TabID}, nil)
		snap := s.snapshot("targetId=mine")
		s.wantEqual("address", snap.URL, url)
	}
	s.closeTab("mine")
}

func framesAreNoTabs(s *suite) {
	s.closeOtherTabs()
	s.openScope()
	s.wantEqual("tabs", len(s.tabs()), 1)
}

func emptyAtOnce(s *suite) {
	s.send(requestCase{Path: "/navigate", Body: m{"url": "SITEabout:blank"}, Status: 400})
	s.call("POST", "/navigate", m{"url": "about:blank"}, nil)
	snap := s.snapshot("")
	if !strings.HasPrefix(snap.Snapshot, "(empty") {
		s.Fatalf("snapshot %q", snap.Snapshot)
	}
}

func limitHonoured(s *suite) {
	s.openPage("/plain")
	for _, ms := range []int{700, 1500} {
		begin := time.Now()
		s.send(requestCase{Path: "/act", Body: m{"kind": "wait", "text": "never", "timeoutMs": ms}, Status: 500})
		if took := time.Since(begin); took < time.Duration(ms)*time.Millisecond || took > time.Duration(ms)*time.Millisecond+5*time.Second {
			s.Fatalf("a limit of %d ms took %v", ms, took)
		}
	}
}

// commandFast looks only that a command does not go through another start of anything: how fast it is, is measured elsewhere.
func commandFast(s *suite) {
	cmd := exec.CommandContext(s.ctx(), s.Bin, "browser", "--json", "tabs")
	cmd.Env = s.Environ()
	begin := time.Now()
	out, err := cmd.Output()
	s.check(err)
	s.wantWithin(2*time.Second, begin)
	var answer struct{ Tabs []tabAnswer }
	s.check(json.Unmarshal(out, &answer))
}

func loginsSurvive(s *suite) {
	s.openPage("/plain")
	s.run("document.cookie = 'login=ada; max-age=3600'; 1")
	s.call("POST", "/stop", nil, nil)
	s.openPage("/plain")
	s.wantPage("document.cookie", "login=ada")
}

func clientLeaves(s *suite) {
	s.openPage("/plain")
	if err := s.requestFor(300*time.Millisecond, "POST", "/act", m{"kind": "evaluate", "fn": "for(;;);"}); err == nil {
		s.Fatal("an endless script has ended")
	}
	begin := time.Now()
	s.send(requestCase{Path: "/act", Body: m{"kind": "evaluate", "fn": "document.title"}, Contains: []string{"Plain"}})
	s.wantWithin(5*time.Second, begin)
}
