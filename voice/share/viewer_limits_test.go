package share_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/rtctest"
	"clank/voice/share"
	"clank/voice/webrtc"
)

// raw sends a request as it stands and returns status and body.
func raw(t *testing.T, base, method, path, body string, header map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func TestOffersAreBoundedAndWhoWatchesIsNotDisturbed(t *testing.T) {
	engine := rtctest.OpenEngine(t, &webrtc.Engine{ConnectTimeout: time.Minute})
	r := start(t, engine)
	watching := r.dial(t, token)
	if _, err := receive(t, watching); err != nil {
		t.Fatal(err)
	}
	_, offer := rtctest.NewPage(t, rtctest.PageOptions{NoMicrophone: true})
	var given, refused atomic.Int32
	var work sync.WaitGroup
	began := time.Now()
	for range 200 {
		work.Go(func() {
			switch status, answer := r.post(t, "/watch", share.WatchRequest{Token: token, SDP: offer}); {
			case status == http.StatusOK:
				given.Add(1)
			case status == http.StatusTooManyRequests && strings.Contains(answer["error"].(string), "try again"):
				refused.Add(1)
			default:
				t.Errorf("%d %v", status, answer)
			}
		})
	}
	work.Wait()
	// On a machine so slow that some have failed meanwhile, others may have taken their places.
	if n, took := given.Load(), time.Since(began); took < 5*time.Second && n != share.MaxOffers || refused.Load() == 0 {
		t.Errorf("%d offers were taken and %d refused in %v, want %d taken", n, refused.Load(), took, share.MaxOffers)
	}
	if got := r.Count(); got != 1 {
		t.Errorf("%d watch, want the one who does", got)
	}
	r.screen.Show(rtctest.Blue())
	send(t, watching, `{"got":true}`)
	if _, err := receive(t, watching); err != nil {
		t.Errorf("who watches sees nothing more: %v", err)
	}
	if _, err := receive(t, r.dial(t, token)); err != nil {
		t.Errorf("who comes over a WebSocket sees nothing: %v", err)
	}
}

func TestOffersOfOneShareHaveAPace(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)))
	r.Links.(*links).share["another"] = share.ViewerShare{ID: "s2", Watch: r.screen.Watch}
	began, bad := time.Now(), 0
	for ; bad < 200; bad++ {
		status, answer := r.post(t, "/watch", share.WatchRequest{Token: token, SDP: "x"})
		if status == http.StatusTooManyRequests {
			break
		}
		if status != http.StatusBadRequest {
			t.Fatalf("%d %v", status, answer)
		}
	}
	if most := 20 + int(time.Since(began)/(500*time.Millisecond)) + 1; bad < 20 || bad > most {
		t.Errorf("%d bad offers were looked at, want 20 to %d", bad, most)
	}
	if status, answer := r.post(t, "/watch", share.WatchRequest{Token: "another", SDP: "x"}); status != http.StatusBadRequest {
		t.Errorf("another share: %d %v", status, answer)
	}
	if status, answer := r.post(t, "/check", share.WatchRequest{Token: token}); status != http.StatusOK {
		t.Errorf("check: %d %v", status, answer)
	}
	browsertest.Eventually(t, "offers are taken again", func() bool {
		status, _ := r.post(t, "/watch", share.WatchRequest{Token: token, SDP: "x"})
		return status == http.StatusBadRequest
	})
}

func TestWhoSendsNothingKeepsNobodyWaiting(t *testing.T) {
	r := start(t, nil)
	at, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan string, 70)
	for range cap(answers) { // who announce a request, and do not send it
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /watch/check HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		go func() {
			if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				body, _ := io.ReadAll(res.Body)
				res.Body.Close()
				answers <- res.Status + string(body)
			}
		}()
	}
	for range 6 { // as many as are too many
		if got := rtctest.Next(t, answers); !strings.HasPrefix(got, "503") || !strings.Contains(got, "too many ask") {
			t.Errorf("who sends nothing is told %q", got)
		}
	}
	if status, answer := r.post(t, "/check", share.WatchRequest{Token: token}); status != http.StatusOK {
		t.Errorf("who has a link is told %d %v", status, answer)
	}
}

func TestOddRequestsAreRefusedWithAReason(t *testing.T) {
	r := start(t, rtctest.OpenEngine(t, new(webrtc.Engine)))
	good := `{"token":"` + token + `"}`
	for _, c := range []struct {
		name, method, path, body string
		want                     int
		says                     string
	}{
		{"GET of check", http.MethodGet, "/check?token=" + token, "", 405, ""},
		{"PUT of watch", http.MethodPut, "/watch", good, 405, ""},
		{"nothing", http.MethodPost, "/check", "", 400, "load the page again"},
		{"no JSON", http.MethodPost, "/check", "token=" + token, 400, "load the page again"},
		{"a list", http.MethodPost, "/watch", "[" + good + "]", 400, "load the page again"},
		{"a token that is no text", http.MethodPost, "/check", `{"token":7}`, 400, "load the page again"},
		{"too much", http.MethodPost, "/watch", `{"token":"` + token + `","sdp":"` + strings.Repeat("x", 2*webrtc.MaxOffer) + `"}`, 400, "load the page again"},
		{"too long an offer", http.MethodPost, "/watch", `{"token":"` + token + `","sdp":"` + strings.Repeat("x", webrtc.MaxOffer+1) + `"}`, 400, "offer"},
		{"no offer", http.MethodPost, "/watch", good, 400, "offer"},
		{"a socket that is none", http.MethodGet, "/socket", "", 426, ""},
	} {
		if status, got := raw(t, r.url, c.method, c.path, c.body, nil); status != c.want || !strings.Contains(got, c.says) {
			t.Errorf("%s: %d %s, want %d and %q", c.name, status, got, c.want, c.says)
		}
	}
	// A page elsewhere may send a request, but cannot read the answer, and has no secret to send.
	for name, header := range map[string]map[string]string{
		"another site": {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, "no origin": nil, "plain text": {"Content-Type": "text/plain"},
	} {
		if status, got := raw(t, r.url, http.MethodPost, "/check", `{"token":"guess"}`, header); status != http.StatusNotFound || strings.Contains(got, "title") {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	if got := r.Count(); got != 0 {
		t.Errorf("%d watch", got)
	}
}
