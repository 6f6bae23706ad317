package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/browseagent/browsertool"
	"clank/browsermgr/address"
	"clank/internal/pageorigin"
	"clank/internal/settings"
)

// minNodeToken is the minimum length of a node's token in bytes: attempts are not limited.
const minNodeToken = 32

// openNode lends this machine's browsers to other machines, if an address is given. Their tool "browser" connects
// with the token CLANK_NODE_TOKEN. On an address that others can reach it requires TLS.
func (a *Server) openNode(ctx context.Context, f ServeOptions, control *browsertool.APIClient) (url string, err error) {
	secure := f.NodeCertFile != "" || f.NodeKeyFile != ""
	switch {
	case f.NodeAddr != "":
	case secure:
		return "", errors.New("--node-cert and --node-key are for --node-addr: give that too")
	default:
		return "", nil
	}
	token, err := settings.ReadSecret("CLANK_NODE_TOKEN", a.getenv)
	if err != nil {
		return "", err
	}
	host, _, err := net.SplitHostPort(f.NodeAddr)
	switch {
	case err != nil:
		return "", fmt.Errorf("lend browsers on %s: %w", f.NodeAddr, err)
	case !token.IsSet():
		return "", fmt.Errorf("lend browsers on %s: set CLANK_NODE_TOKEN to a secret that the other machines know",
			f.NodeAddr)
	case secure && (f.NodeCertFile == "" || f.NodeKeyFile == ""):
		return "", fmt.Errorf("lend browsers on %s: --node-cert and --node-key need each other", f.NodeAddr)
	case !secure && !pageorigin.IsLoopback(host):
		return "", fmt.Errorf("lend browsers on %s: others can reach that address: give --node-cert and --node-key, or a "+
			"loopback address behind a tunnel", f.NodeAddr)
	case len(token.Reveal()) < minNodeToken:
		return "", fmt.Errorf("lend browsers on %s: CLANK_NODE_TOKEN is short enough to be guessed: use %d characters or "+
			"more, such as openssl rand -hex 32 writes", f.NodeAddr, minNodeToken)
	}
	var certificates []tls.Certificate
	if secure {
		certificate, err := tls.LoadX509KeyPair(f.NodeCertFile, f.NodeKeyFile)
		if err != nil {
			return "", fmt.Errorf("lend browsers with --node-cert and --node-key: %w", err)
		}
		certificates = append(certificates, certificate)
	}
	ln, err := address.Listen(ctx, f.NodeAddr)
	if err != nil {
		return "", fmt.Errorf("lend browsers: %w", err)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a.nodeProxy(control, token.Reveal()).ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, TLSConfig: &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12},
	}
	scheme, serve := "http", func() error { return server.Serve(ln) }
	if secure {
		scheme, serve = "https", func() error { return server.ServeTLS(ln, "", "") }
	}
	a.onClose(serveInBackground(server, serve, func(err error) {
		a.logger.Error("browsers are not lent any more", "error", err)
	}))
	url = scheme + "://" + ln.Addr().String()
	a.nodes.lend(url, certificates)
	return url, a.OwnListeners.AddURL(url)
}

// nodeCaller attributes the calls of other machines to their models. There is nobody here to ask about their actions:
// the rules of this machine decide.
type nodeCaller struct{ *browsertool.APIClient }

// Call has the shape of [browsertool.APIClient.Call].
func (c nodeCaller) Call(ctx context.Context, method, path string, query url.Values,
	body any,
) (int, json.RawMessage, error) {
	return c.APIClient.Call(browsertool.WithAskID(ctx, "node"), method, path, query, body)
}

// nodeProxy returns a proxy to the control API with the current settings.
func (a *Server) nodeProxy(control *browsertool.APIClient, token string) *browsertool.NodeProxy {
	return &browsertool.NodeProxy{
		Control: nodeCaller{control}, Token: token, AllowProfiles: a.lentProfiles(),
		DefaultProfile: func() string { return a.Browsers.Profile },
		FileRoots:      a.Tools.HostTarget.Media,
		Version:        a.version, OnCall: a.nodes.recordCaller,
	}
}

// lentProfiles returns the profiles that other machines may use.
func (a *Server) lentProfiles() []string {
	if shared := strings.Fields(a.Settings.Current().BrowserTool.NodeProfiles); len(shared) > 0 {
		return shared
	}
	return []string{a.Browsers.Profile}
}
