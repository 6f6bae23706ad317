package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"clank/browsermgr"
	"clank/browsermgr/egress"
	"clank/browsermgr/page"
	"clank/internal/test/running"
)

// joinedPassLetter is the prefix of tokens in the pass in which only requests count: a browser connects before its
// request is intercepted.
const joinedPassLetter = "r"

// startJoinedBrowser starts a browser without a proxy, as another program would, and attaches clank to it: clank
// intercepts and checks its requests, which is the best that is possible there.
func startJoinedBrowser(ctx context.Context, o RangeOptions, p *rangePass) (*testedBrowser, error) {
	theirs, err := startBareChromium(ctx, p.makeshiftFlags()...)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, errors.Join(err, theirs.close(ctx))
	}
	gate := &egress.Proxy{Config: fixedRules{rules: p.rules(o)}, Resolver: p.resolver(), Machine: machineWithoutSite}
	manager := &browsermgr.Manager{Home: home, Gate: gate}
	b := &testedBrowser{devtools: theirs.devtools, close: func(ctx context.Context) error {
		return errors.Join(manager.Close(ctx), gate.Close(ctx), theirs.close(ctx), os.RemoveAll(home))
	}}
	use, err := joinAsProfile(ctx, gate, manager, theirs.devtools)
	if err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	end := b.close
	b.close = func(ctx context.Context) error {
		use.Release()
		return end(ctx)
	}
	b.open = func(ctx context.Context) (string, error) {
		tab, err := use.NewTab(ctx, page.TabOptions{})
		if err != nil {
			return "", err
		}
		return tab.TargetID(), nil
	}
	return b, nil
}

// joinAsProfile attaches to a browser as a profile.
func joinAsProfile(ctx context.Context, gate *egress.Proxy, manager *browsermgr.Manager,
	devtools string,
) (*browsermgr.Lease, error) {
	if err := errors.Join(gate.Open(ctx), manager.Open(ctx)); err != nil {
		return nil, err
	}
	if _, err := manager.CreateProfile(ctx,
		browsermgr.CreateProfileOptions{Name: "theirs", CDPURL: devtools}); err != nil {
		return nil, err
	}
	profile, err := manager.FindProfile("theirs")
	if err != nil {
		return nil, err
	}
	return profile.Acquire(ctx, true)
}

// runJoinedPass runs one case of each attack in a browser to which clank is only attached. Requests that can be
// intercepted must be.
func (r *rangeReport) runJoinedPass(ctx context.Context, o RangeOptions, all []rangeCase, without *passResult) error {
	var cases []rangeCase
	former := &passResult{}
	for i, c := range all {
		first := i == 0 || all[i-1].Group != c.Group || all[i-1].attackCase.Name != c.attackCase.Name
		if first && c.Never == "" && without.outcomes[i].hit() {
			cases = append(cases, c)
			former.outcomes = append(former.outcomes, without.outcomes[i])
		}
	}
	with, err := runPass(ctx, o, joinedPassLetter, 24000, cases, former,
		func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
			return startJoinedBrowser(ctx, o, p)
		})
	if err != nil {
		return err
	}
	for i, c := range cases {
		after := with.outcomes[i]
		c.canaryTarget.Name += ", joined"
		switch {
		case c.heldWhenJoined():
			r.Held++
			r.count(o, c, former.outcomes[i], after)
			if after.touched {
				r.Touched++
			}
		case after.hit() || after.touched:
			r.BestEffort++
			if o.Verbose {
				_, _ = fmt.Fprintf(o.Out, "%s: reached the canary, as is known\n", c.Title())
			}
		default:
			r.Beyond++
		}
	}
	return nil
}

// Keys of settings.
const (
	privateSetting = "agentStack.runtimeConfig.browser.ssrfPolicy.dangerouslyAllowPrivateNetwork"
	flagsSetting   = "agentStack.runtimeConfig.browser.extraArgs"
	portSetting    = "agentStack.runtimeConfig.browser.devToolsPort"
)

// attackOwnListeners starts the real program and attacks its listeners, first with a browser without the guard and
// then with the program's own: the dashboard, the control API, DevTools and the proxy. It does so twice, the second
// time with private addresses allowed.
func (r *rangeReport) attackOwnListeners(ctx context.Context, o RangeOptions) (err error) {
	tap, err := recordLoopback()
	if err != nil {
		return err
	}
	defer tap.Close()
	program, err := running.Start(ctx, o.Program, fmt.Sprintf("CLANK_ALLOWED_HOSTS=*.%s *.%s %s", hostileZone, otherZone,
		o.Ground.Site))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, program.Close()) }()
	owner, err := newOperatorClient(program)
	if err != nil {
		return err
	}
	flags := strings.Join(append(commonFlags(), "--disable-features="+disabledFeatures), " ")
	if err := owner.set(ctx, flagsSetting, flags); err != nil {
		return err
	}
	if err := owner.set(ctx, portSetting, true); err != nil {
		return err
	}
	doors, err := owner.listListeners(ctx, program)
	if err != nil {
		return err
	}
	cases := o.everyNth(ownListenerCases(doors.list))
	without, err := runPass(ctx, o, "c", 26000, cases, nil,
		func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
			tap.Watch(p.recordLoopbackPacket)
			return startBareChromium(ctx)
		})
	if err != nil {
		return err
	}
	for i, private := range []string{"", "true"} {
		if err := owner.set(ctx, privateSetting, private); err != nil {
			return err
		}
		with, err := runPass(ctx, o, []string{"k", "l"}[i], uint16(26200+200*i), cases, without,
			func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
				tap.Watch(p.recordLoopbackPacket)
				devtools, err := devToolsURL(ctx, int(doors.devtools.Port()), program.Token)
				return &testedBrowser{devtools: devtools, close: func(context.Context) error { return nil }}, err
			})
		if err != nil {
			return err
		}
		r.countOwnListeners(o, cases, without, with, private)
	}
	return nil
}

// countOwnListeners counts the cases about clank's listeners.
func (r *rangeReport) countOwnListeners(o RangeOptions, cases []rangeCase, without, with *passResult, private string) {
	for i, c := range cases {
		if private != "" {
			c.canaryTarget.Name += ", private addresses allowed"
		}
		after := with.outcomes[i]
		if private != "" && !c.Real {
			if !after.hit() {
				_, _ = fmt.Fprintf(o.Out, "%s: not reached\n", c.Title())
				r.Shut++
			}
			continue
		}
		r.count(o, c, without.outcomes[i], after)
		r.Doors++
	}
}

// recordLoopbackPacket records a packet on the loopback interface: one that contains a case's token for its listener
// is a hit. Requests to a proxy have an absolute URL instead of a path.
func (p *rangePass) recordLoopbackPacket(packet []byte) {
	to, payload, ok := TCPSegment(packet)
	if !ok {
		return
	}
	_, path, ok := bytes.Cut(payload, []byte(" /x/"))
	if !ok {
		return
	}
	id := string(path[:min(4, len(path))])
	if e := p.site.find(id); e != nil && e.Real && e.port == to.Port() {
		p.hits.recordHit(id, "packet")
	}
}

// operatorClient is a client of the dashboard with the operator's rights.
type operatorClient struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

func newOperatorClient(program *running.Clank) (operatorClient, error) {
	var w operatorClient
	data, err := os.ReadFile(filepath.Join(program.Home, "server.json"))
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	if err != nil {
		return w, fmt.Errorf("find the dashboard: %w", err)
	}
	return w, nil
}

// set changes a setting.
func (w operatorClient) set(ctx context.Context, key string, value any) error {
	var now struct {
		Version string `json:"version"`
	}
	if err := w.call(ctx, http.MethodGet, nil, &now); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	change := map[string]any{"version": now.Version, "changes": map[string]any{key: value}}
	if err := w.call(ctx, http.MethodPut, change, &now); err != nil {
		return fmt.Errorf("change the setting %s: %w", key, err)
	}
	return nil
}

func (w operatorClient) call(ctx context.Context, method string, in, out any) error {
	dashboard := &running.Clank{URL: w.URL, Token: w.Secret}
	return dashboard.Call(ctx, method, "/api/settings", in, out)
}

// ownListeners are the listeners of a running program.
type ownListeners struct {
	list     []ownListener
	devtools netip.AddrPort
}

// listListeners starts the program's browser, and returns the addresses of all listeners.
func (w operatorClient) listListeners(ctx context.Context, program *running.Clank) (ownListeners, error) {
	var l ownListeners
	if err := program.Call(ctx, http.MethodPost, "/start", map[string]any{}, nil); err != nil {
		return l, err
	}
	var status struct {
		Port int `json:"cdpPort"`
		PID  int `json:"pid"`
	}
	if err := program.Call(ctx, http.MethodGet, "/", nil, &status); err != nil {
		return l, err
	}
	l.devtools = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(status.Port))
	words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", status.PID))
	if err != nil {
		return l, fmt.Errorf("find the proxy: %w", err)
	}
	var proxy string
	for word := range strings.SplitSeq(string(words), "\x00") {
		if at, ok := strings.CutPrefix(word, "--proxy-server="); ok {
			proxy = at
		}
	}
	for name, address := range map[string]string{
		"the dashboard": w.URL, "the control API": program.URL, "DevTools": "http://" + l.devtools.String(),
		"the proxy": proxy,
	} {
		u, err := url.Parse(address)
		if err != nil {
			return l, fmt.Errorf("find %s: %w", name, err)
		}
		at, err := netip.ParseAddrPort(u.Host)
		if err != nil {
			return l, fmt.Errorf("find %s: %w", name, err)
		}
		l.list = append(l.list, ownListener{Name: name, At: at})
	}
	return l, nil
}

// ownListener is a listener of the program under test.
type ownListener struct {
	Name string
	At   netip.AddrPort
}

const ownListenerGroup = "door"

// requestAttacks returns the ways to send requests to a listener.
func requestAttacks() []attackCase {
	return []attackCase{
		scriptAttack(ownListenerGroup, "fetch", "fetch('http://@hostport@/x/@id@',{mode:'no-cors'})"),
		scriptAttack(ownListenerGroup, "post without preflight",
			"fetch('http://@hostport@/x/@id@',{method:'POST',mode:'no-cors',body:'{}',headers:{'content-type':'text/plain'}})"),
		scriptAttack(ownListenerGroup, "WebSocket", "new WebSocket('ws://@hostport@/x/@id@')"),
		markupAttack(ownListenerGroup, "form", "<form id=f action=http://@hostport@/x/@id@ method=post "+
			"enctype=text/plain><input name='{\"a\":\"' value='\"}'></form><script>f.submit()</script>"),
		markupAttack(ownListenerGroup, "frame", "<iframe src=http://@hostport@/x/@id@></iframe>"),
	}
}

// devToolsAttacks returns attacks on the DevTools of a browser.
func devToolsAttacks() []attackCase {
	return []attackCase{
		scriptAttack(ownListenerGroup, "DevTools by WebSocket", "new WebSocket('ws://@hostport@/x/@id@/devtools/browser')"),
		scriptAttack(ownListenerGroup, "new tab by PUT",
			"fetch('http://@hostport@/x/@id@/json/new?about:blank',{method:'PUT'})"),
	}
}

// ownListenerAttacks returns attacks on addresses where the program usually listens, and on other common ports.
// Canaries listen there.
func ownListenerAttacks() []attackCase {
	shared := func(name, addr string, port uint16) canaryTarget {
		return canaryTarget{Name: name, Addr: mustAddr(addr), Shared: port}
	}
	own := []canaryTarget{
		shared("dashboard", "127.0.0.1", 8787), shared("control", "127.0.0.1", 18791), shared("devtools", "127.0.0.1", 18800),
		shared("metadata-80", "169.254.169.254", 80),
	}
	return slices.Concat(onTargets(own, requestAttacks()...), onTargets(own[2:3], devToolsAttacks()...))
}

// ownListenerCases returns cases about the listeners of a running program. A packet with their token to the listener
// counts as a hit. The last case differs: a canary on a private address, which must be hit if private addresses are
// allowed.
func ownListenerCases(list []ownListener) []rangeCase {
	attacks := append(requestAttacks(),
		markupAttack(ownListenerGroup, "image", "<img src=http://@hostport@/x/@id@>"),
		markupAttack(ownListenerGroup, "redirect", "<img src=/via/http://@hostport@/x/@id@>"),
		attackCase{Group: ownListenerGroup, Name: "visit", Visit: "http://@hostport@/x/@id@"},
		scriptAttack(ownListenerGroup, "window.open", "function go(){open('http://@hostport@/x/@id@')}"),
		scriptAttack(ownListenerGroup, "beacon", "navigator.sendBeacon('http://@hostport@/x/@id@','a')"),
		workerAttack(ownListenerGroup, "worker", "fetch('http://@hostport@/x/@id@',{mode:'no-cors'})"),
		workerAttack(ownListenerGroup, "worker WebSocket", "new WebSocket('ws://@hostport@/x/@id@')"),
	)
	var cases []rangeCase
	add := func(a attackCase, s canaryTarget) {
		cases = append(cases, rangeCase{attackCase: a, canaryTarget: s, Number: len(cases)})
	}
	for _, d := range list {
		spot := canaryTarget{Name: d.Name, Addr: d.At.Addr(), Shared: d.At.Port(), Real: true}
		for _, a := range append(attacks, devToolsAttacks()...) {
			add(a, spot)
		}
		for _, host := range []string{
			"localhost", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]",
			EncodeName("d", NameDirect, d.At.Addr()),
		} {
			spelled := spot
			spelled.Host, spelled.Name = host, d.Name+" as "+host
			add(markupAttack(ownListenerGroup, "image", "<img src=http://@hostport@/x/@id@>"), spelled)
		}
	}
	add(scriptAttack(ownListenerGroup, "allowed address", "fetch('@url@',{mode:'no-cors'})"),
		canaryTarget{Name: "ten", Addr: mustAddr("10.66.0.1")})
	return cases
}
