//go:build unix

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// chaosLine is a TCP line that can be broken.
type chaosLine struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
}

// newChaosLine opens a line to an address. It is closed when the test ends.
func newChaosLine(t *testing.T, to string) *chaosLine {
	t.Helper()
	zerolog.SetGlobalLevel(zerolog.Disabled)
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	l := &chaosLine{t, toxiproxy.NewProxy(server, "line", "127.0.0.1:0", to)}
	check.Must(t, l.proxy.Start())
	t.Cleanup(l.proxy.Stop)
	return l
}

// add has what comes back over the line suffer.
func (l *chaosLine) add(kind string, attributes map[string]any) {
	l.t.Helper()
	toxic, err := json.Marshal(map[string]any{"type": kind, "stream": "downstream", "attributes": attributes})
	check.Must(l.t, err)
	_, err = l.proxy.Toxics.AddToxicJson(bytes.NewReader(toxic))
	check.Must(l.t, err)
}

// cut ends the line's connections, and refuses new ones.
func (l *chaosLine) cut() { l.proxy.Stop() }

// mend makes the line a good one again.
func (l *chaosLine) mend() {
	l.t.Helper()
	l.proxy.Toxics.ResetToxics(l.t.Context())
	l.proxy.Lock()
	enabled := l.proxy.Enabled
	l.proxy.Unlock()
	if !enabled {
		check.Must(l.t, l.proxy.Start())
	}
}

// devToolsRows break the line to a browser elsewhere at each stage of a task.
func (c *chaos) devToolsRows() {
	line := newChaosLine(c.t, net.JoinHostPort("127.0.0.1", strconv.Itoa(browsertest.Launch(c.t).Port)))
	c.command("browser", "create-profile", "--name", "far", "--cdp-url", "http://"+line.proxy.Listen)
	c.flags = []string{"--profile", "far"}
	defer func() { c.flags = nil }()
	for _, f := range []chaosFault{
		{name: "DevTools line is late", do: func() { line.add("latency", map[string]any{"latency": 300, "jitter": 200}) }},
		{name: "DevTools line is narrow", do: func() { line.add("bandwidth", map[string]any{"rate": 20}) }},
		{name: "DevTools line comes in pieces", do: func() {
			line.add("slicer", map[string]any{"average_size": 64, "size_variation": 32, "delay": 50})
		}},
		{name: "DevTools line is cut", do: line.cut, names: chaosGone},
		{
			name: "DevTools line is reset", do: func() { line.add("reset_peer", map[string]any{"timeout": 0}) },
			names: chaosGone,
		},
		{name: "DevTools line loses the rest of an answer", do: func() {
			line.add("limit_data", map[string]any{"bytes": 100})
		}, names: chaosGone},
		{name: "DevTools line is silent", do: func() { line.add("timeout", map[string]any{"timeout": 0}) }, names: chaosGone},
	} {
		f.lift = line.mend
		for _, s := range c.stages() {
			if !s.starts && isChosen(f.name) {
				c.run(f, s)
			}
		}
	}
}

// names has names not be resolved, for each of the reasons.
func (c *chaos) names() {
	c.try("name does not exist", "nowhere.invalid", nil, "open http://nowhere.invalid/, read")
	if !isChosen("name server") {
		return
	}
	const server = "127.7.7.7:53"
	conn, err := net.ListenPacket("udp", server)
	if err != nil || os.Geteuid() != 0 {
		c.omits("name servers that fail", cmp.Or(err, errors.New("only root can name another one")))
		return
	}
	check.Must(c.t, conn.Close())
	root := filepath.Dir(c.home)
	config, wrapper := filepath.Join(root, "resolv.conf"), filepath.Join(root, "clank")
	check.Must(c.t, os.WriteFile(config, []byte("nameserver 127.7.7.7\n"), 0o600))
	script := fmt.Sprintf("#!/bin/sh\nexec unshare --mount sh -c 'mount --bind %s /etc/resolv.conf && exec %s \"$@\"' "+
		"clank \"$@\"\n",
		config, cmp.Or(*builtProgram, os.Args[0]))
	check.Must(c.t, os.WriteFile(wrapper, []byte(script), 0o700))
	was := *builtProgram
	c.endServer()
	*builtProgram = wrapper
	c.startServer()
	*builtProgram = was
	for _, row := range []struct {
		name  string
		reply func(query []byte) []byte // nil: nobody listens
	}{
		{"name server is down", nil},
		{"name server is silent", func([]byte) []byte { return nil }},
		{"name server fails", func(query []byte) []byte {
			query[2] |= 0x80 // an answer:
			query[3] = 2     // server failure
			return query
		}},
	} {
		end := func() {}
		if row.reply != nil {
			end = c.serveNames(server, row.reply)
		}
		c.try(row.name, "ferry.example", end, "open http://ferry.example/, read")
	}
	c.endServer()
	c.startServer()
}

// serveNames answers questions for names until end is called.
func (c *chaos) serveNames(address string, reply func([]byte) []byte) (end func()) {
	c.t.Helper()
	conn, err := net.ListenPacket("udp", address)
	check.Must(c.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := reply(buf[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from) // who does not wait any more misses nothing
			}
		}
	}()
	return func() {
		check.Must(c.t, conn.Close())
		<-done
	}
}
