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
	"strings"

	"clank/internal/test/running"
)

// Settings of the program, as its settings page names them.
const (
	privateSetting = "agentStack.runtimeConfig.browser.ssrfPolicy.dangerouslyAllowPrivateNetwork"
	flagsSetting   = "agentStack.runtimeConfig.browser.extraArgs"
)

// attackOwnListeners starts the real program, and has first a bare browser and then the program's own knock at its listeners: the
// dashboard, the control API, DevTools and the proxy. That is done twice, the second time with private addresses allowed.
func (r *rangeReport) attackOwnListeners(ctx context.Context, o RangeOptions) (err error) {
	tap, err := recordLoopback()
	if err != nil {
		return err
	}
	defer tap.Close()
	program, err := running.Start(ctx, o.Program, "CLANK_ALLOWED_HOSTS=")
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
	doors, err := owner.listListeners(ctx, program)
	if err != nil {
		return err
	}
	cases := o.everyNth(ownListenerCases(doors.list))
	without, err := runPass(ctx, o, "c", 26000, cases, nil, func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
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
		with, err := runPass(ctx, o, []string{"k", "l"}[i], uint16(26200+200*i), cases, without, func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
			tap.Watch(p.recordLoopbackPacket)
			devtools, err := devToolsURL(ctx, int(doors.devtools.Port()))
			return &testedBrowser{devtools: devtools, close: func(context.Context) error { return nil }}, err
		})
		if err != nil {
			return err
		}
		r.countOwnListeners(o, cases, without, with, private)
	}
	return nil
}

// countOwnListeners counts the cases about doors.
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

// recordLoopbackPacket records what goes over the loopback interface: a packet that brings a case's token to its
// door is a hit. A request to a proxy has a whole address where others have a path.
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

// operatorClient speaks to the dashboard as the person whose it is.
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
func (w operatorClient) set(ctx context.Context, key, value string) error {
	var now struct {
		Version string `json:"version"`
	}
	if err := w.call(ctx, http.MethodGet, nil, &now); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	change := map[string]any{"version": now.Version, "changes": map[string]string{key: value}}
	if err := w.call(ctx, http.MethodPut, change, &now); err != nil {
		return fmt.Errorf("change the setting %s: %w", key, err)
	}
	return nil
}

func (w operatorClient) call(ctx context.Context, method string, in, out any) error {
	dashboard := &running.Clank{URL: w.URL, Token: w.Secret}
	return dashboard.Call(ctx, method, "/api/settings", in, out)
}

// ownListeners are the doors of a program that runs.
type ownListeners struct {
	list     []ownListener
	devtools netip.AddrPort
}

// listListeners starts the program's browser, and says where everything listens.
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
		"the dashboard": w.URL, "the control API": program.URL, "DevTools": "http://" + l.devtools.String(), "the proxy": proxy,
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
