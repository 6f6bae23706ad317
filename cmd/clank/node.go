package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/browsermgr/control/gate"
	"clank/browsertool/node"
	"clank/browsertool/remote"
	"clank/settings"
)

// openNode lends this machine's browsers to other machines, if an address is given: their tool "browser" works them through
// it, with the token CLANK_NODE_TOKEN. On an address that others can reach it speaks TLS only.
func (a *app) openNode(ctx context.Context, f serveOptions, control *remote.Caller) (url string, err error) {
	if f.nodeAddr == "" {
		return "", nil
	}
	token, err := settings.ReadSecret("CLANK_NODE_TOKEN", a.getenv)
	if err != nil {
		return "", err
	}
	host, _, err := net.SplitHostPort(f.nodeAddr)
	secure := f.nodeCert != "" || f.nodeKey != ""
	switch {
	case err != nil:
		return "", fmt.Errorf("lend browsers on %s: %w", f.nodeAddr, err)
	case !token.Present():
		return "", fmt.Errorf("lend browsers on %s: set CLANK_NODE_TOKEN to a secret that the other machines know", f.nodeAddr)
	case !secure && !gate.Loopback(host):
		return "", fmt.Errorf("lend browsers on %s: others can reach that address: give --node-cert and --node-key, or a loopback address behind a tunnel", f.nodeAddr)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", f.nodeAddr)
	if err != nil {
		return "", fmt.Errorf("lend browsers: %w", err)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a.nodeProxy(control, token.Reveal()).ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve := func() error { return server.Serve(ln) }
		if secure {
			serve = func() error { return server.ServeTLS(ln, f.nodeCert, f.nodeKey) }
		}
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			a.logger.Error("browsers are not lent any more", "error", err)
		}
	}()
	a.onClose(func(context.Context) error {
		err := server.Close()
		<-done
		return err
	})
	scheme := "http"
	if secure {
		scheme = "https"
	}
	url = scheme + "://" + ln.Addr().String()
	return url, a.own.addURL(url)
}

// onBehalf makes the calls of other machines ones on behalf of their models. Nobody here knows who could be asked about
// what they set off: the rules of this machine decide.
type onBehalf struct{ *remote.Caller }

// Call has the shape of [remote.Caller.Call].
func (c onBehalf) Call(ctx context.Context, method, path string, query url.Values, body any) (int, json.RawMessage, error) {
	return c.Caller.Call(remote.Asking(ctx, "node"), method, path, query, body)
}

// nodeProxy is what stands before the control API for others, as the settings have it now.
func (a *app) nodeProxy(control *remote.Caller, token string) *node.Proxy {
	s := a.settings.Now()
	return &node.Proxy{
		Control: onBehalf{control}, Token: token, AllowProfiles: strings.Fields(s.Tool.NodeProfiles),
		DefaultProfile: func() string { return a.browsers.Profile },
		FileRoots:      a.tools.Host.Media,
	}
}
