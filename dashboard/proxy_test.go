package dashboard_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"clank/internal/test/check"
)

// set sets what the dashboard is reached by.
func (r *rig) set(hosts, proxies string) {
	r.t.Helper()
	_, _, err := r.server.Settings.Update(r.t.Context(), map[string]json.RawMessage{
		"interaction.dashboard.hosts": fmt.Appendf(nil, "%q", hosts), "interaction.dashboard.proxies": fmt.Appendf(nil, "%q",
			proxies),
	}, r.server.Settings.State().Version)
	check.Must(r.t, err)
}

const publicName = "clank.example.org"

// clientOf returns what asks under the public name whoever listens at addr.
func clientOf(addr string) front {
	_, port, _ := net.SplitHostPort(addr)
	dial := new(net.Dialer)
	return front{"https://" + publicName + ":" + port, &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dial.DialContext(ctx, network, addr)
		},
	}}}
}

func behindGo(t *testing.T, page string) front {
	t.Helper()
	to, err := url.Parse(page)
	check.Must(t, err)
	srv := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(to)
		p.Out.Host = p.In.Host
		p.SetXForwarded()
	}})
	t.Cleanup(srv.Close)
	return clientOf(srv.Listener.Addr().String())
}

// example returns what docs/operations.md says of a program, with other places.
func example(t *testing.T, program string, places ...string) string {
	t.Helper()
	data, err := os.ReadFile("../docs/operations.md")
	check.Must(t, err)
	_, text, found := strings.Cut(string(data), "\n# "+program+"\n")
	text, _, ends := strings.Cut(text, "```")
	for _, place := range places[:len(places)/2] {
		if !strings.Contains(text, place) {
			t.Fatalf("the example for %s does not say %s", program, place)
		}
	}
	var pairs []string
	for i := range len(places) / 2 {
		pairs = append(pairs, places[i], places[len(places)/2+i])
	}
	if !found || !ends {
		t.Fatalf("there is no example for %s", program)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// runFront runs a program in front of the page until the test ends.
func runFront(t *testing.T, addr string, args ...string) front {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // which ends what it has started, too
	cmd.WaitDelay = 10 * time.Second
	var said check.Log
	cmd.Stdout, cmd.Stderr = &said, &said
	check.Must(t, cmd.Start())
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // it is ended by the test's context
	t.Cleanup(func() { <-ended })
	f := clientOf(addr)
	eventually(t, args[0]+" serves", func() bool {
		select {
		case <-ended:
			t.Fatal(said.String())
		default:
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.at, nil)
		check.Must(t, err)
		res, err := f.hc.Do(req)
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	return f
}

// freeAddress returns an address of this machine at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check.Must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func behindNginx(t *testing.T, page string) front {
	t.Helper()
	dir, addr := t.TempDir(), freeAddress(t)
	cert, key := certificate(t, dir)
	text := example(t, "nginx", "443 ssl", "/etc/ssl/clank.pem", "/etc/ssl/clank.key", "http://127.0.0.1:8787",
		addr+" ssl", cert, key, page)
	text = "daemon off; pid pid; error_log stderr; events {} http { access_log off; client_body_temp_path b; " +
		"proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;" + text + "}"
	if os.Geteuid() == 0 {
		text = "user root; " + text
	}
	check.Must(t, os.WriteFile(filepath.Join(dir, "conf"), []byte(text), 0o600))
	return runFront(t, addr, "nginx", "-p", dir, "-c", "conf", "-e", "stderr")
}

func behindCaddy(t *testing.T, page string) front {
	t.Helper()
	dir, addr := t.TempDir(), freeAddress(t)
	_, port, _ := net.SplitHostPort(addr)
	cert, key := certificate(t, dir)
	text := example(t, "Caddy", publicName+" {", "127.0.0.1:8787", "https://"+publicName+":"+port+" {\ntls "+cert+" "+key,
		strings.TrimPrefix(page, "http://"))
	text = "{\nadmin off\nauto_https disable_redirects\ndefault_bind 127.0.0.1\n}\n" + text
	check.Must(t, os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(text), 0o600))
	return runFront(t, addr, "caddy", "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "Caddyfile"))
}

// certificate writes one for the public name into a folder.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.Must(t, err)
	what := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{publicName},
		NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, what, what, private.Public(), private)
	check.Must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	check.Must(t, err)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	check.Must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check.Must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return cert, key
}

// front is a reverse proxy before the page.
type front struct {
	at string // its address, under its name
	hc *http.Client
}

func TestThePageIsServedBehindAReverseProxy(t *testing.T) {
	for name, serve := range map[string]func(t *testing.T, page string) front{
		"Go": behindGo, "nginx": behindNginx,
		"caddy": behindCaddy,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil && name != "Go" {
				t.Skip("it is not installed: make deploy runs this")
			}
			r, _, _ := startPeople(t)
			r.checkBehind(t, serve(t, r.server.URL()))
		})
	}
}

func (r *rig) checkBehind(t *testing.T, f front) {
	t.Helper()
	at, hc := f.at, f.hc
	ask := func(method, path, body string, headers ...string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(body))
		check.Must(t, err)
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		res, err := hc.Do(req)
		check.Must(t, err)
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		check.Must(t, err)
		return res.StatusCode, string(data)
	}
	for _, tc := range []struct{ hosts, proxies, says string }{
		{"", "127.0.0.1", "does not answer to the name"},
		{"other.example.org", "127.0.0.1", "does not answer to the name"},
		{"clank.example.org", "", "add 127.0.0.1 under Dashboard"},
		{"clank.example.org", "10.0.0.0/8", "add 127.0.0.1 under Dashboard"},
		{"clank.example.org", "127.0.0.0/8", ""},
		{"Clank.Example.ORG x.example.org", "10.0.0.1 127.0.0.1", ""},
	} {
		r.set(tc.hosts, tc.proxies)
		status, body := ask("GET", "/api/health", "")
		if want := map[bool]int{true: 200, false: 421}[tc.says == ""]; status != want || !strings.Contains(body, tc.says) {
			t.Errorf("hosts %q, proxies %q: %d %s", tc.hosts, tc.proxies, status, body)
		}
	}
	if _, body := ask("POST", "/api/login/discord/begin", "{}", "Origin", at); !strings.Contains(body, "redirect_uri="+at+
		"/login") {
		t.Errorf("Discord leads back elsewhere: %s", body)
	}
	status, body := ask("POST", "/api/login", `{"token":"`+r.token+`"}`, "Origin", at, "X-Forwarded-For", "203.0.113.9")
	if status != http.StatusOK {
		t.Fatalf("sign in: %d %s", status, body)
	}
	key := "Bearer " + decode[map[string]string](t, body)["key"]
	if _, list := ask("GET", "/api/sign-ins", "", "Authorization", key); !strings.Contains(list, `"from":"127.0.0.1"`) {
		t.Errorf("signed in from elsewhere: %s", list)
	}
	stream, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/api/events", nil)
	check.Must(t, err)
	stream.Header.Set("Authorization", key)
	res, err := hc.Do(stream)
	check.Must(t, err)
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); !strings.HasPrefix(lines.Text(), "data: "); { // which comes at once
		if !lines.Scan() {
			t.Fatalf("the stream has ended: %v", lines.Err())
		}
	}
	for name, tc := range map[string]struct {
		method, path string
		headers      []string
		want         int
	}{
		"our page": {"POST", "/api/stop", []string{"Origin", at, "Sec-Fetch-Site", "same-origin"}, 200},
		"another site": {"POST", "/api/stop", []string{
			"Origin", "https://evil.example", "Sec-Fetch-Site",
			"cross-site",
		}, 403},
		"another name of the site": {"POST", "/api/stop", []string{"Origin", "https://www.example.org"}, 403},
		"a page without a key":     {"GET", "/api/tasks", []string{"Authorization", ""}, 401},
	} {
		if got, body := ask(tc.method, tc.path, "{}",
			append([]string{"Authorization", key}, tc.headers...)...); got != tc.want {
			t.Errorf("%s: %d %s", name, got, body)
		}
	}
	for name, edit := range map[string]change{
		"no https": func(q *http.Request) { q.Host = "clank.example.org" },
		"http, says the proxy": func(q *http.Request) {
			q.Host = "clank.example.org"
			q.Header.Set("X-Forwarded-Proto", "http")
		},
	} {
		if got, body := r.ask("GET", "/api/health", "", edit); got != http.StatusMisdirectedRequest ||
			!strings.Contains(body, "use https") {
			t.Errorf("%s: %d %s", name, got, body)
		}
	}
}

func TestWhoGuessesWaitsAndTheOwnerDoesNot(t *testing.T) {
	r := start(t)
	r.set("clank.example.org", "127.0.0.1")
	from := func(addr, body string) (int, string) {
		return r.ask("POST", "/api/login", body, header("Authorization", ""), func(q *http.Request) {
			q.Host = "clank.example.org"
			q.Header.Set("X-Forwarded-Proto", "https")
			q.Header.Set("X-Forwarded-For", addr)
		})
	}
	wrong, right := `{"token":"x"}`, `{"token":"`+r.token+`"}`
	for i := range 10 {
		if got, body := from(fmt.Sprintf("2001:db8::%x", i+1), wrong); got != http.StatusUnauthorized {
			t.Fatalf("attempt %d: %d %s", i+1, got, body)
		}
	}
	for _, body := range []string{wrong, right} {
		got, text := from("2001:db8::ffff", body)
		if got != http.StatusTooManyRequests || !strings.Contains(text, "try again in 10 minutes") {
			t.Errorf("after ten: %d %s", got, text)
		}
	}
	if got, body := from("192.0.2.1", right); got != http.StatusOK {
		t.Errorf("from elsewhere: %d %s", got, body)
	}
	for range 12 {
		r.ask("POST", "/api/login", wrong, header("Authorization", ""))
	}
	if got, body := r.ask("POST", "/api/login", right, header("Authorization", "")); got != http.StatusOK {
		t.Errorf("on this machine: %d %s", got, body)
	}
}
