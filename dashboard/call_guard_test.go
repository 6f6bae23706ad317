package dashboard_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/rtctest"
	"clank/voice/webrtc"
)

func TestTheCallIsNotForOtherSites(t *testing.T) {
	r := startCalls(t)
	own := r.server.URL()
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
	good, err := json.Marshal(webrtc.JoinRequest{SDP: offer})
	if err != nil {
		t.Fatal(err)
	}
	host := func(name string) change { return func(q *http.Request) { q.Host = name } }
	for _, path := range []string{"/api/call/join", "/api/call/stop"} {
		for _, c := range []struct {
			name, method string
			body         string
			change       []change
			want         int
			says         string
		}{
			{"another site", "POST", string(good), []change{header("Origin", "https://evil.example"), header("Sec-Fetch-Site", "cross-site")}, 403, "another site"},
			{"another site, in an old browser", "POST", string(good), []change{header("Origin", "https://evil.example")}, 403, "another site"},
			{"another site that says it is ours", "POST", string(good), []change{header("Origin", own), header("Sec-Fetch-Site", "cross-site")}, 403, "another site"},
			{"another port", "POST", string(good), []change{header("Origin", "http://127.0.0.1:1")}, 403, "another site"},
			{"a subdomain", "POST", string(good), []change{header("Sec-Fetch-Site", "same-site")}, 403, "another site"},
			{"a sandboxed frame", "POST", string(good), []change{header("Origin", "null")}, 403, "another site"},
			{"an origin of garbage", "POST", string(good), []change{header("Origin", "http://%zz")}, 403, "another site"},
			{"an address typed in", "POST", string(good), []change{header("Sec-Fetch-Site", "none")}, 403, "another site"},
			{"a name that leads here", "POST", string(good), []change{host("evil.example:8787"), header("Origin", "http://evil.example:8787")}, 421, "does not answer to the name"},
			{"a name that begins as ours", "POST", string(good), []change{host("127.0.0.1.evil.example")}, 421, "does not answer to the name"},
			{"a form", "POST", string(good), []change{header("Content-Type", "application/x-www-form-urlencoded")}, 415, "application/json"},
			{"files", "POST", string(good), []change{header("Content-Type", "multipart/form-data; boundary=x")}, 415, "application/json"},
			{"plain text", "POST", string(good), []change{header("Content-Type", "text/plain;application/json")}, 415, "application/json"},
			{"no type", "POST", string(good), []change{header("Content-Type", "")}, 415, "application/json"},
			{"a stranger", "POST", string(good), []change{header("Authorization", "")}, 401, ""},
			{"GET", "GET", "", nil, 405, "does not take GET"},
			{"PUT", "PUT", string(good), nil, 405, "does not take PUT"},
			{"nothing", "POST", "", nil, 400, "not understood"},
			{"no JSON", "POST", "sdp=" + offer, nil, 400, "not understood"},
			{"too much", "POST", `{"sdp":"` + strings.Repeat("x", 2*webrtc.MaxOffer) + `"}`, nil, 400, "not understood"},
			{"far too much", "POST", `{"sdp":"` + strings.Repeat("x", 2<<20) + `"}`, nil, 400, "not understood"},
		} {
			res := r.do(c.method, path, c.body, c.change...)
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != c.want || !strings.Contains(string(body), c.says) {
				t.Errorf("%s of %s: %d %s, want %d and %q", path, c.name, res.StatusCode, body, c.want, c.says)
			}
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("%s of %s may be read by %s", path, c.name, got)
			}
		}
	}
	if got := r.host.Engine.Count(); got != 0 {
		t.Errorf("%d connections were made for others", got)
	}
	for name, from := range map[string][]change{"our page": {header("Origin", own), header("Sec-Fetch-Site", "same-origin")}, "a program": nil} {
		if status, body := r.ask("POST", "/api/call/join", string(good), from...); status != http.StatusOK {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// TestTheCallIsAskedForByName sends what no client would.
func TestTheCallIsAskedForByName(t *testing.T) {
	r := startCalls(t)
	addr := strings.TrimPrefix(r.server.URL(), "http://")
	for head, want := range map[string]int{
		"GET /api/call/ HTTP/1.1\r\nHost: " + addr:                                                   200,
		"GET /api/call/ HTTP/1.1":                                                                    400,
		"GET /api/call/ HTTP/1.0":                                                                    421,
		"GET /api/call/ HTTP/1.1\r\nHost: evil.example":                                              421,
		"GET http://evil.example/api/call/ HTTP/1.1\r\nHost: " + addr:                                421,
		"GET /api/call/ HTTP/1.1\r\nHost: " + addr + "\r\nHost: evil.example":                        400,
		"GET /api/call/ HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: " + addr:                 421,
		"GET /api/call/../call/join HTTP/1.1\r\nHost: " + addr:                                       307,
		"GET /api/call/pictures/..%2f..%2fsettings HTTP/1.1\r\nHost: " + addr:                        404,
		"POST /api/call/join HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://" + addr:               421,
		"GET /api/call/ HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nHost: evil.example": 421,
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, head+"\r\nAuthorization: Bearer "+r.token+"\r\nContent-Length: 0\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		res.Body.Close()
		conn.Close()
		if res.StatusCode != want {
			t.Errorf("%q: %d, want %d", head, res.StatusCode, want)
		}
	}
}

func TestManyWhoJoinAtOnceAreToldThatItIsFull(t *testing.T) {
	r := startCalls(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections) // the server would wait for those that were opened in vain
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
	body, err := json.Marshal(webrtc.JoinRequest{SDP: offer})
	if err != nil {
		t.Fatal(err)
	}
	var in, full atomic.Int32
	var work sync.WaitGroup
	began := time.Now()
	for range 200 {
		work.Go(func() {
			switch status, told := r.ask("POST", "/api/call/join", string(body)); {
			case status == http.StatusOK:
				in.Add(1)
			case status == http.StatusTooManyRequests && strings.Contains(told, "8 pages"):
				full.Add(1)
			default:
				t.Errorf("%d %s", status, told)
			}
		})
	}
	work.Wait()
	// On a machine so slow that some have failed meanwhile, others may have taken their places.
	if n, took := in.Load(), time.Since(began); took < 5*time.Second && n != webrtc.MaxPages || full.Load() == 0 {
		t.Errorf("%d joined and %d were refused in %v, want %d in", n, full.Load(), took, webrtc.MaxPages)
	}
	for _, path := range []string{"/api/call/", "/api/sessions"} {
		if status, told := r.ask("GET", path, ""); status != http.StatusOK {
			t.Errorf("%s afterwards: %d %s", path, status, told)
		}
	}
	if r.host.Current() != nil {
		t.Error("a call has begun that nobody is in")
	}
}
